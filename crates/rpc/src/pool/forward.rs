//! Sends a client's calls to an upstream that fits: fails over on what another might do better, and asks a second
//! one beside the first when that takes longer than usual.
//!
//! Bounded: so many trials, two at once, and so many second questions per hundred calls. Whether an answer is true
//! is for whoever asked to judge: it asks again with `not`, and says so (`Pool::distrust`).

use super::ask::{AGAIN_AFTER, another_may_know, first_pick, nobody};
use super::pick::{ClientRank, Needs};
use super::shared::{Choice, Shared};
use crate::bound::Bound;
use crate::budget::ByteBudget;
use crate::call::{Call, CallResult, RpcFailureKind};
use crate::error::{Error, error_chain};
use crate::lane::Lane;
use crate::upstream::Asking;
use crate::upstream_id::UpstreamId;
use futures_util::future::{Either, select};
use model::raw::json_value::JsonValue;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};

/// More nodes than these are not asked one after the other while a client waits.
const TRIALS_MAX: u32 = 16;
/// A second node is asked when the first takes longer than this share of its last answers did …
const HEDGE_QUANTILE: f64 = 0.95;
/// … and when it is not known how long it usually takes.
const HEDGE_UNKNOWN: Duration = Duration::from_millis(500);
/// Sooner is within the noise, later is long after any client is impatient.
const HEDGE_MIN: Duration = Duration::from_millis(30);
const HEDGE_MAX: Duration = Duration::from_secs(3);

/// A client's call, which may belong to a batch.
#[derive(Clone, Debug)]
pub struct Forward<'a> {
    pub call: Call,
    /// What the answers of its batch may take together.
    pub batch: Option<&'a Arc<ByteBudget>>,
    pub route: Route<'a>,
}

/// Where a call may go.
#[derive(Clone, Copy, Debug, Default)]
pub struct Route<'a> {
    /// What it is about: nodes that have it are preferred.
    pub needs: Needs,
    /// Nodes that are not asked, e.g. one whose answer was wrong.
    pub not: &'a [UpstreamId],
    /// A second node may be asked beside the first.
    pub may_hedge: bool,
}

#[derive(Clone, Debug)]
pub struct Forwarded {
    pub upstream: UpstreamId,
    /// The result or the node's error object, both raw.
    pub answer: CallResult,
    /// An earlier node broke off and may have taken it; only of what was sent to several.
    pub may_be_known: bool,
}

/// Answers to calls that travelled together, in their order.
#[derive(Clone, Debug)]
pub struct ForwardedTogether {
    pub upstream: UpstreamId,
    pub answers: Vec<CallResult>,
}

impl From<Call> for Forward<'_> {
    fn from(call: Call) -> Self {
        Self { call, batch: None, route: Route::default() }
    }
}

pub async fn forward(shared: &Shared, forward: Forward<'_>) -> Result<Forwarded, Error> {
    let Forward { call, batch, route } = forward;
    let calls = [call];
    match Course::new(shared, &calls, route, batch).run().await {
        Ok(together) => only(shared, together),
        Err(error) => refusal(shared, error),
    }
}

/// One call, and how far the node that answered it had come: both in one request where it takes batches, so
/// that it is the same node behind an address of several.
pub async fn forward_with_head(
    shared: &Shared,
    forward: Forward<'_>,
) -> Result<(Forwarded, Option<u64>), Error> {
    let Forward { call, batch, route } = forward;
    let calls = [call, Call::block_number()];
    let course = Course { is_one_question: true, ..Course::new(shared, &calls, route, batch) };
    match course.run().await {
        Ok(together) => {
            let head = together.answers.get(1).and_then(|answer| answer.as_ref().ok());
            let head = head.and_then(|answer| u64::read_json(answer.json()));
            let head = head.map(|(head, _)| head);
            Ok((only(shared, together)?, head))
        }
        Err(error) => refusal(shared, error).map(|forwarded| (forwarded, None)),
    }
}

/// Several at once, as one request where the node takes batches. Refusals are answers here: whoever wants another
/// node's word asks for it.
pub async fn forward_together(
    shared: &Shared,
    calls: &[Call],
    route: Route<'_>,
    batch: Option<&Arc<ByteBudget>>,
) -> Result<ForwardedTogether, Error> {
    Course::new(shared, calls, route, batch).run().await
}

/// Whether a write may go to another node when the first one broke off, and may have taken it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    Never,
    /// It is the same wherever it arrives, and counts once: a signed transaction's bytes.
    SameBytes,
}

