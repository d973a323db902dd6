//! What the server may ask of whoever holds balances against blocks; this crate does not know how that is done.

use std::pin::Pin;

use alloy_primitives::B256;
use serde_json::Value;

/// One block's report, or why there is none.
pub type AuditFuture = Pin<Box<dyn Future<Output = Result<Value, String>> + Send>>;

pub trait AuditControl: Send + Sync {
    /// So many accounts of a stored block, drawn by lot; all of them where no number is given.
    fn audit(&self, number: u64, sample: Option<usize>) -> AuditFuture;
    /// How many accounts of the block were proven since the process started.
    fn proven_of(&self, number: u64, hash: B256) -> u64;
}
