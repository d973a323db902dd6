//! `GET /api/v2.2/nft/{address}/lowestprice`: the cheapest sale of the last days that was paid in the
//! native coin or in the token that stands for it.

use alloy_primitives::Address;
use axum::extract::State;
use axum::response::Response;
use model::chain::Operation;
use model::facts::Market;
use store::{LowestTradeQuery, StoredTrade};

use super::asked::Asked;
use super::chain_view::ChainView;
use super::response::{self, DataResponse};
use super::trade_row::{Shape, TradeRow};
use crate::app::App;
use crate::clock::DAY_S;
use crate::error::ApiError;
use crate::hosts::{Key, RATE_LIMIT_COST, Refusal};
use crate::params::{self, BlockRange};
use crate::profile::Profile;
use crate::request_key::RequestKey;
use crate::response_cache::Validity;
use crate::served_chain::ServedChain;

/// Compute units of one answer.
const UNITS: u32 = 40;

pub async fn get_nft_lowest_price(
    State(app): State<App>,
    key: Key,
    asked: Asked,
) -> Result<Response, Refusal> {
    let (served, params, profile) = key.admit(read(&app, &asked), RATE_LIMIT_COST)?;
    Ok(response::finish(respond(&app, served, &params, profile).await, served, UNITS))
}

fn read<'a>(
    app: &'a App,
    asked: &Asked,
) -> Result<(&'a ServedChain, LowestPriceParams, Profile), ApiError> {
    let (query, profile) = (asked.query()?, asked.profile(app)?);
    let served = app.served_for(Operation::NftLowestPrice, query.get("chain"))?;
    let params = LowestPriceParams {
        contract: params::address("address", asked.address()?)?,
        market: params::marketplace(query)?,
        days: params::days(query)?,
    };
    Ok((served, params, profile))
}

/// All of a request but its chain and profile.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct LowestPriceParams {
    contract: Address,
    market: Option<Market>,
    days: u32,
}

async fn respond(
    app: &App,
    served: &ServedChain,
    params: &LowestPriceParams,
    profile: Profile,
) -> Result<DataResponse, ApiError> {
    let chain = served.chain.id;
    let key = RequestKey::new(Operation::NftLowestPrice, chain, profile, params);
    if let Some(known) = app.cached(&key, chain).await? {
        return Ok(known);
    }
    let ChainView { view, version, coverage } =
        ChainView::open(&app.parts.store, &served.chain).await?;
    // Counted back from what is known, not from now: a server that lags, or that holds old blocks
    // only, still has last days.
    let newest = view.head(chain).await?.map_or(0, |head| head.timestamp);
    let window = BlockRange::since(newest.saturating_sub(u64::from(params.days) * DAY_S));
    let window = window.resolve(&view, chain, &coverage).await?;
    let LowestPriceParams { contract, market, days } = *params;
    let q = LowestTradeQuery { chain, contract, market, from_block: window.blocks.0 };
    let response = match view.lowest_trade(&q).await? {
        Some(StoredTrade { trade, tx, .. }) => {
            let verified = app.parts.verified.contains(chain, contract);
            let mut body = Vec::with_capacity(1024);
            let row = TradeRow { trade: &trade, tx: &tx, verified };
            row.write(Shape::Lowest, profile, &mut body);
            DataResponse::ok(body, coverage, window.reach)
        }
        None => {
            let refusal = no_trade(days, &served.chain.native.symbol);
            DataResponse::refused(&refusal, coverage, window.reach)
        }
    };
    app.responses.insert(key, Validity::at(version), response.clone());
    Ok(response)
}

fn no_trade(days: u32, coin: &str) -> ApiError {
    let days = if days == 1 { "day".to_owned() } else { format!("{days} days") };
    ApiError::NotFound(format!("no trade paid in {coin} was found in the last {days}"))
}
