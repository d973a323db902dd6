//! Whose turn it is at one upstream. Pure: told what happened and when, it lets waiting requests in.
//!
//! - The head goes first, always. One place is kept for it: where the limit is two or more the other lanes
//!   together leave one free, and right after the limit shrank the head may still have one request under way.
//!   With a limit of one it is next.
//! - Then clients, streams, history, each lane in the order in which its requests came. A lower lane that was
//!   passed over eight times goes next, so that it is slow under load and not stuck. The head is never made to
//!   wait for that: the chain's own pace bounds it.
//! - What ingest meets (refusals, timeouts, latency) steers the limit and the pause of all lanes. What clients
//!   or streams meet steers a limit and a pause of their own lane only, beneath the common ones.

use super::aimd::{Aimd, Pause, Success};
use super::verdict::{GateOptions, Verdict};
use crate::lane::{Lane, PerLane};
use model::token_bucket::TokenBucket;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// So many turns of higher lanes, and a waiting lane gets one.
const PASSED_OVER_MAX: u32 = 8;
/// Timers that differ by less are the same.
const TIMER_SLACK: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub struct Turns {
    node: Aimd,
    interactive: Aimd,
    stream: Aimd,
    /// A batch costs as many tokens as it has calls, since providers count calls.
    bucket: Option<TokenBucket>,
    per_second: f64,
    in_flight: PerLane<usize>,
    waiting: PerLane<VecDeque<Waiting>>,
    passed_over: PerLane<u32>,
}

#[derive(Debug)]
struct Waiting {
    ticket: Arc<Ticket>,
    calls: usize,
    /// When its owner will look again by itself; only the first of a lane does.
    wakes_at: Option<Instant>,
}

/// What a waiting request holds in its hand.
#[derive(Debug, Default)]
pub struct Ticket {
    granted: AtomicBool,
    /// Let in, or to look again when to wake.
    pub wake: Notify,
}

impl Ticket {
    pub fn is_granted(&self) -> bool {
        self.granted.load(Ordering::Acquire)
    }
}

/// A request that ended.
#[derive(Debug)]
pub struct EndedRequest {
    pub lane: Lane,
    pub started: Instant,
    pub verdict: Verdict,
}

#[derive(PartialEq)]
enum Entry {
    Open,
    Full,
    NotBefore(Instant),
}

impl Turns {
    pub fn new(options: GateOptions, now: Instant) -> Self {
        let per_second = options.requests_per_second.unwrap_or_default();
        Self {
            node: Aimd::new(options.max_concurrency),
            interactive: Aimd::wide_open(options.max_concurrency),
            stream: Aimd::wide_open(options.max_concurrency),
            bucket: TokenBucket::new(per_second, now.into_std()),
            per_second,
            in_flight: PerLane::default(),
            waiting: PerLane::default(),
            passed_over: PerLane::default(),
        }
    }

    /// Lets a request in where nobody waits and nothing stands in its way, and says whether it did.
    pub fn enter_now(&mut self, lane: Lane, calls: usize, now: Instant) -> bool {
        let is_free = self.waiting() == 0 && self.entry(lane, now) == Entry::Open;
        if is_free {
            self.let_one_in(lane, calls, now);
        }
        is_free
    }

    /// Queues a request and lets in whose turn it is; says when to look again, as `look_again` does.
    pub fn queue(
        &mut self,
        lane: Lane,
        calls: usize,
        ticket: &Arc<Ticket>,
        now: Instant,
    ) -> Option<Instant> {
        let waiting = Waiting { ticket: ticket.clone(), calls, wakes_at: None };
        self.waiting.get_mut(lane).push_back(waiting);
        self.look_again(lane, ticket, now)
    }

    /// When the ticket's owner has to look again, if only time stands in its way and nobody else looks.
    pub fn look_again(
        &mut self,
        lane: Lane,
        ticket: &Arc<Ticket>,
        now: Instant,
    ) -> Option<Instant> {
        self.let_in(now, Some(ticket));
        let first = self.waiting.get(lane).front()?;
        first.wakes_at.filter(|_| Arc::ptr_eq(&first.ticket, ticket))
    }

    /// A request gave up waiting, perhaps just when it was let in.
    pub fn gave_up(&mut self, lane: Lane, ticket: &Arc<Ticket>, now: Instant) {
        if ticket.is_granted() {
            self.make_room(lane);
        } else {
            self.waiting.get_mut(lane).retain(|it| !Arc::ptr_eq(&it.ticket, ticket));
        }
        self.let_in(now, None);
    }

    pub fn ended(&mut self, ended: &EndedRequest, now: Instant) {
        let (all, own) = (self.in_flight(), *self.in_flight.get(ended.lane));
        match ended.verdict {
            Verdict::Done { latency } if ended.lane.is_ingest() => {
                self.node.on_success(Success { latency, in_flight: all }, now);
            }
            Verdict::Done { .. } => {
                self.node.on_use(all);
                let success = Success { latency: None, in_flight: own };
                self.limiter(ended.lane).on_success(success, now);
            }
            Verdict::Refused { retry_after } => {
                let pause = retry_after.map_or(Pause::Backoff, Pause::Asked);
                self.limiter(ended.lane).on_overload(ended.started, pause, now);
            }
            Verdict::TooMuch => {
                self.limiter(ended.lane).on_overload(ended.started, Pause::None, now);
            }
            Verdict::Unrelated => {}
        }
        self.make_room(ended.lane);
        self.let_in(now, None);
    }

