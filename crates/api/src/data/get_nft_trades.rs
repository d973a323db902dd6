//! `GET /api/v2.2/nft/{address}/trades`: sales of an NFT contract's tokens, newest first.
//!
//! `nft_metadata` is taken and changes nothing: tokens' metadata lives outside of the chain.

use std::sync::Arc;

use alloy_primitives::{Address, U256};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use model::chain::{ChainId, Operation};
use model::facts::Market;
use store::{Place, TradesPage, TradesQuery, View};

use super::paging::Paging;
use super::response::DataResponse;
use super::row::Row;
use super::trade_row::{Shape, TradeRow};
use crate::app::App;
use crate::cursor::{Position, QuestionDigest};
use crate::error::ApiError;
use crate::hosts::Key;
use crate::params::{self, BlockRange, Blocks, Path, Query};
use crate::profile::Profile;
use crate::request_key::RequestKey;
use crate::response_cache::Validity;
use crate::served_chain::ServedChain;

/// Compute units of one answer.
const UNITS: u32 = 40;

pub async fn get_nft_trades(
    State(app): State<App>,
    Path(address): Path<String>,
    key: Key,
    headers: HeaderMap,
    query: Query,
) -> Result<Response, ApiError> {
    let served = app.served_for(Operation::NftTrades, query.get("chain"))?;
    let params = TradesParams::read(&address, &query)?;
    key.owner.throttle.take(UNITS)?;
    let profile = Profile::choose(&headers, app.parts.config.wire_profile);
    let paging = Paging::read(&app, &query, params.digest(served.chain.id))?;
    let request = TradesRequest { app: &app, served, params, paging, profile };
    Ok(request.respond().await?.send(served, UNITS))
}

/// All of a request but its chain, page and profile.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct TradesParams {
    contract: Address,
    market: Option<Market>,
    range: BlockRange,
}

impl TradesParams {
    fn read(address: &str, query: &Query) -> Result<Self, ApiError> {
        Ok(TradesParams {
            contract: params::address("address", address)?,
            market: params::marketplace(query)?,
            range: BlockRange::read(query)?,
        })
    }

    /// What a cursor of this request belongs to.
    fn digest(&self, chain: ChainId) -> QuestionDigest {
        let digest = QuestionDigest::builder()
            .field("operation", "getNFTTrades")
            .number("chain", chain.0)
            .field("address", self.contract)
            .field("marketplace", self.market.map_or("", Market::name));
        self.range.describe(digest).finish()
    }
}

struct TradesRequest<'a> {
    app: &'a App,
    served: &'a ServedChain,
    params: TradesParams,
    paging: Paging,
    profile: Profile,
}

impl TradesRequest<'_> {
    /// Everything in a response is seen in one view of the store.
    async fn respond(&self) -> Result<DataResponse, ApiError> {
        let (store, cache, chain) =
            (&self.app.parts.store, &self.app.responses, self.served.chain.id);
        let asked = (&self.params, &self.paging.page);
        let key = RequestKey::new(Operation::NftTrades, chain, self.profile, &asked);
        if let Some(known) = cache.get(&key, store.version(chain).await?) {
            return Ok(known);
        }
        let view = store.view().await?;
        let version = view.version(chain).await?;
        let coverage = Arc::new(view.coverage(chain).await?);
        let resolved = self.params.range.resolve(&view, chain, &coverage).await?;
        let page = view.trades_page(&self.query(resolved.blocks)).await?;
        let body = self.write(&view, &page).await?;
        let response = DataResponse::ok(body, coverage, resolved.reach);
        cache.insert(key, Validity::at(version), response.clone());
        Ok(response)
    }

    fn query(&self, (from_block, to_block): Blocks) -> TradesQuery {
        let page = &self.paging.page;
        TradesQuery {
            chain: self.served.chain.id,
            contract: self.params.contract,
            market: self.params.market,
            from_block,
            to_block,
            after: page.after.map(|position| (position.block, position.index)),
            limit: page.limit as usize,
        }
    }

    async fn write(&self, view: &View, page: &TradesPage) -> Result<Vec<u8>, ApiError> {
        let mut body = Vec::with_capacity(256 + page.trades.len() * 768);
        let last = page.trades.last().filter(|_| page.more);
        let position =
            last.map(|((block, index), _)| Position { block: *block, index: *index, sub: 0 });
        let next = position.map(|position| self.paging.next(self.app, position));
        let (number, limit) = (self.paging.page.number, self.paging.page.limit);
        let mut envelope = Row::begin(&mut body, self.profile);
        match self.profile {
            Profile::Spec => {
                envelope.digits("page", U256::from(number));
                envelope.digits("page_size", U256::from(limit));
                envelope.text("cursor", Some(next.as_deref().unwrap_or_default()));
            }
            Profile::Live => {
                envelope.integer("page", u64::from(number));
                envelope.integer("page_size", u64::from(limit));
                envelope.text("cursor", next.as_deref());
            }
        }
        envelope.name("result").push(b'[');
        self.write_rows(view, page, &mut body).await?;
        body.extend_from_slice(b"]}");
        Ok(body)
    }

    async fn write_rows(
        &self,
        view: &View,
        page: &TradesPage,
        out: &mut Vec<u8>,
    ) -> Result<(), ApiError> {
        let chain = self.served.chain.id;
        let verified = self.app.parts.verified.contains(chain, self.params.contract);
        let places: Vec<Place> =
            page.trades.iter().map(|((block, _), trade)| (*block, trade.tx_index)).collect();
        let txs = view.transactions_at(chain, &places).await?;
        for (i, ((_, trade), tx)) in page.trades.iter().zip(&txs).enumerate() {
            if i > 0 {
                out.push(b',');
            }
            TradeRow { trade, tx, verified }.write(Shape::Listed, self.profile, out);
        }
        Ok(())
    }
}
