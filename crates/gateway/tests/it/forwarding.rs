//! How calls travel: once, together, in parts, to the node that has the state, and never with two heads.

use std::time::Duration;

use futures_util::future::join_all;
use gateway::{Config, Source};
use serde_json::{Value, json};
use testkit::{Fault, Rule, SimNode, Tamper};

use crate::setup::*;

async fn one_node(blocks: u64) -> (Rig, SimNode) {
    let node = node(&simulated(blocks)).await;
    let rig = rig(Config::default(), &[node.url()]).await;
    rig.all_healthy().await;
    (rig, node)
}

/// Nobody is asked for its head meanwhile, so that the first node is the first to be asked.
async fn unpolled(config: Config, nodes: [&SimNode; 2]) -> Rig {
    let pool = rpc::PoolConfig { poll_ms: Some(60_000), ..pool_config() };
    let rig = rig_with(config, pool, &nodes.map(SimNode::url)).await;
    rig.all_healthy().await;
    rig
}

#[tokio::test]
async fn equal_calls_at_the_same_time_are_asked_once_and_each_gets_its_own_id() {
    let (rig, node) = one_node(30).await;
    node.faults
        .add(Rule::new(Fault::Delay(Duration::from_millis(200))).on_methods(["eth_gasPrice"]));
    let bodies: Vec<String> =
        (0..20).map(|id| call(id, "eth_gasPrice", json!([])).to_string()).collect();
    let answers = join_all(bodies.iter().map(|body| rig.ask_text(body))).await;
    for (id, (answer, _)) in answers.iter().enumerate() {
        assert_eq!(answer["id"], id);
        assert_eq!(answer["result"], answers[0].0["result"]);
    }
    assert_eq!(node.faults.requests("eth_gasPrice"), 1);
    rig.ask("eth_gasPrice", json!([])).await;
    assert_eq!(node.faults.requests("eth_gasPrice"), 2, "what is over is asked again");
}

#[tokio::test]
async fn an_answer_that_cannot_change_is_given_again_whatever_the_id() {
    let (rig, node) = one_node(30).await;
    let params = json!(["0x5", true]);
    let (first, from) =
        rig.ask_text(&call(1, "eth_getBlockByNumber", params.clone()).to_string()).await;
    assert_eq!(from, [Source::Node]);
    let text =
        r#"{"id":"other","method":"eth_getBlockByNumber","jsonrpc":"2.0","params":["0x5",true]}"#;
    let (again, from) = rig.ask_text(text).await;
    assert_eq!((from, &again["id"]), (vec![Source::Cache], &json!("other")));
    assert_eq!(again["result"], first["result"]);
    let (_, from) =
        rig.ask_text(&call(1, "eth_getBlockByNumber", json!(["0x1e", true])).to_string()).await;
    assert_eq!(from, [Source::Node]);
    let (_, from) =
        rig.ask_text(&call(1, "eth_getBlockByNumber", json!(["0x1e", true])).to_string()).await;
    assert_eq!(from, [Source::Node], "the newest block is not final");
    assert!(node.faults.requests("eth_getBlockByNumber") >= 3);
    let status = rig.gateway.forwarder.counts.status();
    assert_eq!((status["eth_getBlockByNumber"].cache, status["eth_getBlockByNumber"].node), (1, 3));
}

#[tokio::test]
async fn the_calls_of_a_batch_travel_together_and_see_one_head() {
    let chain = simulated(30);
    let node = node(&chain).await;
    let rig = rig(Config::default(), &[node.url()]).await;
    rig.all_healthy().await;
    let wallet = format!("{:#x}", testkit::read(&chain).actors().wallets[0].address);
    let calls: Vec<Value> = (0..10)
        .map(|id| match id {
            0 => call(id, "eth_blockNumber", json!([])),
            1 => call(id, "eth_getBlockByNumber", json!(["latest", false])),
            _ => call(id, "eth_getStorageAt", json!([wallet, format!("{id:#x}"), "latest"])),
        })
        .collect();
    let requests = node.faults.http_requests();
    let (answers, _) = rig.ask_text(&Value::from(calls).to_string()).await;
    let used = node.faults.http_requests() - requests;
    assert_eq!(answers[0]["result"], answers[1]["result"]["number"]);
    assert!(used < 8, "{used} requests for a batch of ten");
    assert_eq!(answers.as_array().unwrap().len(), 10);
}

