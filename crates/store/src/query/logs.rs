//! What can be asked about logs.

use alloy_primitives::{Address, B256};
use model::chain::ChainId;
use model::raw::Log;

/// Logs of a range of blocks, as `eth_getLogs` chooses them.
#[derive(Clone, Debug, PartialEq)]
pub struct LogsQuery {
    pub chain: ChainId,
    pub from_block: u64,
    pub to_block: u64,
    /// Of any of these; of any at all where there are none.
    pub addresses: Vec<Address>,
    /// By position. A log has at least as many topics as are listed here; an empty list takes any.
    pub topics: Vec<Vec<B256>>,
    /// Logs of the block in which this many are found are still given.
    pub limit: usize,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogsPage {
    /// By block and place in it.
    pub logs: Vec<Log>,
    /// Where to go on; none where nothing is left.
    pub next_block: Option<u64>,
    pub cost: LogsCost,
}

/// What was read to find them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogsCost {
    /// Rows of the index.
    pub words: u64,
    /// Groups of sixteen transactions whose logs were looked at.
    pub groups: u64,
}

impl LogsQuery {
    pub fn takes(&self, log: &Log) -> bool {
        let is_of = |address| self.addresses.contains(&address);
        if !self.addresses.is_empty() && !log.address.is_some_and(is_of) {
            return false;
        }
        let topics = log.topics.as_deref().unwrap_or_default();
        topics.len() >= self.topics.len()
            && topics
                .iter()
                .zip(&self.topics)
                .all(|(topic, wanted)| wanted.is_empty() || wanted.contains(topic))
    }
}
