//! Swaps one by one, with what they paid and what was in the pool after them. Not stored.

use std::collections::BTreeMap;

use alloy_primitives::map::HashMap;
use model::exchange_families::{Event, Flow};
use model::facts::{Pool, PoolId, PoolState};
use model::raw::Block;

use super::logs::transactions;
use super::pools::Dex;
use super::prove::HashBudget;

#[derive(Clone, Debug, PartialEq)]
pub struct Swap {
    pub tx_index: u32,
    pub log_index: u32,
    pub pool: PoolId,
    /// What the pool is, if its block proves it.
    pub known: Option<Pool>,
    /// With the state after the swap.
    pub flow: Flow,
}

impl Dex {
    /// All swaps of a block in the order of their logs.
    pub fn swaps(&self, block: &Block) -> Vec<Swap> {
        let mut budget = HashBudget::default();
        let mut seen = BTreeMap::new();
        let mut swaps = Vec::new();
        for (tx_index, logs) in transactions(block) {
            let found = self.pool_logs(logs);
            self.attribute(&found, logs, &mut seen, &mut budget);
            let mut states: HashMap<PoolId, PoolState> = HashMap::default();
            for it in found {
                match it.event {
                    Event::State(state) => {
                        states.insert(it.id, state);
                    }
                    Event::Swap(mut flow) => {
                        // Pairs tell their reserves just before they tell of the swap.
                        flow.state = flow.state.or_else(|| states.get(&it.id).cloned());
                        let (pool, log_index) = (it.id, it.log_index);
                        swaps.push(Swap { tx_index, log_index, pool, known: None, flow });
                    }
                    _ => {}
                }
            }
        }
        for swap in &mut swaps {
            swap.known = seen.get(&swap.pool).cloned();
        }
        swaps
    }
}
