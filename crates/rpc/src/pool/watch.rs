//! The background task of one upstream: probes it, follows its head, tries it again when left out.

use super::health::State;
use super::shared::{Member, Shared};
use crate::call::Call;
use crate::error::{Error, error_chain};
use crate::head::Head;
use crate::lane::Lane;
use crate::probe::{self, Failure};
use crate::upstream::{HeadEvent, HeadSubscription, Upstream};
use crate::upstream_id::UpstreamId;
use alloy_primitives::B256;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tasks::{TaskEnd, endless, keep_running};
use tokio::time::{Instant, sleep_until};

/// With a live subscription polling is only a check on it: so many times rarer, within a limit.
const CHECK_FACTOR: u32 = 10;
const CHECK_MAX: Duration = Duration::from_secs(30);
/// So many heads that the subscription told of are remembered.
const TOLD_HEADS: usize = 64;

/// Watches for as long as the pool is there, whatever happens to the watcher.
pub async fn keep(shared: Arc<Shared>, id: UpstreamId) {
    keep_started_by(&shared, id, || run(&shared, id)).await;
}

async fn keep_started_by<F: Future<Output = ()>>(
    shared: &Shared,
    id: UpstreamId,
    mut start: impl FnMut() -> F,
) {
    let tell = |end: TaskEnd| shared.watcher_ended(id, &end);
    let start = || endless(start());
    keep_running(shared.backoff(), || shared.is_closed(), start, tell).await;
}

