//! Sends a request to an upstream that fits and fails over.
//!
//! Bounded: at most `attempts_max` trials. Different upstreams first; the same one again only after
//! a short wait and only when nobody else is left.

use super::pick::Needs;
use super::shared::{Choice, Shared};
use crate::budget::ByteBudget;
use crate::call::{Call, CallResult, RpcFailureKind};
use crate::error::{Error, error_chain};
use crate::lane::Lane;
use crate::probe::Capabilities;
use crate::upstream::Asking;
use crate::upstream_id::UpstreamId;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// Calls that belong together, answered by one upstream.
#[derive(Clone, Debug)]
pub struct Fetch<'a> {
    pub calls: Vec<Call>,
    /// Upstreams to avoid, e.g. one that just lied.
    pub not: &'a [UpstreamId],
    pub needs: Needs,
    /// What they are for.
    pub lane: Lane,
}

/// Calls that depend on what the upstream that will answer them can do.
pub struct Plan<'a> {
    pub calls: &'a (dyn Fn(&Capabilities) -> Vec<Call> + Send + Sync),
    pub not: &'a [UpstreamId],
    pub needs: Needs,
    pub lane: Lane,
    /// Given up when a node takes longer, without asking another and without thinking less of the node:
    /// for what can be done without.
    pub within: Option<Duration>,
}

#[derive(Clone, Debug)]
pub struct Fetched {
    pub upstream: UpstreamId,
    /// What the calls were planned by; it may be probed anew while they are under way.
    pub capabilities: Capabilities,
    /// In the order of the calls.
    pub answers: Vec<CallResult>,
}

/// The wait before an upstream is asked a second time, doubled with each trial.
pub const AGAIN_AFTER: Duration = Duration::from_millis(100);

pub async fn ask(
    shared: &Shared,
    fetch: &Fetch<'_>,
    batch: Option<&Arc<ByteBudget>>,
) -> Result<Fetched, Error> {
    let Fetch { not, needs, lane, .. } = *fetch;
    let calls = |_: &Capabilities| fetch.calls.clone();
    ask_planned(shared, &Plan { calls: &calls, not, needs, lane, within: None }, batch).await
}

pub async fn ask_planned(
    shared: &Shared,
    fetch: &Plan<'_>,
    batch: Option<&Arc<ByteBudget>>,
) -> Result<Fetched, Error> {
    let turn_by = shared.turn_by(fetch.lane);
    let asking = Asking { batch, within: fetch.within, turn_by, ..Asking::calls(fetch.lane) };
    let mut trials = Trials { tried: vec![], answered: None, error: None };
    for trial in 0..shared.config.attempts_max.max(1) {
        let avoid = [fetch.not, trials.tried.as_slice()].concat();
        let choice = Choice { needs: &fetch.needs, lane: fetch.lane };
        let mut id = shared.pick(choice, &avoid);
        if id.is_none() {
            // Everybody was asked. An answer, even a refusal, is better than asking the same again.
            if trials.answered.is_some() || trials.is_too_late(turn_by) {
                break;
            }
            if !trials.tried.is_empty() {
                sleep(AGAIN_AFTER * 2u32.saturating_pow(trial.min(5))).await;
                trials.tried.clear();
            }
            id = first_pick(shared, choice, fetch.not).await;
        }
        let Some(id) = id else { break };
        if let Some(done) = trials.ask(shared, id, fetch, asking).await? {
            return Ok(done);
        }
    }
    trials.end(shared, &fetch.needs)
}

/// What the trials so far gave.
struct Trials {
    tried: Vec<UpstreamId>,
    /// An answer that another upstream might better; the first one is kept.
    answered: Option<Fetched>,
    error: Option<Error>,
}

impl Trials {
    /// `Some` when this upstream's answer is final; an error only when no other could do better.
    async fn ask(
        &mut self,
        shared: &Shared,
        id: UpstreamId,
        fetch: &Plan<'_>,
        asking: Asking<'_>,
    ) -> Result<Option<Fetched>, Error> {
        self.tried.push(id);
        let (Some(member), Some(able)) = (shared.member(id), shared.capabilities(id)) else {
            return Ok(None);
        };
        match member.upstream.call_many(&(fetch.calls)(&able), asking).await {
            Ok(answers) => {
                shared.succeeded(id, asking.lane);
                let fetched = Fetched { upstream: id, capabilities: able, answers };
                if !fetched.answers.iter().any(another_may_know) {
                    return Ok(Some(fetched));
                }
                self.answered.get_or_insert(fetched);
                Ok(None)
            }
            Err(error @ Error::Timeout { .. }) if asking.within.is_some() => Err(error),
            Err(error) => {
                shared.failed(id, &error, asking.lane);
                tracing::debug!(chain = %shared.chain_label, upstream = %member.upstream.label, error = %error_chain(&error), "request failed");
                // Clients' heavy questions get a second chance, not all upstreams one by one.
                let heavy = !asking.lane.is_ingest() && matches!(error, Error::Timeout { .. });
                // What has no room here has none whoever sends it; the caller tries again later.
                let no_room = matches!(error, Error::TooLarge { .. });
                if !error.is_retryable() || no_room || (heavy && self.tried.len() > 1) {
                    return Err(error);
                }
                self.error = Some(error);
                Ok(None)
            }
        }
    }

    /// Whether nobody takes a call before its time is over.
    fn is_too_late(&self, turn_by: Option<Instant>) -> bool {
        let Some(by) = turn_by else { return false };
        let pause = match &self.error {
            Some(Error::RateLimited { retry_after, .. }) => retry_after.unwrap_or_default(),
            _ => Duration::ZERO,
        };
        Instant::now() + pause >= by
    }

    fn end(self, shared: &Shared, needs: &Needs) -> Result<Fetched, Error> {
        match (self.answered, self.error) {
            (Some(fetched), _) => Ok(fetched),
            (None, Some(error)) => Err(error),
            (None, None) => Err(nobody(shared, needs)),
        }
    }
}

/// Refusals that are about this node rather than about the question.
pub fn another_may_know(answer: &CallResult) -> bool {
    use RpcFailureKind::{Internal, MethodMissing, StateMissing};
    let kind = answer.as_ref().err().map(|failure| failure.kind());
    matches!(kind, Some(MethodMissing | StateMissing | Internal))
}

/// Picks; while upstreams are still being probed at start, waits for them.
pub async fn first_pick(
    shared: &Shared,
    choice: Choice<'_>,
    avoid: &[UpstreamId],
) -> Option<UpstreamId> {
    let mut changes = shared.changes();
    let patience = Duration::from_millis(shared.config.timeout_ms);
    let picked = timeout(patience, async {
        loop {
            if shared.is_closed() {
                return None;
            }
            if let Some(id) = shared.pick(choice, avoid) {
                return Some(id);
            }
            if !shared.somebody_is_starting() || changes.changed().await.is_err() {
                return None;
            }
        }
    });
    picked.await.unwrap_or(None)
}

pub fn nobody(shared: &Shared, needs: &Needs) -> Error {
    if shared.is_closed() {
        return Error::Closed { chain: shared.chain_label.clone() };
    }
    shared.no_upstream(needs)
}
