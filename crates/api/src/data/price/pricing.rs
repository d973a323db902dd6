//! One price in the making: the token, its pools from the store and, where the store has none, from a
//! node, then the record.
//!
//! A node may take seconds. No view of the store is held meanwhile: each later view of the store checks
//! that the block of the price is still the same.

use std::sync::Arc;

use alloy_primitives::Address;
use bytes::Bytes;
use model::price::{self, Doubt, Money, PoolAt, Price, PricingTable, Question, Ratio, Settings};
use store::Version;

use super::node_pools::NodePools;
use super::params::PriceParams;
use super::price_block::PriceBlock;
use super::record::PriceRecord;
use super::refusals;
use super::second_hop::{Hop, SecondHop, Step};
use super::stored_pools::{PoolQuery, StoredPools};
use crate::app::App;
use crate::clock::DAY_S;
use crate::contracts::CallError;
use crate::data::chain_view::ChainView;
use crate::error::ApiError;
use crate::profile::Profile;
use crate::served_chain::ServedChain;
use crate::tokens::{TokenError, TokenInfo};

pub struct Pricing<'a> {
    pub app: &'a App,
    pub served: &'a ServedChain,
    pub params: &'a PriceParams,
    pub profile: Profile,
    pub block: &'a PriceBlock,
}

pub struct Priced {
    pub body: Bytes,
    /// Of the last view of the store. Where it is still the block's, all that was read belongs together.
    pub version: Version,
    /// The oldest block that the answer had to look at, stored or not.
    pub reach_from: u64,
}

/// A price, and the way to it.
struct Chosen {
    at: ChainView,
    price: Price,
    hop: Option<Hop>,
    /// Tokens that were thought of as steps.
    steps: Vec<Step>,
}

/// What is known of the day before.
struct DayBefore {
    usd: Option<Ratio>,
    /// The block it is about; the first of the chain where nobody can tell.
    block: u64,
}

/// Everything a price follows from.
struct Pools {
    own: Vec<PoolAt>,
    native: Arc<Vec<PoolAt>>,
    source: &'static str,
}