async fn run(shared: &Shared, id: UpstreamId) {
    let Some(member) = shared.member(id) else { return };
    let mut watcher = Watcher::new(shared, member, id);
    while let Some(condition) = shared.condition(id) {
        let health = condition.health;
        if health.is_watched() {
            watcher.follow().await;
        } else if health.state == State::Drained {
            watcher.unsubscribe();
            member.wake.notified().await;
        } else if health.state == State::Starting || health.retry_at.is_none_or(is_past) {
            watcher.probe().await;
        } else if let Some(retry_at) = health.retry_at {
            watcher.unsubscribe();
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
    /// What the subscription told of, the newest last.
    told: VecDeque<(u64, B256)>,
    /// How many heads it told of since the poll under way began.
    told_meanwhile: u32,
    /// How many polls in a row saw what the subscription did not tell.
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
            told: VecDeque::new(),
            told_meanwhile: 0,
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
            Err(Failure::WrongChain { got }) => (State::WrongChain, wrong_chain(shared, &got)),
            Err(Failure::Useless(why)) => (State::Dead, why),
            Err(Failure::Unreachable(error)) => {
                shared.failed(self.id, &error, Lane::Head);
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
        let paused = self.member.upstream.gate.paused_until(Lane::Head);
        let poll_at = paused.map_or(self.poll_at, |until| until.max(self.poll_at));
        tokio::select! {
            event = next_event(&mut self.subscription) => self.handle_event(event),
            () = sleep_until(poll_at) => self.poll().await,
            () = self.member.wake.notified() => {}
        }
    }

    fn subscribe(&mut self) {
        self.told.clear();
        let backoff = self.shared.backoff();
        let target = self.member.upstream.heads_at();
        self.subscription =
            target.map(|target| HeadSubscription::start(target.clone(), self.id, backoff));
        self.set_subscribed(false);
    }

    fn unsubscribe(&mut self) {
        self.subscription = None;
        self.set_subscribed(false);
    }

    fn set_subscribed(&mut self, subscribed: bool) {
        self.subscribed = subscribed;
        let told = self.subscription.is_some().then_some(subscribed);
        self.shared.set_subscribed(self.id, told);
    }

    fn handle_event(&mut self, event: HeadEvent) {
        match event {
            HeadEvent::Subscribed => {
                self.set_subscribed(true);
                self.told.clear();
                // What happened before the subscription was in force.
                self.poll_at = Instant::now();
            }
            HeadEvent::Lost(why) => {
                self.set_subscribed(false);
                self.shared.noted(self.id, format!("new heads over the socket: {why}"));
                self.poll_at = Instant::now();
            }
            HeadEvent::Head(head) => {
                self.remember(head);
                self.told_meanwhile += 1;
                self.missed = 0;
                self.shared.saw_head(head);
                self.shared.succeeded(self.id, Lane::Head);
            }
        }
    }

    /// Asks for the head, while still listening to the subscription.
    async fn poll(&mut self) {
        let upstream = &self.member.upstream;
        let id = self.id;
        self.told_meanwhile = 0;
        let polled = latest(upstream, id);
        tokio::pin!(polled);
        let polled = loop {
            tokio::select! {
                polled = &mut polled => break polled,
                event = next_event(&mut self.subscription) => self.handle_event(event),
            }
        };
        let pause = if self.subscribed {
            (self.shared.poll_interval * CHECK_FACTOR).min(CHECK_MAX)
        } else {
            Duration::ZERO
        };
        self.poll_at = Instant::now() + pause.max(self.shared.poll_interval);
        match polled {
            Ok(head) => {
                self.shared.succeeded(id, Lane::Head);
                self.take_polled(head);
            }
            Err(error) => {
                // Looked at again soon, so that a dead node does not pass for a quiet chain.
                let soon = self.shared.backoff().min.min(self.shared.poll_interval);
                self.poll_at = Instant::now() + soon;
                self.shared.failed(id, &error, Lane::Head);
            }
        }
    }

    /// While subscribed, a poll is news only where the subscription did not tell: a block above, or another
    /// one at a height that it told of.
    fn take_polled(&mut self, head: Head) {
        let news = if self.subscribed { self.is_news(head) } else { PolledHead::News };
        match news {
            PolledHead::Known => self.missed = 0,
            // Which of the two came last cannot be told, so the node is asked once more.
            PolledHead::Unsure => self.poll_at = Instant::now() + self.shared.poll_interval,
            PolledHead::News => {
                if self.subscribed && self.told.is_empty() {
                    self.remember(head);
                } else if self.subscribed {
                    self.missed += 1;
                }
                self.shared.saw_head(head);
            }
        }
        if let (Some(subscription), 2..) = (&self.subscription, self.missed) {
            self.missed = 0;
            subscription.reconnect();
        }
    }

    fn is_news(&self, head: Head) -> PolledHead {
        let Some((newest, _)) = self.told.back() else { return PolledHead::News };
        if self.told.contains(&(head.number, head.hash)) {
            return PolledHead::Known;
        }
        if head.number > *newest {
            return PolledHead::News;
        }
        if self.told_meanwhile > 0 { PolledHead::Unsure } else { PolledHead::News }
    }

    /// Keeps the one chain that was told last.
    fn remember(&mut self, head: Head) {
        self.told.retain(|(number, _)| *number < head.number);
        if let (None, Some(below)) = (self.told.back(), head.number.checked_sub(1)) {
            self.told.push_back((below, head.parent_hash));
        }
        if self.told.len() >= TOLD_HEADS {
            self.told.pop_front();
        }
        self.told.push_back((head.number, head.hash));
    }
}

fn wrong_chain(shared: &Shared, got: &str) -> String {
    format!("serves chain id {got}, expected {}", shared.chain_id)
}

/// Whether a node that is in use still serves the chain that it was found to serve.
pub async fn check_chain(shared: &Shared, id: UpstreamId) -> Result<(), Error> {
    let Some(member) = shared.member(id) else { return Ok(()) };
    let upstream = member.upstream.label.clone();
    match probe::check_chain(&member.upstream, shared.chain_id).await {
        Ok(()) => Ok(()),
        Err(Failure::WrongChain { got }) => {
            let why = wrong_chain(shared, &got);
            shared.left_out(id, State::WrongChain, why.clone());
            Err(Error::NoUpstream {
                chain: shared.chain_label.clone(),
                why: format!("{upstream} {why}"),
            })
        }
        Err(Failure::Useless(why)) => Err(Error::Malformed { upstream, why }),
        Err(Failure::Unreachable(error)) => Err(error),
    }
}

/// What a poll means beside a subscription.
enum PolledHead {
    /// The subscription told of it.
    Known,
    /// The subscription told of others while the poll was under way.
    Unsure,
    News,
}

async fn next_event(subscription: &mut Option<HeadSubscription>) -> HeadEvent {
    let event = match subscription {
        Some(running) => running.next().await,
        None => std::future::pending().await,
    };
    event.unwrap_or_else(|| {
        *subscription = None;
        HeadEvent::Lost("the subscription ended".to_owned())
    })
}

async fn latest(upstream: &Upstream, id: UpstreamId) -> Result<Head, Error> {
    let answer = upstream.poll(&Call::latest_block()).await?;
    let answer = answer.map_err(|e| upstream.malformed(format!("no latest block: {e}")))?;
    Head::parse(answer.json(), id).ok_or_else(|| upstream.malformed("latest block is no block"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{PoolConfig, UpstreamConfig};
    use crate::pool::{PoolOptions, status};

    #[tokio::test]
    async fn a_watcher_that_panics_is_shown_and_watches_again() {
        let nobody_there =
            std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let options = PoolOptions {
            chain_id: 1,
            chain_label: "eth".into(),
            upstreams: vec![UpstreamConfig::from_url(format!("http://{nobody_there}"))],
            config: PoolConfig { backoff_min_ms: 1, ..PoolConfig::default() },
            poll_interval: Duration::from_secs(1),
        };
        let (shared, id) = (Shared::new(options).unwrap(), UpstreamId(0));
        let mut panics = [true, false].into_iter();
        let shown = std::cell::RefCell::new(None);
        let start = || {
            let panics = panics.next().unwrap_or(false);
            if !panics {
                *shown.borrow_mut() = status::of(&shared).upstreams.pop();
            }
            let run = run(&shared, id);
            async move {
                assert!(!panics, "as if it met what nobody thought of");
                run.await;
            }
        };
        let mut changes = shared.changes();
        tokio::select! {
            () = keep_started_by(&shared, id, start) => panic!("it ended"),
            changed = changes.changed() => changed.unwrap(),
        }
        let shown = shown.into_inner().unwrap();
        assert_eq!((shown.state, shown.watcher_restarts), (State::Starting, 1));
        let error = shown.last_error.unwrap().error;
        assert!(error.contains("its watcher panicked: as if it met"), "{error}");
        let now = status::of(&shared).upstreams.pop().unwrap();
        assert_eq!(now.state, State::Dead, "it was probed by the watcher that came after");
    }
}