pub async fn forward_once(
    shared: &Shared,
    forward: Forward<'_>,
    repeat: Repeat,
) -> Result<Forwarded, Error> {
    let (calls, lane) = ([forward.call], Lane::Interactive);
    let Route { needs, not, .. } = forward.route;
    let choice = Choice { needs: &needs, lane };
    let mut tried = not.to_vec();
    let mut last = None;
    let mut may_be_known = false;
    let mut next = first_pick(shared, choice, &tried).await;
    while let Some((id, member)) = next.and_then(|id| Some((id, shared.member(id)?))) {
        let turn_by = shared.turn_by(lane);
        let asking = Asking { batch: forward.batch, turn_by, ..Asking::calls(lane) };
        let started = Instant::now();
        let result = member.upstream.call_many(&calls, asking).await;
        shared.met_by_client(id, &calls, &result, (started, Instant::now()));
        match result {
            Ok(answers) => {
                let together = ForwardedTogether { upstream: id, answers };
                return Ok(Forwarded { may_be_known, ..only(shared, together)? });
            }
            Err(error) => {
                shared.failed(id, &error, lane);
                tried.push(id);
                if !error.was_not_accepted() {
                    if repeat == Repeat::Never {
                        return Err(error);
                    }
                    may_be_known = true;
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
            let upstream = id.unwrap_or(UpstreamId(0));
            Ok(Forwarded { upstream, answer: Err(*failure), may_be_known: false })
        }
        other => Err(other),
    }
}

fn only(shared: &Shared, together: ForwardedTogether) -> Result<Forwarded, Error> {
    let ForwardedTogether { upstream, answers } = together;
    match answers.into_iter().next() {
        Some(answer) => Ok(Forwarded { upstream, answer, may_be_known: false }),
        None => Err(nobody(shared, &Needs::default())),
    }
}

/// The way of one question from node to node.
struct Course<'a> {
    shared: &'a Shared,
    calls: &'a [Call],
    route: Route<'a>,
    asking: Asking<'a>,
    /// The first call is all that was wanted: what one node refuses is asked of others.
    is_one_question: bool,
    tried: Vec<UpstreamId>,
    trials: u32,
    /// Under way, with when they began.
    running: Vec<(UpstreamId, Instant)>,
    /// An answer that another node might better; the first one is kept.
    answered: Option<ForwardedTogether>,
    error: Option<Error>,
}

/// One trial that ended.
struct Trial {
    id: UpstreamId,
    /// From when to when.
    time: (Instant, Instant),
    result: Result<Vec<CallResult>, Error>,
}

impl<'a> Course<'a> {
    fn new(
        shared: &'a Shared,
        calls: &'a [Call],
        route: Route<'a>,
        batch: Option<&'a Arc<ByteBudget>>,
    ) -> Self {
        let lane = Lane::Interactive;
        let asking = Asking { batch, turn_by: shared.turn_by(lane), ..Asking::calls(lane) };
        let (tried, running) = (Vec::new(), Vec::new());
        Self {
            shared,
            calls,
            route,
            asking,
            is_one_question: calls.len() == 1,
            tried,
            trials: 0,
            running,
            answered: None,
            error: None,
        }
    }

    async fn run(mut self) -> Result<ForwardedTogether, Error> {
        self.shared.hedges.earn();
        loop {
            let Some(id) = self.next().await else { return self.end() };
            let mut first = pin!(self.begin(id));
            let beside = match self.hedge_at() {
                None => Either::Left(first.as_mut().await),
                Some(at) => tokio::select! {
                    biased;
                    ended = first.as_mut() => Either::Left(ended),
                    () = sleep_until(at) => {
                        self.route.may_hedge = false;
                        Either::Right(self.hedge())
                    }
                },
            };
            let ended = match beside {
                Either::Left(ended) => ended,
                Either::Right(None) => first.await,
                Either::Right(Some(id)) => {
                    // Boxed: most calls have no second one, and would be as large as two.
                    let second = Box::pin(self.begin(id));
                    let (sooner, later) = select(first, second).await.factor_first();
                    if let Some(done) = self.judge(sooner)? {
                        return Ok(done);
                    }
                    later.await
                }
            };
            if let Some(done) = self.judge(ended)? {
                return Ok(done);
            }
        }
    }

    /// Who is asked next; waits where everybody was asked and nobody answered.
    async fn next(&mut self) -> Option<UpstreamId> {
        let trials_max = self.shared.config.attempts_max.max(self.shared.ids().count() as u32);
        if self.trials >= trials_max.clamp(1, TRIALS_MAX) {
            return None;
        }
        let choice = Choice { needs: &self.route.needs, lane: self.asking.lane };
        match self.shared.pick(choice, &self.avoid()) {
            Some(id) => Some(id),
            // Boxed: what hardly ever happens would be carried by every call.
            None => Box::pin(self.wait_for_next()).await,
        }
    }

    async fn wait_for_next(&mut self) -> Option<UpstreamId> {
        // Everybody was asked. An answer, even a refusal, is better than asking the same again.
        if self.answered.is_some() || self.is_too_late() {
            return None;
        }
        if !self.tried.is_empty() {
            sleep(AGAIN_AFTER * 2u32.saturating_pow(self.trials.min(5))).await;
            self.tried.clear();
        }
        let choice = Choice { needs: &self.route.needs, lane: self.asking.lane };
        first_pick(self.shared, choice, self.route.not).await
    }

    fn avoid(&self) -> Vec<UpstreamId> {
        [self.route.not, self.tried.as_slice()].concat()
    }

    fn begin(&mut self, id: UpstreamId) -> impl Future<Output = Trial> + use<'a> {
        self.trials += 1;
        self.tried.push(id);
        let started = Instant::now();
        self.running.push((id, started));
        let (shared, calls, asking) = (self.shared, self.calls, self.asking);
        async move {
            let result = match shared.member(id) {
                Some(member) => member.upstream.call_many(calls, asking).await,
                None => Err(nobody(shared, &Needs::default())),
            };
            Trial { id, time: (started, Instant::now()), result }
        }
    }

    /// When a second node is to be asked beside the one under way.
    fn hedge_at(&self) -> Option<Instant> {
        let may_hedge = self.route.may_hedge && self.shared.ids().len() > 1;
        let (id, started) = self.running.first().filter(|_| may_hedge)?;
        let usual = self.shared.usual_latency(*id, self.calls, HEDGE_QUANTILE);
        let wait = usual.map_or(HEDGE_UNKNOWN, |usual| usual.clamp(HEDGE_MIN, HEDGE_MAX));
        Some(*started + wait)
    }

    fn hedge(&self) -> Option<UpstreamId> {
        let choice = Choice { needs: &self.route.needs, lane: self.asking.lane };
        let now = Instant::now();
        let id = self.shared.best(choice, &self.avoid(), now)?;
        let member = self.shared.member(id)?;
        let mut record = member.clients();
        // Who is ill, lies or lacks what is asked for would be asked for nothing.
        if !ClientRank::of(&record, choice.needs, now).is_fit() || !self.shared.hedges.spend() {
            return None;
        }
        record.begin_trial(now);
        Some(id)
    }

    /// `Some` when this answer is final; an error only when no other node could do better.
    fn judge(&mut self, trial: Trial) -> Result<Option<ForwardedTogether>, Error> {
        let Trial { id, time, result } = trial;
        self.running.retain(|(running, _)| *running != id);
        let result = result.and_then(|answers| whole(answers, self.shared.label(id)));
        self.shared.met_by_client(id, self.calls, &result, time);
        match result {
            Ok(answers) => {
                self.learn_reach(id, &answers);
                let is_final =
                    !self.is_one_question || !answers.first().is_some_and(another_may_know);
                let together = ForwardedTogether { upstream: id, answers };
                if is_final {
                    // Whoever is still at it was asked first, and is slower.
                    for (slow, started) in &self.running {
                        self.shared.was_slow(*slow, started.elapsed());
                    }
                    return Ok(Some(together));
                }
                self.answered.get_or_insert(together);
                Ok(None)
            }
            Err(error) => {
                self.shared.failed(id, &error, self.asking.lane);
                tracing::debug!(chain = %self.shared.chain_label, upstream = %self.shared.label(id), error = %error_chain(&error), "request failed");
                if self.is_hopeless(&error) && self.running.is_empty() {
                    return Err(error);
                }
                self.error = Some(error);
                Ok(None)
            }
        }
    }

    /// Whether another node would not do better.
    fn is_hopeless(&self, error: &Error) -> bool {
        match error {
            // A heavy question, or a node that is ill: a second chance, not all nodes one by one.
            Error::Timeout { .. } | Error::TooLarge { bound: Bound::Answer, .. } => {
                self.trials > 1
                    && self.error.as_ref().is_some_and(|before| is_same_end(before, error))
            }
            // What has no room here has none whoever sends it.
            Error::TooLarge { .. } => true,
            other => !other.is_retryable(),
        }
    }

    fn learn_reach(&self, id: UpstreamId, answers: &[CallResult]) {
        let (Some(block), [answer]) = (self.route.needs.state_at(), answers) else { return };
        match answer {
            Ok(_) => self.shared.had_state(id, block),
            Err(failure) if failure.kind() == RpcFailureKind::StateMissing => {
                self.shared.lacks_state(id, block);
            }
            Err(_) => {}
        }
    }

    /// Whether nobody takes a call before its time is over.
    fn is_too_late(&self) -> bool {
        let Some(by) = self.asking.turn_by else { return false };
        let pause = match &self.error {
            Some(Error::RateLimited { retry_after, .. }) => retry_after.unwrap_or_default(),
            _ => Duration::ZERO,
        };
        Instant::now() + pause >= by
    }

    fn end(self) -> Result<ForwardedTogether, Error> {
        match (self.answered, self.error) {
            (Some(together), _) => Ok(together),
            (None, Some(error)) => Err(error),
            (None, None) => Err(nobody(self.shared, &self.route.needs)),
        }
    }
}

fn is_same_end(before: &Error, error: &Error) -> bool {
    std::mem::discriminant(before) == std::mem::discriminant(error)
}

/// Nobody here will read them, and a client must not be handed broken JSON.
fn whole(answers: Vec<CallResult>, label: &str) -> Result<Vec<CallResult>, Error> {
    for answer in answers.iter().flatten() {
        if let Err(why) = answer.check() {
            return Err(Error::Malformed { upstream: label.to_owned(), why });
        }
    }
    Ok(answers)
}
