//! Sends a request to an upstream that fits and fails over.
//!
//! Bounded: at most `attempts_max` trials. Different upstreams first; the same one again only after
//! a short wait and only when nobody else is left.

use super::pick::Needs;
use super::shared::{Choice, Shared};
use crate::budget::ByteBudget;
use crate::call::{Call, CallResult, RawAnswer, RpcFailureKind};
use crate::error::{Error, error_chain};
use crate::lane::Lane;
use crate::probe::Capabilities;
use crate::upstream::Asking;
use crate::upstream_id::UpstreamId;
use serde::de::IgnoredAny;
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

#[derive(Clone, Debug)]
pub struct Forwarded {
    pub upstream: UpstreamId,
    /// The result or the node's error object, both raw.
    pub answer: CallResult,
}

/// The wait before an upstream is asked a second time, doubled with each trial.
const AGAIN_AFTER: Duration = Duration::from_millis(100);

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

/// A user's call, which may belong to a batch.
#[derive(Clone, Debug)]
pub struct Forward<'a> {
    pub call: Call,
    /// What the answers of its batch may take together.
    pub batch: Option<&'a Arc<ByteBudget>>,
}

impl From<Call> for Forward<'_> {
    fn from(call: Call) -> Self {
        Self { call, batch: None }
    }
}

pub async fn forward(shared: &Shared, forward: Forward<'_>) -> Result<Forwarded, Error> {
    let Forward { call, batch } = forward;
    let lane = Lane::Interactive;
    let fetch = Fetch { calls: vec![call], not: &[], needs: Needs::default(), lane };
    match ask(shared, &fetch, batch).await {
        Ok(fetched) => only(shared, fetched.upstream, fetched.answers),
        Err(error) => refusal(shared, error),
    }
}

pub async fn forward_once(shared: &Shared, forward: Forward<'_>) -> Result<Forwarded, Error> {
    let (calls, lane, needs) = ([forward.call], Lane::Interactive, Needs::default());
    let choice = Choice { needs: &needs, lane };
    let mut tried = vec![];
    let mut last = None;
    let mut next = first_pick(shared, choice, &[]).await;
    while let Some((id, member)) = next.and_then(|id| Some((id, shared.member(id)?))) {
        let turn_by = shared.turn_by(lane);
        let asking = Asking { batch: forward.batch, turn_by, ..Asking::calls(lane) };
        match member.upstream.call_many(&calls, asking).await {
            Ok(answers) => {
                shared.succeeded(id, lane);
                return only(shared, id, answers);
            }
            Err(error) => {
                shared.failed(id, &error, lane);
                tried.push(id);
                if !error.was_not_accepted() {
                    return Err(error);
                }
                last = Some(error);
                next = shared.pick(choice, &tried);
            }
        }
    }
    match last {
        Some(error) => refusal(shared, error),
        None => Err(nobody(shared, &needs)),
    }
}

/// A node that asks to slow down in an answer may mean the question (so many logs, so long a range): its
/// own words tell the user more than ours.
fn refusal(shared: &Shared, error: Error) -> Result<Forwarded, Error> {
    match error {
        Error::RateLimited { upstream, refusal: Some(failure), .. } => {
            let id = shared.ids().find(|id| shared.label(*id) == upstream);
            Ok(Forwarded { upstream: id.unwrap_or(UpstreamId(0)), answer: Err(*failure) })
        }
        other => Err(other),
    }
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
                // A user's heavy question gets a second chance, not all upstreams one by one.
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
fn another_may_know(answer: &CallResult) -> bool {
    use RpcFailureKind::{Internal, MethodMissing, StateMissing};
    let kind = answer.as_ref().err().map(|failure| failure.kind());
    matches!(kind, Some(MethodMissing | StateMissing | Internal))
}

/// Picks; while upstreams are still being probed at start, waits for them.
async fn first_pick(
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

fn nobody(shared: &Shared, needs: &Needs) -> Error {
    if shared.is_closed() {
        return Error::Closed { chain: shared.chain_label.clone() };
    }
    shared.no_upstream(needs)
}

fn only(
    shared: &Shared,
    upstream: UpstreamId,
    answers: Vec<CallResult>,
) -> Result<Forwarded, Error> {
    match answers.into_iter().next() {
        Some(answer) => {
            // Nobody here will read it, and a client must not be handed broken JSON.
            if let Ok(Err(error)) = answer.as_ref().map(RawAnswer::parse::<IgnoredAny>) {
                let upstream = shared.label(upstream).to_owned();
                return Err(Error::Malformed { upstream, why: error.to_string() });
            }
            Ok(Forwarded { upstream, answer })
        }
        None => Err(nobody(shared, &Needs::default())),
    }
}
