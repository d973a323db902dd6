//! A store with streams and what they have to send, and a directory that is as obedient as the real one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use alloy_primitives::B256;
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use model::chain::ChainId;
use store::{
    AttemptLog, AttemptsQuery, Delivery, DeliveryKind, DeliveryMeta, NewDelivery, Options, Reader,
    RecordCounts, Start, Store, StreamChange, StreamId, StreamRow,
};
use streams::delivery::{Deliverer, DeliveryConfig, Directory, StatusChange, TargetInfo};
use streams::signature::Secrets;

use crate::receiver::Receiver;

pub const SECRET: &str = "a secret of tests";
const CHAIN: ChainId = ChainId(1337);

pub struct World {
    pub store: Store,
    pub directory: Arc<TestDirectory>,
    matcher: tokio::sync::Mutex<Reader>,
    _folder: tempfile::TempDir,
}

#[derive(Default)]
pub struct TestDirectory {
    pub streams: Mutex<BTreeMap<StreamId, TargetInfo>>,
    pub changes: Mutex<Vec<(StreamId, StatusChange, String)>>,
}

impl Directory for TestDirectory {
    fn target(&self, id: StreamId) -> Option<TargetInfo> {
        self.streams.lock().unwrap().get(&id).cloned()
    }

    fn sending(&self) -> Vec<StreamId> {
        let streams = self.streams.lock().unwrap();
        streams.iter().filter(|(_, target)| target.is_sending).map(|(id, _)| *id).collect()
    }

    fn change_status(&self, id: StreamId, to: StatusChange, message: String) -> BoxFuture<'_, ()> {
        self.change(id, |target| target.is_sending = false);
        self.changes.lock().unwrap().push((id, to, message));
        async {}.boxed()
    }

    fn record_rate(&self, id: StreamId, rate: u8) {
        self.change(id, |target| target.success_rate = rate);
    }
}

impl TestDirectory {
    pub fn change(&self, id: StreamId, change: impl FnOnce(&mut TargetInfo)) {
        change(self.streams.lock().unwrap().get_mut(&id).unwrap());
    }

    /// Of the streams as they are; what happens to one is not seen in the other.
    pub fn copy(&self) -> Self {
        let streams = self.streams.lock().unwrap().clone();
        TestDirectory { streams: Mutex::new(streams), changes: Mutex::default() }
    }

    pub fn changes(&self) -> Vec<(StreamId, StatusChange, String)> {
        self.changes.lock().unwrap().clone()
    }
}

pub fn stream_id(number: u64) -> StreamId {
    let mut id = [7; 16];
    id[8..].copy_from_slice(&number.to_be_bytes());
    StreamId::from(id)
}

/// Retries come at once, and this machine may be sent to.
pub fn config() -> DeliveryConfig {
    DeliveryConfig {
        retry_s: vec![0; 50],
        timeout_ms: 30_000,
        allow_private_targets: vec!["127.0.0.1".parse().unwrap()],
        ..DeliveryConfig::default()
    }
}

impl World {
    pub async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = Options {
            durable: false,
            memory_bytes: 32 << 20,
            free_bytes_min: Some(1),
            ..Options::new(folder.path().join("store"))
        };
        let store = Store::open(&options, |_| ()).await.unwrap();
        let matcher = Reader::open(&store, "matcher", CHAIN, Start::Block(1)).await.unwrap();
        let matcher = tokio::sync::Mutex::new(matcher);
        World { store, directory: Arc::default(), matcher, _folder: folder }
    }

    /// With one stream to that receiver, which has so many deliveries.
    pub async fn with_stream(receiver: &Receiver, deliveries: u64) -> (Self, StreamId) {
        let world = World::new().await;
        let stream = world.add_stream(1, &receiver.url).await;
        world.deliver(stream, deliveries).await;
        (world, stream)
    }

    pub async fn add_stream(&self, number: u64, url: &str) -> StreamId {
        let id = stream_id(number);
        let row = StreamRow { id, tenant: "ours".into(), body: b"{}".to_vec() };
        self.store.put_stream(row).await.unwrap();
        let target = TargetInfo {
            tenant: "ours".into(),
            webhook_url: url.to_owned(),
            tag: "tag".into(),
            is_sending: true,
            secrets: Secrets::new(SECRET),
            region: "eu-central-1".into(),
            success_rate: 100,
        };
        self.directory.streams.lock().unwrap().insert(id, target);
        id
    }

    pub async fn deliver(&self, stream: StreamId, count: u64) -> Vec<Delivery> {
        self.deliver_padded(stream, &vec![0; count as usize]).await
    }

    /// Bodies with so many bytes more than they need.
    pub async fn deliver_padded(&self, stream: StreamId, more_bytes: &[usize]) -> Vec<Delivery> {
        let new = (0..).zip(more_bytes).map(|(number, bytes)| new_delivery(stream, number, *bytes));
        let deliveries = new.collect();
        let change = StreamChange { deliveries, ..StreamChange::default() };
        let mut matcher = self.matcher.lock().await;
        let mut cursor = matcher.committed().unwrap();
        cursor.seq += 1;
        let queued = matcher.commit_streams(cursor, change).await.unwrap();
        queued.into_iter().map(|queued| queued.delivery).collect()
    }

    pub fn start(&self, config: DeliveryConfig) -> Arc<Deliverer> {
        Deliverer::start(self.store.clone(), config, self.directory.clone()).unwrap()
    }

    pub async fn delivery(&self, stream: StreamId, seq: u64) -> Delivery {
        self.store.delivery(stream, seq).await.unwrap().unwrap()
    }

    pub async fn wait_for(
        &self,
        stream: StreamId,
        seq: u64,
        is_so: impl Fn(&Delivery) -> bool,
    ) -> Delivery {
        let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(180);
        loop {
            let delivery = self.delivery(stream, seq).await;
            if is_so(&delivery) {
                return delivery;
            }
            assert!(tokio::time::Instant::now() < deadline, "waited in vain: {delivery:?}");
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }

    /// Oldest first.
    pub async fn attempts(&self, stream: StreamId) -> Vec<(u64, AttemptLog)> {
        let query = AttemptsQuery {
            tenant: "ours".into(),
            stream: Some(stream),
            limit: 10_000,
            ..AttemptsQuery::default()
        };
        let page = self.store.attempts_page(query).await.unwrap();
        let mut attempts: Vec<_> = page.into_iter().map(|(at, _, log)| (at.seq, log)).collect();
        attempts.sort_by_key(|(seq, log)| (*seq, log.retries));
        attempts
    }

    pub fn activate(&self, deliverer: &Deliverer, stream: StreamId) {
        self.directory.change(stream, |target| target.is_sending = true);
        deliverer.wake(stream);
    }
}

fn new_delivery(stream: StreamId, number: u64, more_bytes: usize) -> NewDelivery {
    let more = "x".repeat(more_bytes);
    let meta = DeliveryMeta {
        chain: CHAIN,
        number,
        hash: B256::repeat_byte(9),
        kind: DeliveryKind::Confirmed,
        part: (1, 1),
        traces_missing: false,
        amends: None,
        counts: RecordCounts { txs: 1, logs: 2, internal_txs: 3 },
        created_ms: 0,
    };
    let body = format!(
        r#"{{"confirmed":true,"chainId":"0x539","abi":[],"streamId":"{stream}","tag":"tag{more}","retries":0,"block":{{"number":"{number}","hash":"","timestamp":""}},"logs":[],"txs":[]}}"#
    );
    NewDelivery { stream, meta, body: Bytes::from(body) }
}