#[tokio::test]
async fn a_batch_never_mixes_two_heads() {
    let chain = simulated(30);
    let (first, second) = (node(&chain).await, node(&chain).await);
    second.faults.add(Rule::new(Fault::Lag(2)));
    let rig = rig(Config::default(), &[second.url(), first.url()]).await;
    rig.all_healthy().await;
    for _ in 0..20 {
        let calls = [
            call(0, "eth_getBlockByNumber", json!(["latest", false])),
            call(1, "eth_blockNumber", json!([])),
            call(2, "eth_getBlockByNumber", json!(["latest", true])),
        ];
        let (answers, _) = rig.ask_text(&Value::from(calls.to_vec()).to_string()).await;
        let heads = [
            &answers[0]["result"]["number"],
            &answers[1]["result"],
            &answers[2]["result"]["number"],
        ];
        assert!(heads[0].is_string() && heads.iter().all(|head| *head == heads[0]), "{answers}");
    }
}

#[tokio::test]
async fn logs_of_a_range_that_is_too_wide_are_asked_in_parts() {
    let chain = simulated(40);
    let (whole, strict) = (node(&chain).await, node(&chain).await);
    let truth = rig(Config::default(), &[whole.url()]).await;
    truth.all_healthy().await;
    let params = json!([{ "fromBlock": "0x1", "toBlock": "0x14" }]);
    let expected = truth.ask("eth_getLogs", params.clone()).await["result"].clone();
    let rig = rig(Config::default(), &[strict.url()]).await;
    rig.all_healthy().await;
    // The node refuses what begins at the first block, twice: whole, and its first half.
    let message = "query returned more than 10000 results".to_owned();
    let refused = Rule::new(Fault::RpcError { code: -32005, message }).on_methods(["eth_getLogs"]);
    strict.faults.add(refused.clone().times(2));
    let answer = rig.ask("eth_getLogs", params.clone()).await;
    assert_eq!(answer["result"], expected);
    assert_eq!(strict.faults.requests("eth_getLogs"), 5);
    strict.faults.add(refused);
    let params = json!([{ "fromBlock": "0x2", "toBlock": "0x14" }]);
    let answer = rig.ask("eth_getLogs", params).await;
    assert_eq!(answer["error"]["message"], "query returned more than 10000 results");
    assert!(strict.faults.requests("eth_getLogs") < 5 + 80, "bounded");
}

#[tokio::test]
async fn a_call_at_an_old_block_goes_to_a_node_that_has_its_state() {
    let chain = simulated(40);
    let (pruned, archive) = (node(&chain).await, node(&chain).await);
    let message = "missing trie node 12ab".to_owned();
    let missing =
        Rule::new(Fault::RpcError { code: -32000, message }).on_methods(["eth_getBalance"]);
    pruned.faults.add(missing.on_blocks(0..=20));
    let rig =
        rig(Config { cache_bytes_max: 0, ..Config::default() }, &[pruned.url(), archive.url()])
            .await;
    rig.all_healthy().await;
    let wallet = format!("{:#x}", testkit::read(&chain).actors().wallets[0].address);
    for number in [9, 8, 7, 6, 5] {
        let answer = rig.ask("eth_getBalance", json!([wallet, format!("{number:#x}")])).await;
        assert!(answer["result"].is_string(), "{answer}");
    }
    assert_eq!(pruned.faults.requests("eth_getBalance"), 1, "once is enough to know");
    rig.ask("eth_getBalance", json!([wallet, "0x1e"])).await;
    let asked =
        pruned.faults.requests("eth_getBalance") + archive.faults.requests("eth_getBalance");
    assert_eq!(asked, 7);
}

#[tokio::test]
async fn a_node_that_lies_is_shown_with_evidence_and_asked_no_more_by_clients() {
    let chain = simulated(30);
    let (liar, honest) = (node(&chain).await, node(&chain).await);
    let rig =
        rig(Config { cache_bytes_max: 0, ..Config::default() }, &[liar.url(), honest.url()]).await;
    rig.all_healthy().await;
    liar.faults.add(Rule::from(Tamper::ChangedTimestamp).on_methods(["eth_getBlockByHash"]));
    let hash = |number: u64| testkit::read(&chain).block(number).unwrap().hash.to_string();
    for number in 3..9 {
        let answer = rig.ask("eth_getBlockByHash", json!([hash(number), false])).await;
        assert_eq!(answer["result"]["hash"], hash(number));
    }
    let status = rig.pool.status();
    assert!(!status.upstreams[0].evidence.is_empty());
    assert!(status.upstreams[0].clients_avoid_for_ms.is_some());
    assert!(status.upstreams[1].evidence.is_empty());
}

