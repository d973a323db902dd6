//! Subscriptions and filters of a chain that nobody stores: its nodes tell what is new.

use std::time::Duration;

use alloy_primitives::hex;
use futures_util::future::join_all;
use gateway::{Config, Session, TooSlow};
use serde_json::{Value, json};
use testkit::{Fault, Rule, SharedChain, SimNode};

use crate::setup::*;

async fn subscribed(rig: &Rig, session: &mut Session, params: Value) -> Value {
    let body = call(1, "eth_subscribe", params).to_string();
    let answer = session.answer(&rig.gateway, &rig.gateway.read(body.as_bytes())).await.unwrap();
    serde_json::from_slice(&answer).unwrap()
}

/// What a subscription is told until that holds.
async fn told(session: &mut Session, until: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    let mut told = Vec::new();
    while !until(&told) {
        let next = tokio::time::timeout(PATIENCE, session.next()).await.unwrap().unwrap();
        told.extend(next.iter().map(|text| serde_json::from_slice::<Value>(text).unwrap()));
    }
    told.iter().map(|event| event["params"].clone()).collect()
}

fn of<'a>(told: &'a [Value], id: &Value) -> Vec<&'a Value> {
    let its = told.iter().filter(|event| event["subscription"] == *id);
    its.map(|event| &event["result"]).collect()
}

fn hash_of(chain: &SharedChain, number: u64) -> String {
    testkit::read(chain).block(number).unwrap().hash.to_string()
}

/// The logs of a block as its receipts have them.
fn logs_of(chain: &SharedChain, number: u64) -> Vec<Value> {
    let receipts = testkit::read(chain).receipts_json(number).unwrap();
    let receipts: Vec<Value> = serde_json::from_slice(&receipts).unwrap();
    receipts.iter().flat_map(|receipt| receipt["logs"].as_array().unwrap().clone()).collect()
}

/// Whether the head with that hash was told.
fn has_head(told: &[Value], hash: &str) -> bool {
    told.iter().any(|event| event["params"]["result"]["hash"] == hash)
}

#[tokio::test]
async fn blocks_that_nobody_stores_come_and_go_for_subscribers_each_once() {
    let chain = simulated(30);
    let node = node(&chain).await;
    let rig = rig(Config::default(), &[node.url()]).await;
    rig.all_healthy().await;
    eventually("the head is seen", || rig.pool.head_number() == 30).await;
    let mut session = Session::new(CHAIN);
    // Logs first: a block's head is told after them, so all of it is there when its head is.
    let logs = subscribed(&rig, &mut session, json!(["logs", {}])).await["result"].clone();
    let heads = subscribed(&rig, &mut session, json!(["newHeads"])).await["result"].clone();
    testkit::write(&chain).extend(3);
    let last = hash_of(&chain, 33);
    let events = told(&mut session, |told| has_head(told, &last)).await;
    let hashes: Vec<String> = (31..=33).map(|number| hash_of(&chain, number)).collect();
    let told_heads: Vec<&Value> = of(&events, &heads).iter().map(|head| &head["hash"]).collect();
    assert_eq!(told_heads, hashes.iter().collect::<Vec<_>>());
    let expected: Vec<Value> = (31..=33).flat_map(|number| logs_of(&chain, number)).collect();
    assert!(!expected.is_empty());
    assert_eq!(of(&events, &logs), expected.iter().collect::<Vec<_>>());

    let gone: Vec<Value> = [33, 32].iter().flat_map(|number| logs_of(&chain, *number)).collect();
    testkit::write(&chain).reorg(2, 3);
    let last = hash_of(&chain, 34);
    let events = told(&mut session, |told| has_head(told, &last)).await;
    let told_heads: Vec<&Value> = of(&events, &heads).iter().map(|head| &head["hash"]).collect();
    let hashes: Vec<String> = (32..=34).map(|number| hash_of(&chain, number)).collect();
    assert_eq!(told_heads, hashes.iter().collect::<Vec<_>>());
    let told_logs = of(&events, &logs);
    let (removed, came) = told_logs.split_at(gone.len());
    for (log, gone) in removed.iter().zip(&gone) {
        assert_eq!((&log["removed"], &log["blockHash"]), (&json!(true), &gone["blockHash"]));
    }
    let expected: Vec<Value> = (32..=34).flat_map(|number| logs_of(&chain, number)).collect();
    assert_eq!(came, expected.iter().collect::<Vec<_>>());
}

#[tokio::test]
async fn nobody_is_asked_for_what_nobody_listens_to() {
    let chain = simulated(30);
    let node = node(&chain).await;
    let rig = rig(Config::default(), &[node.url()]).await;
    rig.all_healthy().await;
    let mut session = Session::new(CHAIN);
    subscribed(&rig, &mut session, json!(["newHeads"])).await;
    testkit::write(&chain).extend(1);
    let last = hash_of(&chain, 31);
    told(&mut session, |told| has_head(told, &last)).await;
    drop(session);
    let asked = node.faults.requests("eth_getBlockReceipts");
    testkit::write(&chain).extend(5);
    eventually("the new head is seen", || rig.pool.head_number() == 36).await;
    assert_eq!(node.faults.requests("eth_getBlockReceipts"), asked);
    // Whoever comes next is told from then on.
    let mut session = Session::new(CHAIN);
    let heads = subscribed(&rig, &mut session, json!(["newHeads"])).await["result"].clone();
    testkit::write(&chain).extend(1);
    let last = hash_of(&chain, 37);
    let events = told(&mut session, |told| has_head(told, &last)).await;
    assert_eq!(of(&events, &heads).len(), 1);
}

