//! The background task of one upstream: probes it, follows its head, tries it again when left out.

use super::health::State;
use super::shared::{Member, Shared};
use crate::call::Call;
use crate::error::{Error, error_chain};
use crate::head::Head;
use crate::probe::{self, Failure};
use crate::upstream::{HeadEvent, HeadSubscription, Priority, Upstream};
use crate::upstream_id::UpstreamId;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// With a live subscription polling is only a check on it: so many times rarer, within a limit.
const CHECK_FACTOR: u32 = 10;
const CHECK_MAX: Duration = Duration::from_secs(30);

pub async fn run(shared: Arc<Shared>, id: UpstreamId) {
    let Some(member) = shared.member(id) else { return };
    let mut watcher = Watcher::new(&shared, member, id);
    while let Some(condition) = shared.condition(id) {
        let health = condition.health;
        if health.is_watched() {
            watcher.follow().await;
        } else if health.state == State::Drained {
            watcher.subscription = None;
            member.wake.notified().await;
        } else if health.state == State::Starting || health.retry_at.is_none_or(is_past) {
            watcher.probe().await;
        } else if let Some(retry_at) = health.retry_at {
            watcher.subscription = None;
            tokio::select! {
                () = sleep_until(retry_at) => {}
                () = member.wake.notified() => {}
            }
        }
    }
}

fn is_past(at: Instant) -> bool {
    at <= Instant::now()
}

struct Watcher<'a> {
    shared: &'a Shared,
    member: &'a Member,
    id: UpstreamId,
    subscription: Option<HeadSubscription>,
    subscribed: bool,
    /// The newest head the subscription told of.
    subscribed_head: Option<u64>,
    /// How many polls in a row saw more than the subscription told.
    missed: u32,
    poll_at: Instant,
}

impl<'a> Watcher<'a> {
    fn new(shared: &'a Shared, member: &'a Member, id: UpstreamId) -> Self {
        let poll_at = Instant::now();
        Self {
            shared,
            member,
            id,
            subscription: None,
            subscribed: false,
            subscribed_head: None,
            missed: 0,
            poll_at,
        }
    }

    async fn probe(&mut self) {
        let (shared, upstream) = (self.shared, &self.member.upstream);
        let expected = shared.expected(self.member);
        let (state, reason) = match probe::probe(upstream, self.id, expected).await {
            Ok(probed) => {
                self.poll_at = Instant::now() + shared.poll_interval;
                return shared.probed(self.id, probed);
            }
            Err(Failure::WrongChain { got }) => {
                let wanted = shared.chain_id;
                (State::WrongChain, format!("serves chain id {got}, expected {wanted}"))
            }
            Err(Failure::Useless(why)) => (State::Dead, why),
            Err(Failure::Unreachable(error)) => {
                shared.failed(self.id, &error, Priority::Immediate);
                let state = match error {
                    Error::Timeout { .. } => State::Slow,
                    Error::RateLimited { .. } => State::RateLimited,
                    _ => State::Dead,
                };
                (state, error_chain(&error))
            }
        };
        shared.left_out(self.id, state, reason);
    }

    /// Waits for one thing to happen: a head is told, a poll is due, or the state was changed.
    async fn follow(&mut self) {
        if self.subscription.is_none() {
            self.subscribe();
        }
        let paused = self.member.upstream.gate.paused_until();
        let poll_at = paused.map_or(self.poll_at, |until| until.max(self.poll_at));
        tokio::select! {
            event = next_event(&mut self.subscription) => self.handle_event(event),
            () = sleep_until(poll_at) => self.poll().await,
            () = self.member.wake.notified() => {}
        }
    }

    fn subscribe(&mut self) {
        self.subscribed = false;
        self.subscribed_head = None;
        let backoff = self.shared.backoff();
        self.subscription = self.member.upstream.heads_at().map(|target| {
            HeadSubscription::start(target.clone(), self.id, backoff.min..backoff.max)
        });
    }

    fn handle_event(&mut self, event: HeadEvent) {
        match event {
            HeadEvent::Subscribed => {
                self.subscribed = true;
                self.subscribed_head = None;
                // What happened before the subscription was in force.
                self.poll_at = Instant::now();
            }
            HeadEvent::Lost => {
                self.subscribed = false;
                self.poll_at = Instant::now();
            }
            HeadEvent::Head(head) => {
                self.subscribed_head = Some(head.number);
                self.missed = 0;
                self.shared.saw_head(head);
                self.shared.succeeded(self.id);
            }
        }
    }

    /// Asks for the head, while still listening to the subscription.
    async fn poll(&mut self) {
        let upstream = &self.member.upstream;
        let id = self.id;
        let polled = latest(upstream, id);
        tokio::pin!(polled);
        let polled = loop {
            tokio::select! {
                polled = &mut polled => break polled,
                event = next_event(&mut self.subscription) => self.handle_event(event),
            }
        };
        let pause = match self.subscribed {
            true => (self.shared.poll_interval * CHECK_FACTOR).min(CHECK_MAX),
            false => Duration::ZERO,
        };
        self.poll_at = Instant::now() + pause.max(self.shared.poll_interval);
        match polled {
            Ok(head) => {
                self.shared.succeeded(id);
                self.take_polled(head);
            }
            Err(error) => {
                // Looked at again soon, so that a dead node does not pass for a quiet chain.
                let soon = self.shared.backoff().min.min(self.shared.poll_interval);
                self.poll_at = Instant::now() + soon;
                self.shared.failed(id, &error, Priority::Immediate);
            }
        }
    }

    /// A poll can be older than what the subscription told meanwhile; then it is not news.
    fn take_polled(&mut self, head: Head) {
        match self.subscribed_head {
            Some(told) if self.subscribed && head.number <= told => self.missed = 0,
            Some(_) if self.subscribed => {
                self.missed += 1;
                self.shared.saw_head(head);
            }
            _ => {
                self.subscribed_head = self.subscribed.then_some(head.number);
                self.shared.saw_head(head);
            }
        }
        if let (Some(subscription), 2..) = (&self.subscription, self.missed) {
            self.missed = 0;
            subscription.reconnect();
        }
    }
}

async fn next_event(subscription: &mut Option<HeadSubscription>) -> HeadEvent {
    let event = match subscription {
        Some(running) => running.next().await,
        None => std::future::pending().await,
    };
    event.unwrap_or_else(|| {
        *subscription = None;
        HeadEvent::Lost
    })
}

async fn latest(upstream: &Upstream, id: UpstreamId) -> Result<Head, Error> {
    let answer = upstream.call(&Call::latest_block(), Priority::Immediate).await?;
    let answer = answer.map_err(|e| upstream.malformed(format!("no latest block: {e}")))?;
    Head::parse(answer.json(), id).ok_or_else(|| upstream.malformed("latest block is no block"))
}
