//! Streams, deliveries and attempts to write: small ones that can be told apart.

use alloy_primitives::B256;
use bytes::Bytes;
use model::chain::ChainId;
use store::{
    AttemptLog, AttemptRecord, Delivery, DeliveryKind, DeliveryMeta, DeliveryState, NewDelivery,
    NewMatch, Reader, RecordCounts, Start, Store, StreamChange, StreamId, StreamRow,
};

use crate::chain::CHAIN;

pub const A: StreamId = StreamId::repeat_byte(0xaa);
pub const B: StreamId = StreamId::repeat_byte(0xbb);
/// The highest id that there is: no key comes after its own.
pub const Z: StreamId = StreamId::repeat_byte(0xff);

pub fn stream(id: StreamId, tenant: &str) -> StreamRow {
    StreamRow { id, tenant: tenant.to_owned(), body: format!("{{\"id\":\"{id}\"}}").into_bytes() }
}

pub async fn put_streams(store: &Store, ids: &[StreamId]) {
    for id in ids {
        store.put_stream(stream(*id, "ours")).await.unwrap();
    }
}

pub fn hash(number: u64) -> B256 {
    B256::from(alloy_primitives::U256::from(number))
}

pub fn meta(kind: DeliveryKind, number: u64) -> DeliveryMeta {
    DeliveryMeta {
        chain: CHAIN,
        number,
        hash: hash(number),
        kind,
        part: (1, 1),
        traces_missing: false,
        amends: None,
        counts: RecordCounts { txs: 1, logs: 10, internal_txs: 100 },
        created_ms: number,
    }
}

pub fn confirmed(stream: StreamId, number: u64) -> NewDelivery {
    of_kind(DeliveryKind::Confirmed, stream, number)
}

pub fn of_kind(kind: DeliveryKind, stream: StreamId, number: u64) -> NewDelivery {
    let body = Bytes::from(format!("{kind:?} {number} of {stream}"));
    NewDelivery { stream, meta: meta(kind, number), body }
}

pub fn a_match(stream: StreamId, number: u64, first_delivery: Option<usize>) -> NewMatch {
    let part = |text: &'static str| (RecordCounts::default(), Bytes::from_static(text.as_bytes()));
    NewMatch {
        stream,
        number,
        hash: hash(number),
        traces_missing: number % 2 == 1,
        first_delivery,
        first_seq: None,
        parts: vec![part("first"), part("second")],
    }
}

/// A reader that moves one entry with each commit.
pub struct Matcher {
    pub reader: Reader,
}

impl Matcher {
    pub async fn open(store: &Store, name: &str) -> Self {
        let reader = Reader::open(store, name, CHAIN, Start::Block(1)).await.unwrap();
        Matcher { reader }
    }

    pub async fn try_commit(
        &mut self,
        change: StreamChange,
    ) -> Result<Vec<Delivery>, store::Error> {
        let mut cursor = self.reader.committed().unwrap();
        cursor.seq += 1;
        let queued = self.reader.commit_streams(cursor, change).await?;
        Ok(queued.into_iter().map(|queued| queued.delivery).collect())
    }

    pub async fn commit(&mut self, change: StreamChange) -> Vec<Delivery> {
        self.try_commit(change).await.unwrap()
    }

    pub async fn deliver(&mut self, deliveries: Vec<NewDelivery>) -> Vec<Delivery> {
        self.commit(StreamChange { deliveries, ..StreamChange::default() }).await
    }
}

fn record(of: (StreamId, u64), at_ms: u64, state: DeliveryState, failed: bool) -> AttemptRecord {
    let log = AttemptLog {
        webhook_url: "https://receiver.example/hook".to_owned(),
        tag: "tag".to_owned(),
        retries: state.attempts.saturating_sub(1),
        error: failed.then(|| format!("500 at {at_ms}")),
    };
    let tenant = "ours".to_owned();
    AttemptRecord { tenant, stream: of.0, seq: of.1, state, log: Some(log), at_ms, of: None }
}

/// The attempt of that number failed; the next is due then, or never.
pub fn failed(
    of: (StreamId, u64),
    attempts: u32,
    at_ms: u64,
    due_ms: Option<u64>,
) -> AttemptRecord {
    let error = Some(format!("500 at {at_ms}"));
    let given_up = due_ms.is_none();
    let state = DeliveryState { attempts, due_ms, delivered_ms: None, given_up, error };
    record(of, at_ms, state, true)
}

pub fn delivered(of: (StreamId, u64), attempts: u32, at_ms: u64) -> AttemptRecord {
    let delivered_ms = Some(at_ms);
    let state = DeliveryState { attempts, delivered_ms, ..DeliveryState::default() };
    record(of, at_ms, state, false)
}

pub const OTHER_CHAIN: ChainId = ChainId(77);
