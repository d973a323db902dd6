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
    /// Methods offered although they write or belong to an unsafe namespace, e.g. `anvil_mine`;
    /// `anvil_*` offers a whole namespace.
    pub allow: Vec<String>,
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
        }
    }
}
