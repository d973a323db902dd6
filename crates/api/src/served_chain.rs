//! A chain that this server answers for.

use std::sync::Arc;

use model::chain::Chain;
use rpc::Pool;

use crate::audit_control::AuditControl;

pub struct ServedChain {
    pub chain: Arc<Chain>,
    pub pool: Option<Arc<Pool>>,
    /// What its ingest is doing, for /status.
    pub ingest: Option<StatusFn>,
    /// How far its stored blocks are decoded again by this process, for /status.
    pub redecode: Option<StatusFn>,
    /// None where no node is there to ask.
    pub audit: Option<Box<dyn AuditControl>>,
}

/// Describes something as it is now, for /status.
pub type StatusFn = Box<dyn Fn() -> serde_json::Value + Send + Sync>;

impl ServedChain {
    /// The newest block that its nodes know.
    pub fn node_head(&self) -> Option<rpc::Head> {
        *self.pool.as_ref()?.heads().borrow()
    }
}
