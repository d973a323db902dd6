//! How attempts ended, and the lists that tenants see of them: newest first, by tenant.

use model::chain::ChainId;

use super::{Delivery, DeliveryState, StreamId};

/// One attempt that ended, or a change of what comes next.
#[derive(Clone, Debug)]
pub struct AttemptRecord {
    pub tenant: String,
    pub stream: StreamId,
    pub seq: u64,
    /// What the delivery's state is from now on.
    pub state: DeliveryState,
    /// What is noted in the list of attempts; none where no attempt was made.
    pub log: Option<AttemptLog>,
    /// Unix milliseconds.
    pub at_ms: u64,
    /// Of the delivery, where it is at hand: of a first attempt its row is not read again then.
    pub of: Option<AttemptOf>,
}

/// What never changes of a delivery, as far as attempts are noted with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptOf {
    pub chain: ChainId,
    pub number: u64,
    pub body_bytes: u64,
}

impl AttemptOf {
    pub fn new(delivery: &Delivery) -> Self {
        let Delivery { meta, body_bytes, .. } = delivery;
        AttemptOf { chain: meta.chain, number: meta.number, body_bytes: *body_bytes }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptLog {
    pub webhook_url: String,
    pub tag: String,
    /// 0 for the first.
    pub retries: u32,
    /// None where the receiver took it.
    pub error: Option<String>,
}

/// Where a page of a list ends; the next one begins below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListAnchor {
    pub at_ms: u64,
    pub stream: StreamId,
    pub seq: u64,
    pub retries: u32,
}

/// Attempts of a tenant, newest first.
#[derive(Clone, Debug, Default)]
pub struct AttemptsQuery {
    pub tenant: String,
    pub stream: Option<StreamId>,
    /// Any of these; empty: all.
    pub chains: Vec<ChainId>,
    pub numbers: Vec<u64>,
    /// Only those that failed, or only those that did not.
    pub failed: Option<bool>,
    /// Both ends are in it.
    pub from_ms: Option<u64>,
    pub to_ms: Option<u64>,
    pub below: Option<ListAnchor>,
    pub limit: usize,
}

/// Deliveries whose last attempt failed, newest first; one that was delivered at last is no longer among them.
#[derive(Clone, Debug, Default)]
pub struct FailedQuery {
    pub tenant: String,
    pub stream: Option<StreamId>,
    pub chains: Vec<ChainId>,
    pub numbers: Vec<u64>,
    /// When they last failed; both ends are in it.
    pub from_ms: Option<u64>,
    pub to_ms: Option<u64>,
    pub below: Option<ListAnchor>,
    pub limit: usize,
}
