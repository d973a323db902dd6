//! The node answers as the chain knows it, over HTTP, in batches and over WebSocket.

use crate::{
    client::{Socket, error_code, node, post, request, result},
    json::parse,
};
use serde_json::{Value, json};
use testkit::{read, write};

#[tokio::test]
async fn small_questions_have_small_answers() {
    let (chain, node) = node(70).await;
    assert_eq!(result(&node, "eth_chainId", json!([])).await, "0x539");
    assert_eq!(result(&node, "net_version", json!([])).await, "1337");
    assert_eq!(result(&node, "eth_syncing", json!([])).await, false);
    assert_eq!(result(&node, "eth_blockNumber", json!([])).await, "0x46");
    assert_eq!(result(&node, "eth_call", json!([{}, "latest"])).await, "0x");
    assert!(result(&node, "web3_clientVersion", json!([])).await.is_string());
    assert!(result(&node, "eth_gasPrice", json!([])).await.is_string());
    assert_eq!(error_code(&node, "eth_mining", json!([])).await, -32601);
    assert_eq!(node.faults.requests("eth_chainId"), 1);
    assert_eq!(node.faults.requests("eth_getLogs"), 0);
    let whale = read(&chain).address_of("whale").unwrap();
    for number in [0, 30, 70] {
        let expected = read(&chain).account_at(whale, number);
        let at = json!([whale.to_string(), format!("{number:#x}")]);
        let balance = result(&node, "eth_getBalance", at.clone()).await;
        assert_eq!(balance, format!("{:#x}", expected.balance));
        let nonce = result(&node, "eth_getTransactionCount", at).await;
        assert_eq!(nonce, format!("{:#x}", expected.nonce));
    }
}

#[tokio::test]
async fn blocks_are_found_by_number_tag_and_hash() {
    let (chain, node) = node(70).await;
    let block = |number: u64| parse(&read(&chain).block_json(number, true).unwrap());
    let tags = [("latest", 70), ("pending", 70), ("earliest", 0), ("safe", 38), ("finalized", 6)];
    for (tag, number) in tags {
        let answer = result(&node, "eth_getBlockByNumber", json!([tag, true])).await;
        assert_eq!(answer, block(number), "{tag}");
    }
    let hash = block(9)["hash"].clone();
    assert_eq!(result(&node, "eth_getBlockByNumber", json!(["0x9", true])).await, block(9));
    assert_eq!(result(&node, "eth_getBlockByHash", json!([hash, true])).await, block(9));
    let thin = result(&node, "eth_getBlockByHash", json!([hash, false])).await;
    assert!(thin["transactions"][0].is_string());
    assert_eq!(result(&node, "eth_getBlockByNumber", json!(["0x47", true])).await, Value::Null);
    let nobody = json!([format!("0x{}", "00".repeat(32)), true]);
    assert_eq!(result(&node, "eth_getBlockByHash", nobody).await, Value::Null);
    assert_eq!(error_code(&node, "eth_getBlockByNumber", json!([])).await, -32602);
}

#[tokio::test]
async fn transactions_receipts_and_traces_are_served() {
    let (chain, node) = node(10).await;
    let block = parse(&read(&chain).block_json(5, true).unwrap());
    let receipts = parse(&read(&chain).receipts_json(5).unwrap());
    for by in [json!(["0x5"]), json!([block["hash"]])] {
        assert_eq!(result(&node, "eth_getBlockReceipts", by).await, receipts);
    }
    let (tx, receipt) = (&block["transactions"][3], &receipts[3]);
    let by_hash = json!([tx["hash"]]);
    assert_eq!(result(&node, "eth_getTransactionByHash", by_hash.clone()).await, *tx);
    assert_eq!(result(&node, "eth_getTransactionReceipt", by_hash).await, *receipt);
    let place = json!(["0x5", "0x3"]);
    assert_eq!(result(&node, "eth_getTransactionByBlockNumberAndIndex", place).await, *tx);
    let place = json!([block["hash"], "0x3"]);
    assert_eq!(result(&node, "eth_getTransactionByBlockHashAndIndex", place).await, *tx);
    let outside = json!(["0x5", "0xff"]);
    assert!(result(&node, "eth_getTransactionByBlockNumberAndIndex", outside).await.is_null());
    let tracer = json!({ "tracer": "callTracer" });
    let geth = parse(&read(&chain).traces_geth_json(5).unwrap());
    let params = json!(["0x5", tracer]);
    assert_eq!(result(&node, "debug_traceBlockByNumber", params).await, geth);
    let params = json!([block["hash"], tracer]);
    assert_eq!(result(&node, "debug_traceBlockByHash", params).await, geth);
    let parity = parse(&read(&chain).traces_parity_json(5).unwrap());
    assert_eq!(result(&node, "trace_block", json!(["0x5"])).await, parity);
}

