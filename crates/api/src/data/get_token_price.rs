//! `GET /api/v2.2/erc20/{address}/price`: what a token was worth after a block, in native coins and in
//! US dollars, by the pools of exchanges.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use model::chain::Operation;
use model::price::{self, NoPrice, PoolAt, Price, PricingTable, Question, Ratio, Settings};
use store::{Coverage, Version, View};

use super::coverage::RestsOn;
use super::price::asked::{Asked, PriceWords, Wanted};
use super::price::at_node::{AskNode, Where};
use super::price::gather::{self, Gather};
use super::price::minute_of_blocks;
use super::price::write::PriceRecord;
use crate::app::{App, ServedChain};
use crate::clock::DAY_S;
use crate::contracts::Trouble;
use crate::error::ApiError;
use crate::hosts::Key;
use crate::params::{self, Path, Query};
use crate::repeats::Said;
use crate::tokens::{Shown, Unknown};
use crate::wire::Profile;

/// Compute units of one answer, and what the change since yesterday adds.
const UNITS: u32 = 50;
const UNITS_CHANGE: u32 = 5;
/// As the live service says it: clients look for it.
const NO_POOLS: &str = "No pools found with enough liquidity, to calculate the price";
const NO_NATIVE: &str = "Could not determine native-usd price";

pub async fn get_token_price(
    State(app): State<App>,
    Path(address): Path<String>,
    key: Key,
    headers: HeaderMap,
    query: Query,
) -> Result<Response, ApiError> {
    let served = params::chain(&app, Operation::TokenPrice, query.get("chain"))?;
    let wanted = Wanted::read(&app, served, &address, &query)?;
    let units = UNITS + if wanted.percent_change { UNITS_CHANGE } else { 0 };
    key.owner.throttle.take(units)?;
    let profile = Profile::choose(&headers, app.parts.config.wire_profile);
    let said = say(&app, served, PriceWords { chain: served.chain.id, wanted, profile }).await?;
    let mut response = ([(header::CONTENT_TYPE, "application/json")], said.body).into_response();
    let rests_on = RestsOn { served, coverage: &said.coverage, asked: said.reach };
    rests_on.describe(response.headers_mut(), units);
    Ok(response)
}

async fn say(app: &App, served: &ServedChain, words: PriceWords) -> Result<Said, ApiError> {
    let (store, chain) = (&app.parts.store, served.chain.id);
    let version = store.version(chain).await?;
    if let Some(said) = app.price_repeats.get(&words, version) {
        return Ok(said);
    }
    let view = store.view().await?;
    let version = view.version(chain).await?;
    let coverage = Arc::new(view.coverage(chain).await?);
    let block = words.wanted.block(served, &coverage)?;
    let asked = words.wanted.at(served, block, words.profile);
    let body = match app.prices.answers.get(&asked, version) {
        Some(body) => body,
        None => {
            let pricing =
                Pricing { app, served, view, coverage: &coverage, version, asked: &asked };
            let body = pricing.answer().await?;
            app.prices.answers.keep(asked, version, body.clone());
            body
        }
    };
    let is_indexed = coverage.newest().is_some();
    let said = Said { body, coverage, reach: (block, block), traces_missing: false };
    // Where nothing is indexed, the newest block is a node's, and moves without the store.
    if is_indexed {
        app.price_repeats.keep(words, version, said.clone());
    }
    Ok(said)
}

/// One answer in the making: what comes from the store is seen in one view of it.
struct Pricing<'a> {
    app: &'a App,
    served: &'a ServedChain,
    view: View,
    coverage: &'a Coverage,
    version: Version,
    asked: &'a Asked,
}

/// Everything a price follows from.
struct Pools {
    own: Vec<PoolAt>,
    native: Arc<Vec<PoolAt>>,
    source: &'static str,
}

