//! Swaps one by one, with what they paid and what was in the pool after them. Not stored.

use std::collections::BTreeMap;

use alloy_primitives::map::HashMap;
use model::facts::{Pool, PoolId, PoolState};
use model::raw::Block;

use super::event::{Event, Flow};
use super::prove::Patience;
use super::{Dex, transactions};

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
        let mut patience = Patience::default();
        let mut seen = BTreeMap::new();
        let mut swaps = Vec::new();
        for (tx_index, logs) in transactions(block) {
            let hits = self.hits(logs);
            self.attribute(&hits, logs, &mut seen, &mut patience);
            let mut states: HashMap<PoolId, PoolState> = HashMap::default();
            for hit in hits {
                match hit.event {
                    Event::State(state) => {
                        states.insert(hit.id, state);
                    }
                    Event::Swap(mut flow) => {
                        // Pairs tell their reserves just before they tell of the swap.
                        flow.state = flow.state.or_else(|| states.get(&hit.id).cloned());
                        let (pool, log_index) = (hit.id, hit.log_index);
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
