//! What panics in matching or sending is begun again, can be seen meanwhile, and loses nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use alloy_primitives::{Address, B256, b256};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use model::chain::{ChainId, ChainTable, PrivateChain};
use model::raw::Block;
use model::token::Token;
use serde_json::{Value, json};
use store::{Change, Options, Origin, Store, StreamId, VerifiedBlock};
use streams::delivery::{Deliverer, Directory, StatusChange, TargetInfo};
use streams::{Config, SpamList, StreamChain, StreamOptions, Streams, TokenNames};
use testkit::{SimChain, SimConfig};

use crate::receiver::{Answer, Got, Receiver, wait_until};
use crate::world::{TestDirectory, World, config, stream_id};

/// Panics so often before it does its work.
#[derive(Default)]
struct Faults {
    left: AtomicU32,
    seen: AtomicU32,
}

impl Faults {
    fn new(count: u32) -> Self {
        Faults { left: AtomicU32::new(count), seen: AtomicU32::new(0) }
    }

    fn pass(&self) {
        let take = |left: u32| left.checked_sub(1);
        if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
            self.seen.fetch_add(1, Ordering::Relaxed);
            panic!("as if it met what nobody thought of");
        }
    }

    fn seen(&self) -> u32 {
        self.seen.load(Ordering::Relaxed)
    }
}

struct FaultyDirectory {
    inner: Arc<TestDirectory>,
    faults: Faults,
}

impl Directory for FaultyDirectory {
    fn target(&self, id: StreamId) -> Option<TargetInfo> {
        self.faults.pass();
        self.inner.target(id)
    }

    fn sending(&self) -> Vec<StreamId> {
        self.inner.sending()
    }

    fn change_status(&self, id: StreamId, to: StatusChange, message: String) -> BoxFuture<'_, ()> {
        self.inner.change_status(id, to, message)
    }

    fn record_rate(&self, id: StreamId, rate: u8) {
        self.inner.record_rate(id, rate);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sending_goes_on_after_a_panic() {
    let fails_twice = |got: &Got| Answer::Status(if got.retries() < 2 { 500 } else { 200 });
    let receiver = Receiver::start(fails_twice).await;
    let (world, _) = World::with_stream(&receiver, 3).await;
    let faults = Faults::new(2);
    let directory = Arc::new(FaultyDirectory { inner: world.directory.clone(), faults });
    let deliverer = Deliverer::start(world.store.clone(), config(), directory.clone()).unwrap();
    wait_until("it is seen", || {
        let problems = deliverer.problems();
        problems.iter().any(|it| it.task.contains("webhooks") && it.reason.contains("panicked: as"))
    })
    .await;
    receiver.wait_for_taken(3).await;
    assert_eq!(directory.faults.seen(), 2);
    // Later panics meet retries, whoever makes them.
    directory.faults.left.store(3, Ordering::Relaxed);
    world.deliver(stream_id(1), 3).await;
    deliverer.wake(stream_id(1));
    receiver.wait_for_taken(6).await;
    wait_until("it gets on", || deliverer.problems().is_empty()).await;
    deliverer.stop().await;
}

struct FaultyTokens(Faults);

impl TokenNames for FaultyTokens {
    fn token(&self, _: ChainId, _: Address) -> BoxFuture<'_, Token> {
        self.0.pass();
        async { Token::default() }.boxed()
    }
}

const CHAIN: ChainId = ChainId(1337);

async fn store_block(store: &Store, chain: &SimChain, number: u64) {
    let mut block = Block::read(&chain.block_json(number, true).unwrap()).unwrap().unwrap();
    let receipts = serde_json::from_slice(&chain.receipts_json(number).unwrap()).unwrap();
    block.set_receipts(receipts).unwrap();
    let verified = VerifiedBlock { block, proof: Default::default(), facts: Default::default() };
    let apply = vec![store.prepare(CHAIN, verified)];
    store.commit(CHAIN, Change::apply(Origin::Head, apply)).await.unwrap();
}