impl Pricing<'_> {
    /// None where the block was replaced before the price was done.
    pub async fn price(&self) -> Result<Option<Priced>, ApiError> {
        let time = self.time().await?;
        let chain = &self.served.chain;
        let table = PricingTable::of(chain, time).ok_or_else(|| refusals::no_native_coin(chain))?;
        let token = self.token(&table).await?;
        let Some(mut at) = self.view_again().await? else { return Ok(None) };
        let mut pools = match self.block.summary {
            Some(_) => self.stored_pools(&at, &table, self.block.number, &token).await?,
            None => Pools { own: Vec::new(), native: Arc::default(), source: "store" },
        };
        if self.lacks_own(&table, &pools) || pools.native.is_empty() {
            drop(at);
            self.ask_node(&table, &mut pools).await?;
            let Some(again) = self.view_again().await? else { return Ok(None) };
            at = again;
        }
        let Some(chosen) = self.chosen(at, &table, &token, &mut pools).await? else {
            return Ok(None);
        };
        let Chosen { at, price, hop, steps } = chosen;
        self.check_activity(&at, time, &pools).await?;
        let mut then = DayBefore { usd: None, block: self.block.number };
        if self.params.percent_change {
            then = self.day_before(&at, time, &token, &steps).await?;
        }
        let changed_at = self.changed_at(&at, &price, &pools).await?;
        metrics::counter!("headwater_prices_total", "source" => pools.source).increment(1);
        let record = PriceRecord {
            chain,
            params: self.params,
            profile: self.profile,
            block: self.block.number,
            token: &token,
            price: &price,
            own_pools: &pools.own,
            native_pools: &pools.native,
            then: then.usd,
            source: pools.source,
            changed_at,
            hop: hop.as_ref(),
        };
        let mut body = Vec::with_capacity(1024);
        record.write(&mut body);
        Ok(Some(Priced { body: body.into(), version: at.version, reach_from: then.block }))
    }

    /// By the token's own pools with money; where they say nothing, or little, also by those with tokens that have a
    /// price. None where the block was replaced meanwhile.
    async fn chosen(
        &self,
        at: ChainView,
        table: &PricingTable,
        token: &TokenInfo,
        pools: &mut Pools,
    ) -> Result<Option<Chosen>, ApiError> {
        let direct = self.choose(table, token, pools, &[]);
        let mut found = Vec::new();
        let stored = self.stored(&at, table, self.block.number);
        // Money is what all else is measured by, and everything trades against it: too much to look through.
        let may_go_on = self.block.summary.is_some() && !stored.is_money(self.params.token);
        if may_go_on && wants_second_hop(&direct) {
            found = stored.steps(&self.query(token)).await?;
        }
        if found.is_empty() {
            return Ok(Some(Chosen { at, price: direct?, hop: None, steps: Vec::new() }));
        }
        // A contract may have to be asked how its token counts.
        drop(at);
        let steps = self.counted(&found).await;
        let Some(at) = self.view_again().await? else { return Ok(None) };
        let stored = self.stored(&at, table, self.block.number);
        let mut second = self.second_hop(&stored, token, &steps, &pools.native).await?;
        pools.own.append(&mut second.pools);
        let found = self.choose(table, token, pools, &second.money());
        let Ok(mut price) = found else {
            return Ok(Some(Chosen { at, price: direct?, hop: None, steps }));
        };
        let hop = second.explain(&mut price, direct.ok().as_ref());
        if hop.is_some() {
            pools.source = "store";
        }
        Ok(Some(Chosen { at, price, hop, steps }))
    }

    async fn view_again(&self) -> Result<Option<ChainView>, ApiError> {
        self.block.view_again(self.app, self.served).await
    }

    /// When the block was made.
    async fn time(&self) -> Result<u64, ApiError> {
        if let Some(summary) = &self.block.summary {
            return Ok(summary.timestamp);
        }
        let upstreams = self.served.pool.as_ref().ok_or_else(|| self.no_node())?;
        let time = self.app.contracts.block_time(upstreams, self.block.number).await;
        time.map_err(|error| self.node_failed(&error))
    }

    async fn token(&self, table: &PricingTable) -> Result<TokenInfo, ApiError> {
        let (app, token) = (self.app, self.params.token);
        let error = match app.tokens.find(&app.contracts, self.served, token).await {
            Ok(info) => return Ok(info),
            Err(TokenError::Store(error)) => return Err(error.into()),
            Err(error) => error,
        };
        let at = ChainView::open(&self.app.parts.store, &self.served.chain).await?;
        let has_pools = self.stored(&at, table, self.block.number).knows(token).await?;
        Err(refusals::no_decimals(&self.served.chain, token, has_pools, error))
    }

    fn stored<'b>(
        &'b self,
        at: &'b ChainView,
        table: &'b PricingTable,
        block: u64,
    ) -> StoredPools<'b> {
        StoredPools {
            view: &at.view,
            version: at.version,
            coverage: &at.coverage,
            memory: &self.app.price_memory,
            chain: &self.served.chain,
            table,
            block,
        }
    }

    async fn stored_pools(
        &self,
        at: &ChainView,
        table: &PricingTable,
        block: u64,
        token: &TokenInfo,
    ) -> Result<Pools, ApiError> {
        let stored = self.stored(at, table, block);
        let native = stored.native().await?;
        let own = if self.is_plain_coin(table) {
            Vec::new()
        } else {
            stored.pools(&self.query(token), &native).await?
        };
        Ok(Pools { own, native, source: "store" })
    }

    fn query(&self, token: &TokenInfo) -> PoolQuery {
        let (decimals, exchange) = (token.decimals, self.params.exchange);
        PoolQuery { token: self.params.token, decimals, exchange }
    }

    /// Those of which it is known how they count.
    async fn counted(&self, tokens: &[Address]) -> Vec<Step> {
        let mut steps = Vec::new();
        for token in tokens {
            let found = self.app.tokens.find(&self.app.contracts, self.served, *token).await;
            steps.extend(found.ok().map(|it| Step { token: *token, decimals: it.decimals }));
        }
        steps
    }

    /// The asked token's pools with tokens that have a price themselves.
    async fn second_hop(
        &self,
        stored: &StoredPools<'_>,
        token: &TokenInfo,
        steps: &[Step],
        native: &[PoolAt],
    ) -> Result<SecondHop, ApiError> {
        let mut second = SecondHop::default();
        for step in steps {
            let q = PoolQuery { token: step.token, decimals: step.decimals, exchange: None };
            let pools = stored.pools(&q, native).await?;
            let question = Question {
                token: step.token,
                decimals: step.decimals,
                exchange: None,
                pools: &pools,
                native_pools: native,
                via: &[],
            };
            let Ok(price) = price::price(stored.table, &question, &self.settings()) else {
                continue;
            };
            // Nothing that is doubtful is built upon.
            if let Some(money) = price.money() {
                second.hops.push(Hop { token: step.token, price, money });
            }
        }
        let priced = |step: &&Step| second.hops.iter().any(|hop| hop.token == step.token);
        let priced: Vec<Step> = steps.iter().filter(priced).copied().collect();
        second.pools = stored.pools_with(&self.query(token), &priced).await?;
        Ok(second)
    }

    /// The coin's own pools are read as the native ones, unless one exchange's are wanted.
    fn is_plain_coin(&self, table: &PricingTable) -> bool {
        self.params.token == table.wrapped && self.params.exchange.is_none()
    }

    fn lacks_own(&self, table: &PricingTable, pools: &Pools) -> bool {
        pools.own.is_empty() && !self.is_plain_coin(table)
    }

    /// Asks a node for what the store does not hold at the block.
    async fn ask_node(&self, table: &PricingTable, pools: &mut Pools) -> Result<(), ApiError> {
        let (number, hash) = (self.block.number, self.block.summary.map(|it| it.hash));
        let Some(upstreams) = &self.served.pool else {
            // There is nothing but what is indexed.
            return if hash.is_some() { Ok(()) } else { Err(self.no_node()) };
        };
        let head = || self.served.node_head().filter(|head| head.number == number);
        let node = NodePools {
            contracts: &self.app.contracts,
            upstreams,
            memory: &self.app.price_memory,
            chain: &self.served.chain,
            table,
            block: number,
            hash: hash.or_else(|| head().map(|head| head.hash)),
        };
        if self.lacks_own(table, pools) {
            let found = node.pools(self.params.token, self.params.exchange).await;
            pools.own = found.map_err(|error| self.node_failed(&error))?.to_vec();
            pools.source = "node";
        }
        if pools.native.is_empty() {
            let found = node.pools(table.wrapped, None).await;
            pools.native = found.map_err(|error| self.node_failed(&error))?;
            if self.params.token == table.wrapped {
                pools.source = "node";
            }
        }
        Ok(())
    }

    fn choose(
        &self,
        table: &PricingTable,
        token: &TokenInfo,
        pools: &Pools,
        via: &[Money],
    ) -> Result<Price, ApiError> {
        let question = Question {
            token: self.params.token,
            decimals: token.decimals,
            exchange: self.params.exchange,
            pools: &pools.own,
            native_pools: &pools.native,
            via,
        };
        let found = price::price(table, &question, &self.settings());
        found.map_err(|why| refusals::no_price(&why))
    }

    fn settings(&self) -> Settings {
        let min_side_micro_usd = self.params.min_side_micro_usd;
        Settings { min_side_micro_usd, ..Settings::default() }
    }

    /// Refused where no pool of the token changed for so long.
    async fn check_activity(
        &self,
        at: &ChainView,
        time: u64,
        pools: &Pools,
    ) -> Result<(), ApiError> {
        let Some(days) = self.params.max_inactivity_days else { return Ok(()) };
        let is_mine = |it: &&PoolAt| self.params.exchange.is_none_or(|f| f == it.pool.factory);
        let all = if pools.own.is_empty() { pools.native.as_slice() } else { &pools.own };
        let Some(newest) = all.iter().filter(is_mine).map(|it| it.block).max() else {
            return Ok(());
        };
        let changed = at.view.block_summary(self.served.chain.id, newest).await?;
        let idle = changed.map_or(0, |changed| time.saturating_sub(changed.timestamp));
        if idle > u64::from(days).saturating_mul(DAY_S) {
            return Err(refusals::inactive(newest, days));
        }
        Ok(())
    }

    /// The price at the last block a day earlier, where every block since is stored.
    async fn day_before(
        &self,
        at: &ChainView,
        time: u64,
        token: &TokenInfo,
        steps: &[Step],
    ) -> Result<DayBefore, ApiError> {
        let Some(block) = self.block_of_day_before(at, time).await? else {
            return Ok(DayBefore { usd: None, block: 0 });
        };
        let then = time.saturating_sub(DAY_S);
        let Some(table) = PricingTable::of(&self.served.chain, then) else {
            return Ok(DayBefore { usd: None, block });
        };
        let mut pools = self.stored_pools(at, &table, block, token).await?;
        let stored = self.stored(at, &table, block);
        let mut second = self.second_hop(&stored, token, steps, &pools.native).await?;
        pools.own.append(&mut second.pools);
        let found = self.choose(&table, token, &pools, &second.money());
        Ok(DayBefore { usd: found.ok().map(|it| it.usd), block })
    }

    /// None where not every block since then is stored.
    async fn block_of_day_before(
        &self,
        at: &ChainView,
        time: u64,
    ) -> Result<Option<u64>, ApiError> {
        let then = time.saturating_sub(DAY_S);
        let block = at.view.last_block_until(self.served.chain.id, then).await?;
        Ok(block.filter(|block| at.coverage.covers(*block, self.block.number)))
    }

    /// The oldest block that a refusal had to look at, as for an answer.
    pub async fn refusal_reach_from(&self) -> Result<u64, ApiError> {
        if !self.params.percent_change {
            return Ok(self.block.number);
        }
        let Some(summary) = &self.block.summary else { return Ok(0) };
        let Some(at) = self.view_again().await? else { return Ok(0) };
        Ok(self.block_of_day_before(&at, summary.timestamp).await?.unwrap_or(0))
    }

    /// Block and time of the pool's last change; a node does not say when that was.
    async fn changed_at(
        &self,
        at: &ChainView,
        price: &Price,
        pools: &Pools,
    ) -> Result<Option<(u64, u64)>, ApiError> {
        if pools.source != "store" {
            return Ok(None);
        }
        let changed = at.view.block_summary(self.served.chain.id, price.block).await?;
        Ok(changed.map(|it| (price.block, it.timestamp)))
    }

    fn no_node(&self) -> ApiError {
        refusals::no_node(&self.served.chain, self.block.number, &self.block.coverage)
    }

    fn node_failed(&self, error: &CallError) -> ApiError {
        let (number, coverage) = (self.block.number, &self.block.coverage);
        refusals::node_failed(&self.served.chain, number, coverage, error)
    }
}

/// Where the token's own pools with money say nothing, or little.
fn wants_second_hop(direct: &Result<Price, ApiError>) -> bool {
    match direct {
        Ok(price) => price.doubts.contains(&Doubt::Thin),
        Err(error) => matches!(error, ApiError::NotFound(_)),
    }
}
