//! What clients' calls met at each upstream: written down after each, read when one is to be chosen.

use super::client_record::ClientRecord;
use super::condition::Evidence;
use super::shared::{Member, Shared};
use crate::call::{Call, CallResult};
use crate::error::Error;
use crate::upstream_id::UpstreamId;
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The method of a question, where it is one of our own list.
fn method_of(calls: &[Call]) -> Option<&'static str> {
    match calls {
        [call] => call.listed_method(),
        // With the node's head, which costs it nothing.
        [call, head] if head.method() == "eth_blockNumber" => call.listed_method(),
        _ => Some("batch"),
    }
}

impl Member {
    pub fn clients(&self) -> MutexGuard<'_, ClientRecord> {
        self.client_record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    pub fn met_by_client(
        &self,
        id: UpstreamId,
        calls: &[Call],
        result: &Result<Vec<CallResult>, Error>,
        (started, now): (Instant, Instant),
    ) {
        let Some(member) = self.member(id) else { return };
        let (mut record, method, latency) = (member.clients(), method_of(calls), now - started);
        match result {
            Ok(answers) => {
                record.succeeded(method, latency, now);
                if answers.iter().any(Result::is_err) {
                    record.answered_error(method);
                }
            }
            Err(
                Error::Connect { .. }
                | Error::Interrupted { .. }
                | Error::Http { .. }
                | Error::Malformed { .. },
            ) => record.failed(method, now),
            Err(Error::Timeout { .. }) => {
                record.took_too_long(latency, now);
                record.failed(method, now);
            }
            // Load has pauses of its own, and our own limits say nothing of the node.
            Err(_) => {}
        }
    }

    pub fn usual_latency(&self, id: UpstreamId, calls: &[Call], share: f64) -> Option<Duration> {
        self.member(id)?.clients().latency(method_of(calls)?, share)
    }

    pub fn was_slow(&self, id: UpstreamId, waited: Duration) {
        if let Some(member) = self.member(id) {
            member.clients().took_too_long(waited, Instant::now());
        }
    }

    pub fn lacks_state(&self, id: UpstreamId, block: u64) {
        if let Some(member) = self.member(id) {
            member.clients().lacks_state(block, Instant::now());
        }
    }

    pub fn had_state(&self, id: UpstreamId, block: u64) {
        if let Some(member) = self.member(id) {
            member.clients().had_state(block);
        }
    }

    pub fn distrust(&self, id: UpstreamId, evidence: Evidence) {
        if let Some(member) = self.member(id) {
            member.clients().lied(Instant::now());
        }
        self.keep_evidence(id, evidence);
    }
}