    pub fn limit(&self) -> usize {
        self.node.limit()
    }

    pub fn in_flight(&self) -> usize {
        Lane::ALL.into_iter().map(|lane| self.in_flight.get(lane)).sum()
    }

    pub fn waiting(&self) -> usize {
        Lane::ALL.into_iter().map(|lane| self.waiting.get(lane).len()).sum()
    }

    /// When the last pause that this lane keeps ends, which may be over.
    pub fn pause_end(&self, lane: Lane) -> Option<Instant> {
        self.node.pause_end().max(self.own(lane).and_then(Aimd::pause_end))
    }

    fn own(&self, lane: Lane) -> Option<&Aimd> {
        match lane {
            Lane::Interactive => Some(&self.interactive),
            Lane::Stream => Some(&self.stream),
            Lane::Head | Lane::History => None,
        }
    }

    /// What a refusal in this lane steers.
    fn limiter(&mut self, lane: Lane) -> &mut Aimd {
        match lane {
            Lane::Interactive => &mut self.interactive,
            Lane::Stream => &mut self.stream,
            Lane::Head | Lane::History => &mut self.node,
        }
    }

    fn make_room(&mut self, lane: Lane) {
        let in_flight = self.in_flight.get_mut(lane);
        *in_flight = in_flight.saturating_sub(1);
    }

    fn let_in(&mut self, now: Instant, asker: Option<&Arc<Ticket>>) {
        while let Some(lane) = self.next_lane(now) {
            let Some(next) = self.waiting.get_mut(lane).pop_front() else { break };
            self.let_one_in(lane, next.calls, now);
            next.ticket.granted.store(true, Ordering::Release);
            next.ticket.wake.notify_one();
        }
        self.set_timers(now, asker);
    }

    fn let_one_in(&mut self, lane: Lane, calls: usize, now: Instant) {
        if let Some(bucket) = self.bucket.as_mut() {
            bucket.take(calls as f64, now.into_std());
        }
        *self.in_flight.get_mut(lane) += 1;
        self.pass_over_below(lane);
    }

    fn next_lane(&mut self, now: Instant) -> Option<Lane> {
        let (mut first, mut owed) = (None, None);
        for lane in Lane::ALL {
            if self.waiting.get(lane).is_empty() || self.entry(lane, now) != Entry::Open {
                continue;
            }
            if lane == Lane::Head {
                return Some(lane);
            }
            first = first.or(Some(lane));
            if *self.passed_over.get(lane) >= PASSED_OVER_MAX {
                owed = owed.or(Some(lane));
            }
        }
        owed.or(first)
    }

    fn pass_over_below(&mut self, chosen: Lane) {
        *self.passed_over.get_mut(chosen) = 0;
        if chosen == Lane::Head {
            return;
        }
        for lane in Lane::ALL.into_iter().skip_while(|lane| *lane != chosen).skip(1) {
            if !self.waiting.get(lane).is_empty() {
                *self.passed_over.get_mut(lane) += 1;
            }
        }
    }

    fn entry(&mut self, lane: Lane, now: Instant) -> Entry {
        if let Some(until) = self.pause_end(lane).filter(|until| *until > now) {
            return Entry::NotBefore(until);
        }
        if !self.has_room(lane) {
            return Entry::Full;
        }
        // It may start while any token is left, so that a batch larger than the bucket is slow, not stuck. The
        // head may go a second's worth into debt, which the others then wait for.
        let needed = if lane == Lane::Head { 1.0 - self.per_second } else { 1.0 };
        let wait = self.bucket.as_mut().map(|bucket| bucket.wait_for(needed, now.into_std()));
        match wait {
            Some(wait) if !wait.is_zero() => Entry::NotBefore(now + wait),
            _ => Entry::Open,
        }
    }

    fn has_room(&self, lane: Lane) -> bool {
        let (limit, all, head) =
            (self.node.limit(), self.in_flight(), *self.in_flight.get(Lane::Head));
        let kept_for_head = usize::from(limit >= 2);
        if lane == Lane::Head {
            return all < limit || (head == 0 && kept_for_head > 0);
        }
        let is_within_own =
            self.own(lane).is_none_or(|own| *self.in_flight.get(lane) < own.limit());
        all < limit && all - head < limit - kept_for_head && is_within_own
    }

    /// Where only time stands in the way, the first of a lane must wake by itself.
    fn set_timers(&mut self, now: Instant, asker: Option<&Arc<Ticket>>) {
        for lane in Lane::ALL {
            if self.waiting.get(lane).is_empty() {
                continue;
            }
            let entry = self.entry(lane, now);
            let Some(first) = self.waiting.get_mut(lane).front_mut() else { continue };
            let Entry::NotBefore(at) = entry else {
                // Whoever makes room will look.
                first.wakes_at = None;
                continue;
            };
            if asker.is_some_and(|asker| Arc::ptr_eq(asker, &first.ticket)) {
                first.wakes_at = Some(at);
            } else if first.wakes_at.is_none_or(|set| set > at + TIMER_SLACK) {
                first.wakes_at = Some(at);
                first.ticket.wake.notify_one();
            }
        }
    }
}
