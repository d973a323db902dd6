//! `GET /api/v2.2/nft/{address}/lowestprice`: the cheapest sale of the last days that was paid in the
//! native coin or in the token that stands for it.

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use model::chain::Operation;
use store::LowestTradeQuery;

use super::coverage::RestsOn;
use super::trade_row::{Shape, SoldIn, TradeRow};
use crate::app::App;
use crate::clock::DAY_S;
use crate::error::ApiError;
use crate::hosts::Key;
use crate::params::{self, BlockRange, Path, Query};
use crate::wire::Profile;

/// Compute units of one answer.
const UNITS: u32 = 40;

pub async fn get_nft_lowest_price(
    State(app): State<App>,
    Path(address): Path<String>,
    key: Key,
    headers: HeaderMap,
    query: Query,
) -> Result<Response, ApiError> {
    let served = params::chain(&app, Operation::NftLowestPrice, query.get("chain"))?;
    let contract = params::address("address", &address)?;
    let market = params::marketplace(&query)?;
    let days = params::days(&query)?;
    key.owner.throttle.take(UNITS)?;
    let profile = Profile::choose(&headers, app.parts.config.wire_profile);
    let (view, chain) = (&app.parts.store.view().await?, served.chain.id);
    let coverage = &view.coverage(chain).await?;
    // Counted back from what is known, not from now: a server that lags, or that holds old blocks
    // only, still has last days.
    let newest = view.head(chain).await?.map_or(0, |head| head.timestamp);
    let window = BlockRange::since(newest.saturating_sub(u64::from(days) * DAY_S));
    let window = window.resolve(view, chain, coverage).await?;
    let q = LowestTradeQuery { chain, contract, market, from_block: window.blocks.0 };
    let mut response = match view.lowest_trade(&q).await? {
        Some((place, trade)) => {
            let sold_in = SoldIn::read(view, chain, place, &trade).await?;
            let verified = app.parts.verified.contains(chain, contract);
            let mut body = Vec::with_capacity(1024);
            let row = TradeRow { trade: &trade, sold_in: &sold_in, verified };
            row.write(Shape::Lowest, profile, &mut body);
            ([(header::CONTENT_TYPE, "application/json")], body).into_response()
        }
        // Refused like other things that are not there, but it rests on blocks as an answer does.
        None => none(days, &served.chain.native.symbol).into_response(),
    };
    let rests_on = RestsOn { served, coverage, asked: window.reach };
    rests_on.describe(response.headers_mut(), UNITS);
    Ok(response)
}

fn none(days: u32, coin: &str) -> ApiError {
    let days = if days == 1 { "day".to_owned() } else { format!("{days} days") };
    ApiError::NotFound(format!("no trade paid in {coin} was found in the last {days}"))
}
