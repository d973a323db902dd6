//! What a block means, as rows: one row of facts, and index rows that lead to it.

use alloy_primitives::U256;
use model::chain::ChainId;
use model::facts::{Facts, PoolId, Trade};

use crate::embedded::buckets::Level;
use crate::embedded::keys::SalesOf;

/// Buckets of blocks whose lowest prices are kept; what is left at the end is looked at sale by sale.
pub const LOWEST_LEVELS: [Level; 3] = [(1, 18), (2, 12), (3, 6)];

/// What is kept in a block's own row: enough to answer, and to take everything back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FactsRow {
    pub trades: Vec<Trade>,
    pub changed_pools: Vec<PoolId>,
}

impl FactsRow {
    pub fn of(facts: &Facts) -> Self {
        FactsRow {
            trades: facts.trades.clone(),
            changed_pools: facts.pools.changes.iter().map(|change| change.id).collect(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.trades.is_empty() && self.changed_pools.is_empty()
    }

    /// The keys under which the trades are found: in lists, and by price.
    pub fn trade_keys(&self, chain: ChainId, generation: u8, number: u64) -> TradeKeys {
        let mut keys = TradeKeys::default();
        for (place, trade) in self.trades.iter().enumerate() {
            let place = place as u32;
            let on = |market| SalesOf { chain, generation, contract: trade.contract, market };
            let own = on(Some(trade.market));
            for sales in [on(None), own] {
                keys.listed.push(sales.trade(number, place));
                if trade.in_native && trade.price > U256::ZERO {
                    keys.priced.extend(LOWEST_LEVELS.iter().map(|(level, shift)| {
                        sales.price((*level, number >> shift), trade.price, (number, place))
                    }));
                }
            }
        }
        keys
    }
}

#[derive(Default)]
pub struct TradeKeys {
    pub listed: Vec<[u8; 42]>,
    pub priced: Vec<[u8; 83]>,
}
