//! What an operator may set about the node RPC.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Calls in one batch.
    pub batch_max: usize,
    /// What the answers of one batch may take together; calls after that get an error.
    pub batch_bytes_max: usize,
    /// Answers in memory at once, over all clients and chains.
    pub bytes_in_flight_max: usize,
    /// Answers of nodes that cannot change, kept in memory over all chains; 0 keeps none.
    pub cache_bytes_max: u64,
    /// So many nodes must say the same where an answer cannot be verified; 1 asks one.
    pub quorum: usize,
    /// Methods forwarded although they are not in the method table, e.g. `anvil_mine`; `anvil_*` offers a whole
    /// namespace.
    pub allow: Vec<String>,
    /// Logs in one answer from the store.
    pub logs_max: usize,
    /// Blocks that one question for logs may span, where the store answers it.
    pub logs_blocks_max: u64,
    /// Addresses, or topics of one position, in a filter of logs.
    pub log_values_max: usize,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            batch_max: 100,
            batch_bytes_max: 25 << 20,
            bytes_in_flight_max: 256 << 20,
            cache_bytes_max: 128 << 20,
            quorum: 1,
            allow: Vec::new(),
            logs_max: 10_000,
            logs_blocks_max: 1_000_000,
            log_values_max: 1_000,
        }
    }
}