#[tokio::test]
async fn hashes_of_a_block_that_is_named_by_its_own_are_proven_too() {
    let chain = simulated(30);
    let (liar, honest) = (node(&chain).await, node(&chain).await);
    let rig = unpolled(Config::default(), [&liar, &honest]).await;
    liar.faults.add(Rule::from(Tamper::DroppedTransaction).on_methods(["eth_getBlockByHash"]));
    let (hash, txs): (String, Vec<String>) = {
        let chain = testkit::read(&chain);
        let block = chain.block(9).unwrap();
        (block.hash.to_string(), block.txs.iter().map(|tx| tx.hash.to_string()).collect())
    };
    let answer = rig.ask("eth_getBlockByHash", json!([hash, false])).await;
    assert_eq!(answer["result"]["transactions"], json!(txs));
    let direct = rig.ask("eth_getBlockByNumber", json!(["0x9", false])).await;
    assert_eq!(answer["result"], direct["result"], "as a node writes it");
    assert!(!rig.pool.status().upstreams[0].evidence.is_empty());
}

#[tokio::test]
async fn what_the_only_node_refuses_is_told_in_its_own_words_in_a_batch_too() {
    let (rig, node) = one_node(30).await;
    let methods = ["eth_gasPrice", "eth_maxPriorityFeePerGas"];
    node.faults.add(Rule::new(Fault::NoMethod).on_methods(methods));
    let calls: Vec<Value> =
        methods.iter().enumerate().map(|(id, method)| call(id, method, json!([]))).collect();
    let (answers, _) = rig.ask_text(&Value::from(calls.clone()).to_string()).await;
    for (answer, call) in answers.as_array().unwrap().iter().zip(&calls) {
        assert_eq!(answer["error"]["code"], -32601, "{answer}");
        let alone = rig.ask_text(&call.to_string()).await.0;
        assert_eq!(alone["error"], answer["error"]);
    }
}

#[tokio::test]
async fn a_transaction_whose_node_broke_off_is_sent_to_another_and_is_known_there() {
    let chain = simulated(30);
    let (breaks, knows) = (node(&chain).await, node(&chain).await);
    let sent = ["eth_sendRawTransaction"];
    breaks.faults.add(Rule::new(Fault::BrokenBody).on_methods(sent));
    let known = Fault::RpcError { code: -32000, message: "already known".into() };
    knows.faults.add(Rule::new(known).on_methods(sent));
    let rig = unpolled(Config::default(), [&breaks, &knows]).await;
    let raw = "0x02f8";
    let answer = rig.ask(sent[0], json!([raw])).await;
    let hash = alloy_primitives::keccak256([0x02, 0xf8]).to_string();
    assert_eq!(answer["result"], hash);
    assert_eq!((breaks.faults.requests(sent[0]), knows.faults.requests(sent[0])), (1, 1));
    // Nobody broke off: what the node says is told.
    breaks.faults.clear();
    breaks.faults.add(
        Rule::new(Fault::RpcError { code: -32000, message: "already known".into() })
            .on_methods(sent),
    );
    let answer = rig.ask(sent[0], json!([raw])).await;
    assert_eq!(answer["error"]["message"], "already known");
}

#[tokio::test]
async fn a_method_that_is_allowed_by_name_is_asked_of_one_node_once() {
    let chain = simulated(30);
    let (first, second) = (node(&chain).await, node(&chain).await);
    for node in [&first, &second] {
        node.faults.add(Rule::new(Fault::BrokenBody).on_methods(["anvil_mine"]));
    }
    let config = Config { allow: vec!["anvil_*".into()], ..Config::default() };
    let rig = unpolled(config, [&first, &second]).await;
    assert_eq!(rig.ask("anvil_mine", json!([])).await["error"]["code"], -32603);
    assert_eq!(
        first.faults.requests("anvil_mine") + second.faults.requests("anvil_mine"),
        1,
        "another may have mined already"
    );
    assert_eq!(rig.ask("evm_mine", json!([])).await["error"]["code"], -32601);
}
