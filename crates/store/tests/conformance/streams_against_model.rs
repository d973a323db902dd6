//! Random commits, attempts, replays, removals, pruning, restarts and crashes of some streams: after each step
//! queues, deliveries, retries and lists are those of a plain model, and the check finds nothing.

use std::collections::{BTreeMap, BTreeSet};

use alloy_primitives::B256;
use proptest::prelude::*;
use proptest::sample::Index;
use store::{
    AttemptOf, AttemptsQuery, Delivery, FailedQuery, QueueState, StreamId, StreamTotals,
    delivery_digest,
};

use crate::engine::{Choices, Engine, on_every_engine_at_random};
use crate::home::Home;
use crate::random;
use crate::stream_made::*;

on_every_engine_at_random!(streams_are_those_of_the_plain_model);

const IDS: [StreamId; 3] = [A, B, Z];

#[derive(Clone, Debug)]
enum Op {
    Deliver(Vec<usize>),
    /// Attempts end: of which delivery, and how.
    Attempts(Vec<(Index, End)>),
    Prune {
        age: u64,
        limit: usize,
    },
    Remove(usize),
    Put(usize),
    Reopen,
    Crash,
}

#[derive(Clone, Copy, Debug)]
enum End {
    Taken,
    Fails {
        due_in: u64,
    },
    GivenUp,
    /// No attempt was made; one is due now.
    Again,
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![
        3 => Just(End::Taken),
        3 => (0u64..50).prop_map(|due_in| End::Fails { due_in }),
        1 => Just(End::GivenUp),
        1 => Just(End::Again),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let attempts = prop::collection::vec((any::<Index>(), end()), 1..8);
    prop_oneof![
        6 => prop::collection::vec(0..IDS.len(), 0..6).prop_map(Op::Deliver),
        8 => attempts.prop_map(Op::Attempts),
        2 => (0u64..40, 0usize..6).prop_map(|(age, limit)| Op::Prune { age, limit }),
        1 => (0..IDS.len()).prop_map(Op::Remove),
        2 => (0..IDS.len()).prop_map(Op::Put),
        1 => Just(Op::Reopen),
        1 => Just(Op::Crash),
    ]
}

#[derive(Clone)]
struct Kept {
    delivery: Delivery,
    ended_ms: Option<u64>,
    /// When its last attempt failed, and after how many retries.
    failed: Option<(u64, u32)>,
}

impl Kept {
    fn waits(&self) -> bool {
        let state = &self.delivery.state;
        state.due_ms.is_some() || (state.delivered_ms.is_none() && !state.given_up)
    }
}

#[derive(Default)]
struct Stream {
    last_seq: u64,
    last_digest: B256,
    tried_seq: u64,
    tried: BTreeSet<u64>,
    totals: StreamTotals,
    kept: BTreeMap<u64, Kept>,
}

#[derive(Default)]
struct Model {
    streams: BTreeMap<StreamId, Stream>,
    /// Newest first as the lists show them: when, stream, number, retries, and whether it failed.
    attempts: BTreeMap<(u64, StreamId, u64, u32), bool>,
    now_ms: u64,
}

impl Model {
    fn deliver(&mut self, id: StreamId, number: u64) -> Option<Delivery> {
        let stream = self.streams.get_mut(&id)?;
        let new = confirmed(id, number);
        let (seq, previous_digest) = (stream.last_seq + 1, stream.last_digest);
        let digest = delivery_digest(previous_digest, seq, &new.body);
        (stream.last_seq, stream.last_digest) = (seq, digest);
        stream.totals.txs += 1;
        stream.totals.logs += 10;
        stream.totals.internal_txs += 100;
        let delivery = Delivery {
            stream: id,
            seq,
            meta: new.meta,
            body_bytes: new.body.len() as u64,
            digest,
            previous_digest,
            state: Default::default(),
        };
        let kept = Kept { delivery: delivery.clone(), ended_ms: None, failed: None };
        stream.kept.insert(seq, kept);
        Some(delivery)
    }

