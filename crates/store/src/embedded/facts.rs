//! What a block means, as rows: one row of facts, and index rows that lead to it.

use alloy_primitives::U256;
use model::chain::ChainId;
use model::facts::{Facts, PoolId, Trade, pack_trades, unpack_trades};
use model::raw::wire::{put_varint, take_bytes, take_varint, unpack_list};

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

    pub fn pack(&self) -> Vec<u8> {
        let mut out =
            Vec::with_capacity(self.trades.len() * 128 + self.changed_pools.len() * 21 + 2);
        pack_trades(&self.trades, &mut out);
        put_varint(&mut out, self.changed_pools.len() as u64);
        for id in &self.changed_pools {
            out.push(id.as_slice().len() as u8);
            out.extend_from_slice(id.as_slice());
        }
        out
    }

    pub fn unpack(mut input: &[u8]) -> Option<Self> {
        let trades = unpack_trades(&mut input)?;
        let changed_pools = unpack_list(&mut input, |input| {
            let length = usize::try_from(take_varint(input)?).ok()?;
            PoolId::from_slice(take_bytes(input, length)?)
        })?;
        Some(FactsRow { trades, changed_pools })
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bytes_of_any_kind_never_stop_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = FactsRow::unpack(&bytes);
        }
    }

    #[test]
    fn pools_of_both_kinds_come_back() {
        let changed_pools = vec![PoolId::Contract([1; 20].into()), PoolId::V4([2; 32].into())];
        let row = FactsRow { trades: Vec::new(), changed_pools };
        assert_eq!(FactsRow::unpack(&row.pack()), Some(row));
    }
}
