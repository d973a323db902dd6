//! What the server may ask of whoever decodes stored blocks again; this crate does not know how that is done.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RedecodeRequest {
    /// By id; none is every chain that is served.
    pub chains: Vec<u64>,
    /// Also where the same decoders read the blocks already.
    pub force: bool,
    /// Fingerprints of the decoders that the caller expects, by chain id.
    pub decoders: BTreeMap<u64, String>,
}

pub trait RedecodeControl: Send + Sync {
    /// The chains that it is queued for, or why not.
    fn request(&self, request: RedecodeRequest) -> Result<Vec<u64>, String>;
    /// By chain: its progress and how the last run ended.
    fn status(&self) -> Value;
}