    fn record(&mut self, (id, seq): (StreamId, u64), end: End) -> Option<store::AttemptRecord> {
        self.now_ms += 3;
        let now_ms = self.now_ms;
        let stream = self.streams.get_mut(&id)?;
        let kept = stream.kept.get_mut(&seq)?;
        let attempts = kept.delivery.state.attempts + 1;
        let mut record = match end {
            End::Taken => delivered((id, seq), attempts, now_ms),
            End::Fails { due_in } => failed((id, seq), attempts, now_ms, Some(now_ms + due_in)),
            End::GivenUp => failed((id, seq), attempts, now_ms, None),
            End::Again => {
                let mut again = failed((id, seq), attempts - 1, now_ms, Some(now_ms));
                again.log = None;
                again
            }
        };
        record.tenant = "ours".to_owned();
        // Those who made an attempt know of what; others need not.
        record.of = seq.is_multiple_of(2).then(|| AttemptOf::new(&kept.delivery));
        kept.delivery.state = record.state.clone();
        kept.ended_ms = (!kept.waits()).then_some(now_ms);
        if let Some(log) = &record.log {
            let is_failed = log.error.is_some();
            kept.failed = is_failed.then_some((now_ms, log.retries));
            self.attempts.insert((now_ms, id, seq, log.retries), is_failed);
            if is_failed {
                stream.totals.webhooks_failed += 1;
            } else {
                stream.totals.webhooks_delivered += 1;
            }
        }
        if record.state.attempts > 0 {
            stream.tried.insert(seq);
        }
        while stream.tried.contains(&(stream.tried_seq + 1)) {
            stream.tried_seq += 1;
        }
        Some(record)
    }

    fn prune(&mut self, before_ms: u64, limit: usize) -> usize {
        let mut old = Vec::new();
        for (id, stream) in &self.streams {
            let is_tried = |seq: &u64| *seq <= stream.tried_seq;
            for (seq, kept) in stream.kept.iter().filter(|(seq, _)| is_tried(seq)) {
                old.extend(kept.ended_ms.filter(|at| *at < before_ms).map(|at| (at, *id, *seq)));
            }
        }
        old.sort();
        old.truncate(limit);
        for (_, id, seq) in &old {
            self.streams.get_mut(id).unwrap().kept.remove(seq);
        }
        self.attempts.retain(|(at_ms, ..), _| *at_ms >= before_ms);
        old.len()
    }

    fn queue(&self, id: StreamId) -> QueueState {
        let Some(stream) = self.streams.get(&id) else { return QueueState::default() };
        let waiting: Vec<_> = stream.kept.values().filter(|kept| kept.waits()).collect();
        QueueState {
            last_seq: stream.last_seq,
            last_digest: stream.last_digest,
            tried_seq: stream.tried_seq,
            waiting_bytes: waiting.iter().map(|kept| kept.delivery.body_bytes).sum(),
            waiting: waiting.len() as u64,
        }
    }

    fn kept(&self) -> impl Iterator<Item = (StreamId, u64, &Kept)> {
        let streams = self.streams.iter();
        streams.flat_map(|(id, stream)| stream.kept.iter().map(|(seq, kept)| (*id, *seq, kept)))
    }
}

struct World {
    home: Home,
    model: Model,
    number: u64,
}

impl World {
    async fn new(engine: Engine) -> Self {
        let choices = Choices { durable: true, ..Choices::default() };
        let home = Home::with(engine, choices).await;
        let mut world = World { home, model: Model::default(), number: 0 };
        for at in 0..IDS.len() {
            world.run(Op::Put(at)).await;
        }
        world
    }