/// Of a fungible token: two topics beside the event's.
fn has_transfer(chain: &SimChain, number: u64) -> bool {
    const TRANSFER: B256 =
        b256!("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef");
    let receipts: Value = serde_json::from_slice(&chain.receipts_json(number).unwrap()).unwrap();
    let mut logs =
        receipts.as_array().unwrap().iter().flat_map(|it| it["logs"].as_array().unwrap());
    logs.any(|log| {
        let topics = log["topics"].as_array().unwrap();
        topics.len() == 3 && topics[0] == TRANSFER.to_string()
    })
}

/// The blocks that deliveries are of; some are told twice, seen and confirmed.
fn told_blocks(receiver: &Receiver) -> BTreeSet<u64> {
    let deliveries = receiver.got().into_iter().filter(|it| !it.header("x-sequence").is_empty());
    let bodies = deliveries.map(|it| serde_json::from_slice::<Value>(&it.body).unwrap());
    bodies.map(|body| body["block"]["number"].as_str().unwrap().parse().unwrap()).collect()
}

fn transfers_to(url: &str) -> Vec<u8> {
    let input = |name: &str| {
        let kind = if name == "value" { "uint256" } else { "address" };
        json!({ "name": name, "type": kind, "indexed": name != "value" })
    };
    let inputs = ["from", "to", "value"].map(input);
    let transfer = json!({ "type": "event", "name": "Transfer", "inputs": inputs });
    let definition = json!({
        "webhookUrl": url, "description": "transfers", "tag": "t",
        "chainIds": [format!("{:#x}", CHAIN.0)], "includeContractLogs": true,
        "allAddresses": true, "topic0": ["Transfer(address,address,uint256)"], "abi": [transfer],
    });
    definition.to_string().into_bytes()
}

#[tokio::test(flavor = "multi_thread")]
async fn matching_goes_on_after_a_panic_and_loses_nothing() {
    let receiver = Receiver::start(|_| Answer::Status(200)).await;
    let folder = tempfile::tempdir().unwrap();
    let options = Options { durable: false, ..Options::new(folder.path().join("store")) };
    let store = Store::open(&options, |_| ()).await.unwrap();
    let table = ChainTable::builtin().unwrap();
    let table = table.with_private(PrivateChain::new(CHAIN, "sim")).unwrap();
    let chain = Arc::new(table.find("sim").unwrap().clone());
    let tokens = Arc::new(FaultyTokens(Faults::new(3)));
    let streams = Streams::start(StreamOptions {
        store: store.clone(),
        config: Config {
            allow_private_targets: config().allow_private_targets,
            ..Config::default()
        },
        chains: BTreeMap::from([(CHAIN, StreamChain { chain, pool: None })]),
        spam: SpamList::default(),
        tokens: tokens.clone(),
    });
    let streams = streams.await.unwrap();
    let mut chain = SimChain::new(SimConfig::seeded(5));
    chain.extend(30);
    store_block(&store, &chain, 1).await;
    streams.create("ours", &transfers_to(&receiver.url)).await.unwrap();
    let mut expected = BTreeSet::new();
    for number in 2..=30 {
        store_block(&store, &chain, number).await;
        if has_transfer(&chain, number) {
            expected.insert(number);
        }
    }
    assert!(expected.len() > 3, "{expected:?}");
    wait_until("it is seen", || {
        let problems = streams.problems();
        problems.iter().any(|it| it.task.contains("matching") && it.reason.contains("panicked: as"))
    })
    .await;
    wait_until("all are told", || told_blocks(&receiver).len() >= expected.len()).await;
    assert_eq!(told_blocks(&receiver), expected);
    assert_eq!(tokens.0.seen(), 3);
    wait_until("it gets on", || streams.problems().is_empty()).await;
    streams.stop().await;
}