#[tokio::test]
async fn logs_are_filtered() {
    let (chain, node) = node(12).await;
    let mut all: Vec<Value> = Vec::new();
    for number in 3..=8u64 {
        for receipt in parse(&read(&chain).receipts_json(number).unwrap()).as_array().unwrap() {
            all.extend(receipt["logs"].as_array().unwrap().clone());
        }
    }
    let range = json!([{ "fromBlock": "0x3", "toBlock": "0x8" }]);
    assert_eq!(result(&node, "eth_getLogs", range).await, Value::Array(all.clone()));
    let sample = &all[0];
    let filter = json!([{
        "fromBlock": "0x3", "toBlock": "0x8",
        "address": sample["address"], "topics": [[sample["topics"][0]]],
    }]);
    let same = |log: &&Value| {
        log["address"] == sample["address"] && log["topics"][0] == sample["topics"][0]
    };
    let expected: Vec<Value> = all.iter().filter(same).cloned().collect();
    assert_eq!(result(&node, "eth_getLogs", filter).await, Value::Array(expected));
    let of_block = json!([{ "blockHash": sample["blockHash"] }]);
    let expected = all.iter().filter(|log| log["blockHash"] == sample["blockHash"]).count();
    assert_eq!(result(&node, "eth_getLogs", of_block).await.as_array().unwrap().len(), expected);
}

#[tokio::test]
async fn a_batch_is_answered_in_order() {
    let (_chain, node) = node(3).await;
    let batch = json!([
        request("eth_blockNumber", json!([])),
        request("eth_nothing", json!([])),
        request("eth_chainId", json!([])),
    ]);
    let answers = parse(&post(&node, &batch).await.body);
    assert_eq!(answers[0]["result"], "0x3");
    assert_eq!(answers[1]["error"]["code"], -32601);
    assert_eq!(answers[2]["result"], "0x539");
    assert_eq!(node.faults.http_requests(), 1);
    assert_eq!(parse(&post(&node, &json!([])).await.body)["error"]["code"], -32600);
}

#[tokio::test]
async fn new_heads_are_told_over_websocket() {
    let (chain, node) = node(3).await;
    let mut socket = Socket::open(&node).await;
    assert_eq!(socket.call("eth_blockNumber", json!([])).await, "0x3");
    let id = socket.call("eth_subscribe", json!(["newHeads"])).await;
    write(&chain).extend(1);
    write(&chain).reorg(2, 3);
    for number in [4, 3, 4, 5] {
        let notice = socket.next().await.unwrap();
        assert_eq!(notice["params"]["subscription"], id);
        assert_eq!(notice["params"]["result"]["number"], format!("{number:#x}"));
        assert!(notice["params"]["result"].get("transactions").is_none());
    }
    assert_eq!(socket.call("eth_unsubscribe", json!([id])).await, true);
    assert_eq!(socket.call("eth_unsubscribe", json!([id])).await, false);
    write(&chain).extend(1);
    assert!(socket.next().await.is_none());
}

#[tokio::test]
async fn a_stopped_node_is_gone_and_can_come_back() {
    let (chain, node) = node(2).await;
    let mut socket = Socket::open(&node).await;
    let (address, url) = (node.address(), node.url());
    node.stop().await;
    assert!(socket.next().await.is_none());
    assert!(reqwest::Client::new().post(url).send().await.is_err());
    let back = testkit::SimNode::start_on(chain, address).await.unwrap();
    assert_eq!(result(&back, "eth_blockNumber", json!([])).await, "0x2");
}
