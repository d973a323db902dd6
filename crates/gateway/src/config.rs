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
            allow: Vec::new(),
        }
    }
}