#[tokio::test]
async fn a_subscriber_that_takes_nothing_is_let_go() {
    let chain = simulated(30);
    let node = node(&chain).await;
    let rig = rig(Config::default(), &[node.url()]).await;
    rig.all_healthy().await;
    let (mut slow, mut quick) = (Session::new(CHAIN), Session::new(CHAIN));
    for session in [&mut slow, &mut quick] {
        subscribed(&rig, session, json!(["newHeads"])).await;
    }
    for _ in 0..4 {
        testkit::write(&chain).extend(80);
        let head = testkit::read(&chain).head_number();
        let last = hash_of(&chain, head);
        told(&mut quick, |told| has_head(told, &last)).await;
    }
    assert_eq!(slow.next().await, Err(TooSlow));
}

#[tokio::test]
async fn pending_transactions_are_told_as_a_node_tells_them_and_another_goes_on() {
    let chain = simulated(30);
    let mut nodes = [node(&chain).await, node(&chain).await];
    let rig = rig(Config::default(), &nodes.each_ref().map(SimNode::ws_url)).await;
    rig.all_healthy().await;
    let mut session = Session::new(CHAIN);
    let hashes = subscribed(&rig, &mut session, json!(["newPendingTransactions"])).await;
    let whole = subscribed(&rig, &mut session, json!(["newPendingTransactions", true])).await;
    testkit::write(&chain).extend(1);
    let txs: Vec<String> = {
        let chain = testkit::read(&chain);
        chain.block(31).unwrap().txs.iter().map(|tx| tx.hash.to_string()).collect()
    };
    let events = told(&mut session, |told| told.len() == 2 * txs.len()).await;
    assert_eq!(of(&events, &hashes["result"]), txs.iter().collect::<Vec<_>>());
    let told_hashes: Vec<&Value> =
        of(&events, &whole["result"]).iter().map(|tx| &tx["hash"]).collect();
    assert_eq!(told_hashes, txs.iter().collect::<Vec<_>>());
    // Each of them goes away once: the one that told, too.
    for node in &mut nodes {
        let address = node.address();
        let elsewhere = SimNode::start(chain.clone()).await.unwrap();
        std::mem::replace(node, elsewhere).stop().await;
        let goes_on = async {
            loop {
                testkit::write(&chain).extend(1);
                let next = tokio::time::timeout(Duration::from_millis(200), session.next()).await;
                if next.is_ok_and(|told| !told.unwrap().is_empty()) {
                    break;
                }
            }
        };
        tokio::time::timeout(PATIENCE, goes_on).await.unwrap();
        *node = SimNode::start_on(chain.clone(), address).await.unwrap();
        rig.all_healthy().await;
    }
}

#[tokio::test]
async fn pending_transactions_need_a_node_with_a_socket() {
    let chain = simulated(30);
    let node = node(&chain).await;
    let rig = rig(Config::default(), &[node.url()]).await;
    rig.all_healthy().await;
    let mut session = Session::new(CHAIN);
    let answer = subscribed(&rig, &mut session, json!(["newPendingTransactions"])).await;
    assert!(answer["error"]["message"].as_str().unwrap().contains("WebSocket"), "{answer}");
}

#[tokio::test]
async fn a_filter_is_asked_of_the_node_that_keeps_it_and_nobody_shares_one() {
    let chain = simulated(30);
    let nodes = [node(&chain).await, node(&chain).await];
    for (node, own, changes) in [(&nodes[0], "0xa", "0xaa"), (&nodes[1], "0xb", "0xbb")] {
        let reply = |json: Value, method: &str| {
            Rule::new(Fault::Reply(json.to_string())).on_methods([method])
        };
        node.faults.add(reply(json!(own), "eth_newBlockFilter"));
        node.faults.add(reply(json!([changes]), "eth_getFilterChanges"));
        node.faults.add(reply(json!(true), "eth_uninstallFilter"));
    }
    let rig = rig(Config::default(), &nodes.each_ref().map(SimNode::url)).await;
    rig.all_healthy().await;
    let ids = join_all((0..20).map(|_| rig.ask("eth_newBlockFilter", json!([])))).await;
    let made = nodes.iter().map(|node| node.faults.requests("eth_newBlockFilter")).sum::<u64>();
    assert_eq!(made, 20, "each its own");
    for id in ids {
        let id = id["result"].as_str().unwrap();
        let text = String::from_utf8(hex::decode(id).unwrap()).unwrap();
        let expected = if text.contains("0xa") { "0xaa" } else { "0xbb" };
        let changes = rig.ask("eth_getFilterChanges", json!([id])).await;
        assert_eq!(changes["result"], json!([expected]));
        assert_eq!(rig.ask("eth_uninstallFilter", json!([id])).await["result"], true);
    }
    let unknown = rig.ask("eth_getFilterChanges", json!(["0xa"])).await;
    assert_eq!(unknown["error"]["code"], -32000, "{unknown}");
}