impl Pricing<'_> {
    async fn answer(&self) -> Result<Bytes, ApiError> {
        let (app, asked) = (self.app, self.asked);
        let chain = &self.served.chain;
        let stored = self.view.block_summary(chain.id, asked.block).await?;
        let time = match &stored {
            Some(stored) => stored.timestamp,
            None => self.time_at_node().await?,
        };
        let book = PricingTable::of(chain, time).ok_or_else(|| {
            let why = "no token has a price there: its table names no wrapped native coin";
            ApiError::NotFound(format!("{}: {why}", chain.slug))
        })?;
        let parts = (&app.parts.store, &app.contracts);
        let found = app.tokens.find(parts, self.served, asked.token).await?;
        let token = match found {
            Ok(token) => token,
            Err(why) => return Err(self.uncounted(&book, why).await?),
        };
        let mut pools = match stored {
            Some(_) => self.stored(&book, asked.block, &token).await?,
            None => Pools { own: Vec::new(), native: Arc::default(), source: "store" },
        };
        self.complete(&book, &mut pools, stored.map(|it| it.hash)).await?;
        self.write(&book, time, &token, &pools).await
    }

    async fn write(
        &self,
        book: &PricingTable,
        time: u64,
        token: &Shown,
        pools: &Pools,
    ) -> Result<Bytes, ApiError> {
        let (asked, chain) = (self.asked, &self.served.chain);
        let price = self.price(book, token, pools).map_err(|why| {
            ApiError::NotFound(match why {
                NoPrice::NotEnoughLiquidity(_) => NO_POOLS.to_owned(),
                NoPrice::NoNativeUsd(_) => NO_NATIVE.to_owned(),
            })
        })?;
        self.check_activity(time, pools).await?;
        let from_store = pools.source == "store";
        let changed = match from_store {
            true => {
                let changed = self.view.block_summary(chain.id, price.block).await?;
                changed.map(|it| (price.block, it.timestamp))
            }
            false => None,
        };
        let then = match asked.percent_change {
            true => self.day_before(time, token).await?,
            false => None,
        };
        metrics::counter!("headwater_prices_total", "source" => pools.source).increment(1);
        let record = PriceRecord {
            chain,
            asked,
            token,
            price: &price,
            pools: (&pools.own, &pools.native),
            then,
            source: pools.source,
            changed_at: changed,
        };
        let mut body = Vec::with_capacity(1024);
        record.write(&mut body);
        Ok(body.into())
    }

    fn price(&self, book: &PricingTable, token: &Shown, pools: &Pools) -> Result<Price, NoPrice> {
        let question = Question {
            token: self.asked.token,
            decimals: token.decimals,
            exchange: self.asked.exchange,
            pools: &pools.own,
            native_pools: &pools.native,
            via: &[],
        };
        let settings =
            Settings { min_side_micro_usd: self.asked.min_side_micro_usd, ..Settings::default() };
        price::price(book, &question, &settings)
    }

    fn gather<'b>(&'b self, book: &'b PricingTable, block: u64) -> Gather<'b> {
        let (first, newest) = self.coverage.range_of(block).unwrap_or((block, block));
        Gather {
            view: &self.view,
            memory: &self.app.prices.memory,
            chain: self.served.chain.id,
            book,
            blocks: (first, block),
            newest,
            before: minute_of_blocks(&self.served.chain),
            version: self.version,
        }
    }

    async fn stored(
        &self,
        book: &PricingTable,
        block: u64,
        token: &Shown,
    ) -> Result<Pools, ApiError> {
        let gather = self.gather(book, block);
        let native = gather.native().await?;
        let (address, exchange) = (self.asked.token, self.asked.exchange);
        // The coin's own pools are there already, unless one exchange's are wanted.
        let own = match address == book.wrapped && exchange.is_none() {
            true => Vec::new(),
            false => {
                let asked = gather::Asked { token: address, decimals: token.decimals, exchange };
                gather.pools(&asked, &native).await?
            }
        };
        Ok(Pools { own, native, source: "store" })
    }

    /// Asks a node for what the store does not hold at the block.
    async fn complete(
        &self,
        book: &PricingTable,
        pools: &mut Pools,
        hash: Option<alloy_primitives::B256>,
    ) -> Result<(), ApiError> {
        let asked = self.asked;
        let is_coin = asked.token == book.wrapped;
        let lacks_own = pools.own.is_empty() && !(is_coin && asked.exchange.is_none());
        if !lacks_own && !pools.native.is_empty() {
            return Ok(());
        }
        let Some(pool) = &self.served.pool else { return self.covered() };
        let at = Where { chain: asked.chain, block: asked.block, hash };
        let (contracts, chain) = (&self.app.contracts, &self.served.chain);
        let node = AskNode { contracts, pool, chain, book, at };
        let kept = &self.app.prices.at_node;
        if lacks_own {
            let found = node.pools(kept, asked.token, asked.exchange).await;
            pools.own = found.map_err(|why| self.no_state(why))?.to_vec();
            pools.source = "node";
        }
        if pools.native.is_empty() {
            let found = node.pools(kept, book.wrapped, None).await;
            pools.native = found.map_err(|why| self.no_state(why))?;
            pools.source = if is_coin { "node" } else { pools.source };
        }
        Ok(())
    }

    /// Without a node there is nothing but what is indexed.
    fn covered(&self) -> Result<(), ApiError> {
        match self.coverage.contains(self.asked.block) {
            true => Ok(()),
            false => Err(self.outside("and this server has no node of the chain to ask")),
        }
    }

    fn no_state(&self, why: Trouble) -> ApiError {
        match why {
            Trouble::NoState => {
                self.outside("and no node of the chain holds the state of that block")
            }
            other => ApiError::Unavailable(other.to_string()),
        }
    }

    fn outside(&self, why: &str) -> ApiError {
        let (block, slug) = (self.asked.block, &self.served.chain.slug);
        let coverage = self.coverage;
        ApiError::NotFound(match coverage.contains(block) {
            true => NO_POOLS.to_owned(),
            false => format!(
                "to_block {block} is not indexed (indexed blocks of {slug}: {coverage}), {why}"
            ),
        })
    }

    async fn time_at_node(&self) -> Result<u64, ApiError> {
        let Some(pool) = &self.served.pool else {
            return Err(self.outside("and this server has no node of the chain to ask"));
        };
        let time = self.app.contracts.block_time(pool, self.asked.block).await;
        time.map_err(|why| self.no_state(why))
    }

    /// Why there is no price where the token's decimals are not known.
    async fn uncounted(&self, book: &PricingTable, why: Unknown) -> Result<ApiError, ApiError> {
        let (token, slug) = (self.asked.token, &self.served.chain.slug);
        let has_pools = self.gather(book, self.asked.block).knows(token).await?;
        let unknown = format!("the decimals of {token:#x} on {slug} are not known");
        Ok(match (why, has_pools) {
            (Unknown::Untold, false) => ApiError::NotFound(format!(
                "{token:#x} is not a token on {slug}: no contract there tells its decimals"
            )),
            (Unknown::Untold, true) => ApiError::NotFound(format!(
                "{unknown}: its contract does not tell them; a token list of the operator may"
            )),
            (Unknown::NoNode, false) => ApiError::NotFound(NO_POOLS.to_owned()),
            (Unknown::NoNode, true) => ApiError::Unavailable(format!(
                "{unknown}: this server has no node of the chain, and no token list names it"
            )),
            (Unknown::Trouble(trouble), _) => {
                ApiError::Unavailable(format!("{unknown}: {trouble}"))
            }
        })
    }

    /// Refused where no pool of the token changed for so long.
    async fn check_activity(&self, time: u64, pools: &Pools) -> Result<(), ApiError> {
        let Some(days) = self.asked.max_inactivity_days else { return Ok(()) };
        let is_mine = |it: &&PoolAt| self.asked.exchange.is_none_or(|f| f == it.pool.factory);
        let all = if pools.own.is_empty() { pools.native.as_slice() } else { &pools.own };
        let Some(newest) = all.iter().filter(is_mine).map(|it| it.block).max() else {
            return Ok(());
        };
        let Some(changed) = self.view.block_summary(self.asked.chain, newest).await? else {
            return Ok(());
        };
        let idle = time.saturating_sub(changed.timestamp);
        match idle > u64::from(days).saturating_mul(DAY_S) {
            true => Err(ApiError::BadRequest(format!(
                "the token is inactive: its price last changed at block {newest}, more than max_token_inactivity ({days} days) ago"
            ))),
            false => Ok(()),
        }
    }

    /// The price at the last block a day earlier, where every block since is stored.
    async fn day_before(&self, time: u64, token: &Shown) -> Result<Option<Ratio>, ApiError> {
        let asked = self.asked;
        let then = time.saturating_sub(DAY_S);
        let Some(block) = self.view.last_block_until(asked.chain, then).await? else {
            return Ok(None);
        };
        if !self.coverage.covers(block, asked.block) {
            return Ok(None);
        }
        let Some(book) = PricingTable::of(&self.served.chain, then) else { return Ok(None) };
        let pools = self.stored(&book, block, token).await?;
        Ok(self.price(&book, token, &pools).ok().map(|it| it.usd))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_view_may_wait_for_a_node() {
        fn is_send<T: Send>() {}
        is_send::<store::View>();
    }
}
