//! `GET /api/v2.2/nft/{address}/trades`: sales of an NFT contract's tokens, newest first.
//!
//! `nft_metadata` is taken and changes nothing: tokens' metadata lives outside of the chain.

use alloy_primitives::{Address, U256};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use model::chain::Operation;
use model::facts::Market;
use store::{Coverage, TradesPage, TradesQuery, View};

use super::coverage::RestsOn;
use super::paging::Paging;
use super::row;
use super::trade_row::{Shape, SoldIn, TradeRow};
use crate::app::{App, ServedChain};
use crate::cursor::{Position, QuestionDigest};
use crate::error::ApiError;
use crate::hosts::Key;
use crate::params::{self, BlockRange, Blocks, Path, Query};
use crate::wire::Profile;

/// Compute units of one answer.
const UNITS: u32 = 40;

pub async fn get_nft_trades(
    State(app): State<App>,
    Path(address): Path<String>,
    key: Key,
    headers: HeaderMap,
    query: Query,
) -> Result<Response, ApiError> {
    let served = params::chain(&app, Operation::NftTrades, query.get("chain"))?;
    let contract = params::address("address", &address)?;
    let market = params::marketplace(&query)?;
    key.owner.throttle.take(UNITS)?;
    let profile = Profile::choose(&headers, app.parts.config.wire_profile);
    let view = &app.parts.store.view().await?;
    let coverage = &view.coverage(served.chain.id).await?;
    let asking = Asking { app: &app, served, view, coverage, contract, market, profile };
    let (question, paging, reach) = asking.read(&query).await?;
    let body = asking.answer(&question, &paging).await?;
    let mut response = ([(header::CONTENT_TYPE, "application/json")], body).into_response();
    let rests_on = RestsOn { served, coverage, asked: reach };
    rests_on.describe(response.headers_mut(), UNITS);
    Ok(response)
}

/// One answer in the making: everything in it is seen in one view of the store.
struct Asking<'a> {
    app: &'a App,
    served: &'a ServedChain,
    view: &'a View,
    coverage: &'a Coverage,
    contract: Address,
    market: Option<Market>,
    profile: Profile,
}

impl Asking<'_> {
    /// The question, its page, and the blocks it could be about, stored or not.
    async fn read(&self, query: &Query) -> Result<(TradesQuery, Paging, Blocks), ApiError> {
        let chain = self.served.chain.id;
        let range = BlockRange::read(query)?;
        let digest = QuestionDigest::builder()
            .field("operation", "getNFTTrades")
            .number("chain", chain.0)
            .field("address", self.contract)
            .field("marketplace", self.market.map_or("", Market::name));
        let paging = Paging::read(self.app, query, range.describe(digest).finish())?;
        let resolved = range.resolve(self.view, chain, self.coverage).await?;
        let question = TradesQuery {
            chain,
            contract: self.contract,
            market: self.market,
            from_block: resolved.blocks.0,
            to_block: resolved.blocks.1,
            after: paging.after.map(|position| (position.block, position.index)),
            limit: paging.limit as usize,
        };
        Ok((question, paging, resolved.reach))
    }

    async fn answer(&self, question: &TradesQuery, paging: &Paging) -> Result<Vec<u8>, ApiError> {
        let page = self.view.trades_page(question).await?;
        let mut body = Vec::with_capacity(256 + page.trades.len() * 768);
        self.begin_envelope(&page, paging, &mut body);
        self.write_rows(&page, &mut body).await?;
        body.extend_from_slice(b"]}");
        Ok(body)
    }

    fn begin_envelope(&self, page: &TradesPage, paging: &Paging, out: &mut Vec<u8>) {
        let last = page.trades.last().filter(|_| page.more);
        let position =
            last.map(|((block, index), _)| Position { block: *block, index: *index, sub: 0 });
        let next = position.map(|position| paging.next(self.app, position));
        let mut envelope = row::Row::begin(out, self.profile);
        match self.profile {
            Profile::Spec => {
                envelope.digits("page", U256::from(paging.page));
                envelope.digits("page_size", U256::from(paging.limit));
                envelope.text("cursor", Some(next.as_deref().unwrap_or_default()));
            }
            Profile::Live => {
                envelope.integer("page", u64::from(paging.page));
                envelope.integer("page_size", u64::from(paging.limit));
                envelope.text("cursor", next.as_deref());
            }
        }
        envelope.name("result").push(b'[');
    }

    async fn write_rows(&self, page: &TradesPage, out: &mut Vec<u8>) -> Result<(), ApiError> {
        let chain = self.served.chain.id;
        let verified = self.app.parts.verified.contains(chain, self.contract);
        let mut known: Option<SoldIn> = None;
        for (i, (place, trade)) in page.trades.iter().enumerate() {
            let sold_in = match known.take().filter(|known| known.is_of(*place, trade)) {
                Some(sold_in) => sold_in,
                None => SoldIn::read(self.view, chain, *place, trade).await?,
            };
            if i > 0 {
                out.push(b',');
            }
            let row = TradeRow { trade, sold_in: &sold_in, verified };
            row.write(Shape::Listed, self.profile, out);
            known = Some(sold_in);
        }
        Ok(())
    }
}