    async fn run(&mut self, op: Op) {
        match op {
            Op::Deliver(of) => {
                self.number += 1;
                let new = of.iter().map(|at| confirmed(IDS[*at], self.number)).collect();
                let mut matcher = Matcher::open(self.home.store(), "live").await;
                let made = matcher.deliver(new).await;
                let number = self.number;
                let expected: Vec<_> =
                    of.iter().filter_map(|at| self.model.deliver(IDS[*at], number)).collect();
                assert_eq!(made, expected);
            }
            Op::Attempts(ends) => {
                let mut records = Vec::new();
                for (at, end) in ends {
                    let all: Vec<_> = self.model.kept().map(|(id, seq, _)| (id, seq)).collect();
                    if !all.is_empty() {
                        records.extend(self.model.record(*at.get(&all), end));
                    }
                }
                self.home.store().record_attempts(records).await.unwrap();
            }
            Op::Prune { age, limit } => {
                let before_ms = self.model.now_ms.saturating_sub(age);
                let pruned = self.home.store().prune_deliveries(before_ms, limit).await.unwrap();
                assert_eq!(pruned, self.model.prune(before_ms, limit));
            }
            Op::Remove(at) => {
                let removed = self.home.store().remove_stream(IDS[at]).await.unwrap();
                assert_eq!(removed, self.model.streams.remove(&IDS[at]).is_some());
                self.model.attempts.retain(|(_, id, ..), _| *id != IDS[at]);
            }
            Op::Put(at) => {
                self.home.store().put_stream(stream(IDS[at], "ours")).await.unwrap();
                self.model.streams.entry(IDS[at]).or_default();
            }
            Op::Reopen => self.home.reopen().await,
            Op::Crash => self.home.crash().await,
        }
    }

    async fn compare(&self) {
        let (store, model) = (self.home.store(), &self.model);
        for id in IDS {
            assert_eq!(store.stream_queue(id).await.unwrap(), model.queue(id));
            let kept = model.kept().filter(|(of, ..)| *of == id);
            let kept: Vec<_> = kept.map(|(.., kept)| kept.delivery.clone()).collect();
            assert_eq!(store.deliveries(id, 0, usize::MAX).await.unwrap(), kept);
            let totals = model.streams.get(&id).map(|stream| stream.totals).unwrap_or_default();
            assert_eq!(store.stream_totals(id).await.unwrap(), totals);
        }
        let due = |(id, seq, kept): (_, _, &Kept)| Some((kept.delivery.state.due_ms?, id, seq));
        let due: BTreeSet<_> = model.kept().filter_map(due).collect();
        let found = store.due_retries(u64::MAX, BTreeSet::new(), usize::MAX).await.unwrap();
        assert_eq!(found, due.into_iter().collect::<Vec<_>>());
        self.compare_lists().await;
        let report = store.check(|_| ()).await.unwrap();
        assert!(report.holds(), "{report:?}");
    }

    /// Times are unique in this test: newest first is their order.
    async fn compare_lists(&self) {
        let (store, model) = (self.home.store(), &self.model);
        let (tenant, limit) = ("ours".to_owned(), usize::MAX);
        let query = AttemptsQuery { tenant: tenant.clone(), limit, ..Default::default() };
        let found = store.attempts_page(query).await.unwrap();
        let found = found.iter().map(|(at, ..)| (at.at_ms, at.stream, at.seq, at.retries));
        let is_kept = |id: &StreamId, seq: &u64| {
            model.streams.get(id).is_some_and(|stream| stream.kept.contains_key(seq))
        };
        let shown = model.attempts.keys().rev().filter(|(_, id, seq, _)| is_kept(id, seq));
        assert_eq!(found.collect::<Vec<_>>(), shown.copied().collect::<Vec<_>>());
        let query = FailedQuery { tenant, limit, ..Default::default() };
        let found = store.failed_page(query).await.unwrap();
        let found = found.iter().map(|(at, ..)| (at.at_ms, at.stream, at.seq, at.retries));
        let place = |(id, seq, kept): (_, _, &Kept)| {
            kept.failed.map(|(at_ms, retries)| (at_ms, id, seq, retries))
        };
        let failed: BTreeSet<_> = model.kept().filter_map(place).collect();
        assert_eq!(found.collect::<Vec<_>>(), failed.into_iter().rev().collect::<Vec<_>>());
    }
}

fn streams_are_those_of_the_plain_model(engine: Engine) {
    let cases = if std::env::var_os("HEADWATER_LONG").is_some() { 400 } else { 24 };
    let case = prop::collection::vec(op(), 1..40);
    random::check(&random::runtime(), cases, case, async |ops| {
        let mut world = World::new(engine).await;
        for op in ops {
            world.run(op).await;
            world.compare().await;
        }
    });
}
