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

/// Asking so often, each of two nodes is the first to be asked at some time.
const ASKED_MAX: usize = 100_000;

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
async fn nothing_is_kept_of_a_dev_chain_that_started_over_and_is_longer_by_now() {
    let (rig, node) = one_node(30).await;
    let ask = async || rig.ask("eth_getBlockByNumber", json!(["0x5", false])).await;
    let before = ask().await["result"]["hash"].clone();
    let address = node.address();
    node.stop().await;
    let other = testkit::shared(testkit::SimConfig::seeded(8));
    testkit::write(&other).extend(60);
    let expected = testkit::read(&other).block(5).unwrap().hash.to_string();
    assert_ne!(before, expected);
    let _node = SimNode::start_on(other, address).await.unwrap();
    eventually("the new chain is seen", || rig.pool.head_number() == 60).await;
    assert_eq!(ask().await["result"]["hash"], expected);
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
async fn logs_of_a_node_that_has_not_seen_the_end_of_the_range_are_not_told() {
    let chain = simulated(40);
    let nodes = [node(&chain).await, node(&chain).await];
    let rig = rig(Config::default(), &nodes.each_ref().map(SimNode::url)).await;
    rig.all_healthy().await;
    // Whichever is asked first is behind, and nobody has noticed yet.
    let behind = Rule::new(Fault::Lag(30)).on_methods(["eth_getLogs", "eth_blockNumber"]);
    let behind = behind.times_shared(2);
    for node in &nodes {
        node.faults.add(behind.clone());
    }
    let params = json!([{ "fromBlock": "0x1", "toBlock": "0x1b" }]);
    let told = rig.ask("eth_getLogs", params).await;
    let newest = told["result"].as_array().unwrap().last().unwrap();
    assert_eq!(newest["blockNumber"], "0x1b");
    assert_eq!(nodes.each_ref().map(|node| node.faults.requests("eth_getLogs")), [1, 1]);
    // Where all of them are, what they know is told.
    for node in &nodes {
        node.faults.add(Rule::new(Fault::Lag(35)).on_methods(["eth_getLogs", "eth_blockNumber"]));
    }
    let params = json!([{ "fromBlock": "0x1", "toBlock": "0x1c" }]);
    let told = rig.ask("eth_getLogs", params).await;
    assert!(!told["result"].as_array().unwrap().is_empty());
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
    let asked = |node: &SimNode| node.faults.requests("eth_getBalance");
    let balance = async |number: u64| {
        let answer = rig.ask("eth_getBalance", json!([wallet, format!("{number:#x}")])).await;
        assert!(answer["result"].is_string(), "{answer}");
    };
    // Whichever is asked first at first.
    for _ in 0..ASKED_MAX {
        balance(10).await;
        if asked(&pruned) > 0 {
            break;
        }
    }
    for number in [9, 8, 7, 6, 5] {
        balance(number).await;
    }
    assert_eq!(asked(&pruned), 1, "once is enough to know");
    let before = asked(&pruned) + asked(&archive);
    balance(30).await;
    assert_eq!(asked(&pruned) + asked(&archive), before + 1);
}

#[tokio::test]
async fn a_node_that_lies_is_shown_with_evidence_and_asked_no_more_by_clients() {
    let chain = simulated(30);
    let (liar, honest) = (node(&chain).await, node(&chain).await);
    let rig =
        rig(Config { cache_bytes_max: 0, ..Config::default() }, &[liar.url(), honest.url()]).await;
    rig.all_healthy().await;
    let lie = Rule::from(Tamper::ChangedTimestamp).on_methods(["eth_getBlockByHash"]);
    liar.faults.add(lie.on_blocks(3..=9));
    let hash = |number: u64| testkit::read(&chain).block(number).unwrap().hash.to_string();
    let ask = async |number: u64| {
        let answer = rig.ask("eth_getBlockByHash", json!([hash(number), true])).await;
        assert_eq!(answer["result"]["hash"], hash(number));
    };
    // Whichever is asked first at first.
    for _ in 0..ASKED_MAX {
        ask(3).await;
        if !rig.pool.status().upstreams[0].evidence.is_empty() {
            break;
        }
    }
    let asked = liar.faults.requests("eth_getBlockByHash");
    for number in 4..9 {
        ask(number).await;
    }
    assert_eq!(liar.faults.requests("eth_getBlockByHash"), asked);
    let status = rig.pool.status();
    assert!(!status.upstreams[0].evidence.is_empty());
    assert!(status.upstreams[0].clients_avoid_for_ms.is_some());
    assert!(status.upstreams[1].evidence.is_empty());
}

#[tokio::test]
async fn hashes_of_a_block_that_is_named_by_its_own_are_proven_too() {
    let chain = simulated(30);
    let (liar, honest) = (node(&chain).await, node(&chain).await);
    let config = Config { cache_bytes_max: 0, ..Config::default() };
    let rig = rig(config, &[liar.url(), honest.url()]).await;
    rig.all_healthy().await;
    let (hash, txs): (String, Vec<String>) = {
        let chain = testkit::read(&chain);
        let block = chain.block(9).unwrap();
        (block.hash.to_string(), block.txs.iter().map(|tx| tx.hash.to_string()).collect())
    };
    let direct = rig.ask("eth_getBlockByNumber", json!(["0x9", false])).await;
    let lie = Rule::from(Tamper::DroppedTransaction).on_methods(["eth_getBlockByHash"]);
    liar.faults.add(lie.on_block(9));
    let is_caught = || !rig.pool.status().upstreams[0].evidence.is_empty();
    for _ in 0..ASKED_MAX {
        let answer = rig.ask("eth_getBlockByHash", json!([hash, false])).await;
        assert_eq!(answer["result"]["transactions"], json!(txs));
        assert_eq!(answer["result"], direct["result"], "as a node writes it");
        if is_caught() {
            break;
        }
    }
    assert!(is_caught());
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
    let nodes = [node(&chain).await, node(&chain).await];
    let sent = "eth_sendRawTransaction";
    // Whichever is asked first breaks off, and the other one has it by then.
    let breaks_off = Rule::new(Fault::BrokenBody).on_methods([sent]).times_shared(1);
    let known = Fault::RpcError { code: -32000, message: "already known".into() };
    for node in &nodes {
        node.faults.add(breaks_off.clone());
        node.faults.add(Rule::new(known.clone()).on_methods([sent]));
    }
    let rig = rig(Config::default(), &nodes.each_ref().map(SimNode::url)).await;
    rig.all_healthy().await;
    let raw = "0x02f8";
    let answer = rig.ask(sent, json!([raw])).await;
    let hash = alloy_primitives::keccak256([0x02, 0xf8]).to_string();
    assert_eq!(answer["result"], hash);
    assert_eq!(nodes.each_ref().map(|node| node.faults.requests(sent)), [1, 1]);
    // Nobody breaks off any more: what the node says is told.
    let answer = rig.ask(sent, json!([raw])).await;
    assert_eq!(answer["error"]["message"], "already known");
    assert_eq!(nodes.iter().map(|node| node.faults.requests(sent)).sum::<u64>(), 3);
}

#[tokio::test]
async fn a_method_that_is_allowed_by_name_is_asked_of_one_node_once() {
    let chain = simulated(30);
    let (first, second) = (node(&chain).await, node(&chain).await);
    for node in [&first, &second] {
        node.faults.add(Rule::new(Fault::BrokenBody).on_methods(["anvil_mine"]));
    }
    let config = Config { allow: vec!["anvil_*".into()], ..Config::default() };
    let rig = rig(config, &[first.url(), second.url()]).await;
    rig.all_healthy().await;
    assert_eq!(rig.ask("anvil_mine", json!([])).await["error"]["code"], -32603);
    assert_eq!(
        first.faults.requests("anvil_mine") + second.faults.requests("anvil_mine"),
        1,
        "another may have mined already"
    );
    assert_eq!(rig.ask("evm_mine", json!([])).await["error"]["code"], -32601);
}
