//! `GET /api/v2.2/nft/{address}/trades`: sales of an NFT contract's tokens, newest first.
//!
//! `nft_metadata` is taken and changes nothing: tokens' metadata lives outside of the chain.

use alloy_primitives::{Address, U256};
use axum::extract::State;
use axum::response::Response;
use model::chain::{ChainId, Operation};
use model::facts::Market;
use store::{StoredTrade, TradesPage, TradesQuery};

use super::asked::Asked;
use super::carried::{Carried, settle};
use super::chain_view::ChainView;
use super::paging::Paging;
use super::response::{self, DataResponse};
use super::row::Row;
use super::trade_row::{Shape, TradeRow};
use crate::app::App;
use crate::cursor::{PageQuestion, Position, Rows};
use crate::error::ApiError;
use crate::hosts::{Key, RATE_LIMIT_COST, Refusal};
use crate::params::{self, BlockRange, Blocks, Query};
use crate::profile::Profile;
use crate::request_key::RequestKey;
use crate::response_cache::Validity;
use crate::served_chain::ServedChain;

/// Compute units of one answer.
const UNITS: u32 = 40;

pub async fn get_nft_trades(
    State(app): State<App>,
    key: Key,
    asked: Asked,
) -> Result<Response, Refusal> {
    let request = key.admit(TradesRequest::read(&app, &asked), RATE_LIMIT_COST)?;
    Ok(response::finish(request.respond().await, request.served, UNITS))
}

/// All of a request but its chain, page and profile.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct TradesParams {
    contract: Address,
    market: Option<Market>,
    range: BlockRange,
}

impl TradesParams {
    fn read(address: &str, query: &Query, carried: &Carried) -> Result<Self, ApiError> {
        let rows = carried.rows(|rows| match rows {
            Rows::NftTrades { market } => Some(market),
            Rows::WalletTransactions { .. } => None,
        })?;
        let markets = [params::marketplace(query)?.map(Some), rows];
        Ok(TradesParams {
            contract: carried.address(params::address("address", address)?, address)?,
            market: settle(query, "marketplace", markets, None)?,
            range: carried.range(query)?,
        })
    }

    /// What a cursor of this request carries.
    fn question(&self, chain: ChainId) -> PageQuestion {
        let TradesParams { contract: address, market, range } = *self;
        PageQuestion { chain, address, range, rows: Rows::NftTrades { market } }
    }
}

struct TradesRequest<'a> {
    app: &'a App,
    served: &'a ServedChain,
    params: TradesParams,
    paging: Paging,
    profile: Profile,
}

impl<'a> TradesRequest<'a> {
    fn read(app: &'a App, asked: &Asked) -> Result<Self, ApiError> {
        let (query, profile) = (asked.query()?, asked.profile(app)?);
        let carried = Carried::read(app, query)?;
        let served = carried.served(app, Operation::NftTrades, query)?;
        let params = TradesParams::read(asked.address()?, query, &carried)?;
        let paging = Paging::read(app, query, &carried, params.question(served.chain.id))?;
        Ok(TradesRequest { app, served, params, paging, profile })
    }

    /// Everything in a response is seen in one view of the store.
    async fn respond(&self) -> Result<DataResponse, ApiError> {
        let (app, chain) = (self.app, self.served.chain.id);
        let asked = (&self.params, &self.paging.page);
        let key = RequestKey::new(Operation::NftTrades, chain, self.profile, &asked);
        if let Some(known) = app.cached(&key, chain).await? {
            return Ok(known);
        }
        let ChainView { view, version, coverage } =
            ChainView::open(&app.parts.store, &self.served.chain).await?;
        let resolved = self.params.range.resolve(&view, chain, &coverage).await?;
        let page = view.trades_page(&self.query(resolved.blocks)).await?;
        let body = self.write(&page);
        let response = DataResponse::ok(body, coverage, resolved.reach);
        app.responses.insert(key, Validity::at(version), response.clone());
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

    fn write(&self, page: &TradesPage) -> Vec<u8> {
        let mut body = Vec::with_capacity(256 + page.trades.len() * 768);
        let last = page.trades.last().filter(|_| page.more);
        let position =
            last.map(|found| Position { block: found.place.0, index: found.place.1, sub: 0 });
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
        self.write_rows(page, &mut body);
        body.extend_from_slice(b"]}");
        body
    }

    fn write_rows(&self, page: &TradesPage, out: &mut Vec<u8>) {
        let verified = self.app.parts.verified.contains(self.served.chain.id, self.params.contract);
        for (i, StoredTrade { trade, tx, .. }) in page.trades.iter().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            TradeRow { trade, tx, verified }.write(Shape::Listed, self.profile, out);
        }
    }
}
