//! What the store says in the place of a node is what the node would say, method by method; what it does not hold it says so.

use alloy_primitives::keccak256;
use alloy_trie::root::ordered_trie_root_encoded;
use serde_json::{Value, json};

use crate::client::Client;
use crate::process::{Serve, import};
use crate::records::{self, Traces};
use crate::world::{CHAIN, Imported, SLUG, private};

fn hex(number: u64) -> String {
    format!("{number:#x}")
}

fn parsed(text: impl AsRef<[u8]>) -> Value {
    serde_json::from_slice(text.as_ref()).unwrap()
}

#[tokio::test]
async fn every_read_is_what_the_node_said() {
    const LAST: u64 = 9;
    let world = Imported::new(LAST as usize);
    let (chain, client) = (&world.chain, &world.client);
    let rpc = |method: &'static str, params: Value| client.rpc(SLUG, method, params);
    assert_eq!(rpc("eth_blockNumber", json!([])).await, hex(LAST));
    let mut all_logs = Vec::new();
    for number in 0..=LAST {
        let block = parsed(chain.block_json(number, true).unwrap());
        let receipts = parsed(chain.receipts_json(number).unwrap());
        let (by_number, hash) = (hex(number), block["hash"].clone());
        for whole in [true, false] {
            let expected = parsed(chain.block_json(number, whole).unwrap());
            assert_eq!(rpc("eth_getBlockByNumber", json!([by_number, whole])).await, expected);
            assert_eq!(rpc("eth_getBlockByHash", json!([hash, whole])).await, expected);
        }
        let names = [
            json!(by_number),
            hash.clone(),
            json!({ "blockHash": hash }),
            json!({ "blockNumber": by_number }),
        ];
        for name in names {
            assert_eq!(rpc("eth_getBlockReceipts", json!([name])).await, receipts, "{name}");
        }
        let txs = block["transactions"].as_array().unwrap();
        let count = json!(hex(txs.len() as u64));
        assert_eq!(rpc("eth_getBlockTransactionCountByNumber", json!([by_number])).await, count);
        assert_eq!(rpc("eth_getBlockTransactionCountByHash", json!([hash])).await, count);
        assert_eq!(rpc("eth_getUncleCountByBlockNumber", json!([by_number])).await, "0x0");
        assert_eq!(rpc("eth_getUncleCountByBlockHash", json!([hash])).await, "0x0");
        for (index, (tx, receipt)) in txs.iter().zip(receipts.as_array().unwrap()).enumerate() {
            let index = hex(index as u64);
            assert_eq!(&rpc("eth_getTransactionByHash", json!([tx["hash"]])).await, tx);
            assert_eq!(&rpc("eth_getTransactionReceipt", json!([tx["hash"]])).await, receipt);
            let place = json!([by_number, index]);
            assert_eq!(&rpc("eth_getTransactionByBlockNumberAndIndex", place).await, tx);
            let place = json!([hash, index]);
            assert_eq!(&rpc("eth_getTransactionByBlockHashAndIndex", place).await, tx);
        }
        let logs: Vec<Value> = receipts
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|r| r["logs"].as_array().unwrap().clone())
            .collect();
        assert_eq!(rpc("eth_getLogs", json!([{ "blockHash": hash }])).await, json!(logs));
        all_logs.extend(logs);
    }
    let range = json!([{ "fromBlock": "earliest", "toBlock": "latest" }]);
    assert_eq!(rpc("eth_getLogs", range).await, json!(all_logs));
    let log = &all_logs[all_logs.len() / 2];
    let filter = json!([{ "fromBlock": "0x0", "address": log["address"], "topics": [null, log["topics"][1]] }]);
    let same = |other: &&Value| {
        other["address"] == log["address"] && other["topics"][1] == log["topics"][1]
    };
    let expected: Vec<&Value> = all_logs.iter().filter(same).collect();
    assert_eq!(rpc("eth_getLogs", filter).await, json!(expected));
    // Every block from 0 on is here, and nobody knows more: what is not there does not exist.
    let nothing = json!(format!("0x{}", "ab".repeat(32)));
    for (method, params) in [
        ("eth_getBlockByHash", json!([nothing, true])),
        ("eth_getBlockByNumber", json!(["0x99", true])),
        ("eth_getTransactionByHash", json!([nothing])),
        ("eth_getTransactionReceipt", json!([nothing])),
        ("eth_getBlockReceipts", json!([nothing])),
        ("eth_getBlockTransactionCountByHash", json!([nothing])),
        ("eth_getTransactionByBlockHashAndIndex", json!([nothing, "0x0"])),
    ] {
        assert_eq!(rpc(method, params).await, Value::Null, "{method}");
    }
}

#[tokio::test]
async fn raw_bytes_hash_to_what_the_block_says() {
    const LAST: u64 = 9;
    let world = Imported::new(LAST as usize);
    let raw = |method: &'static str, params: Value| world.client.rpc(SLUG, method, params);
    let bytes = |value: &Value| alloy_primitives::hex::decode(value.as_str().unwrap()).unwrap();
    let hash_of = |value: &Value| json!(keccak256(bytes(value)));
    for number in 0..=LAST {
        let block = parsed(world.chain.block_json(number, true).unwrap());
        let (number, hash) = (json!(hex(number)), &block["hash"]);
        let header = raw("debug_getRawHeader", json!([number])).await;
        assert_eq!(&hash_of(&header), hash);
        assert_eq!(raw("debug_getRawHeader", json!([hash])).await, header);
        let receipts = raw("debug_getRawReceipts", json!([number])).await;
        let receipts: Vec<_> = receipts.as_array().unwrap().iter().map(bytes).collect();
        assert_eq!(json!(ordered_trie_root_encoded(&receipts)), block["receiptsRoot"]);
        let whole = bytes(&raw("debug_getRawBlock", json!([{ "blockHash": hash }])).await);
        assert_eq!(json!(hex(whole.len() as u64)), block["size"]);
        let mut rest = whole.as_slice();
        for (index, tx) in block["transactions"].as_array().unwrap().iter().enumerate() {
            let by_hash = raw("eth_getRawTransactionByHash", json!([tx["hash"]])).await;
            assert_eq!(hash_of(&by_hash), tx["hash"]);
            assert_eq!(raw("debug_getRawTransaction", json!([tx["hash"]])).await, by_hash);
            let index = hex(index as u64);
            for (method, name) in [
                ("eth_getRawTransactionByBlockNumberAndIndex", &number),
                ("eth_getRawTransactionByBlockHashAndIndex", hash),
            ] {
                assert_eq!(raw(method, json!([name, index])).await, by_hash, "{method}");
            }
            let tx = bytes(&by_hash);
            let place = rest.windows(tx.len()).position(|window| window == tx);
            rest = &rest[place.expect("the body has it, in order") + tx.len()..];
        }
    }
}

async fn code(client: &Client, method: &str, params: Value) -> (Value, String) {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let answer = client.rpc_text(SLUG, body.to_string()).await.json();
    let error = &answer["error"];
    (error["code"].clone(), error["message"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn what_is_not_held_is_an_error_and_never_null() {
    let chain = records::chain(9);
    let folder = tempfile::tempdir().unwrap();
    let file = records::write(folder.path(), &chain, 4..=9, Traces::Parity);
    let data = folder.path().join("data");
    import(&data, CHAIN, &[file]);
    let server = private(Serve::of(&data)).start();
    let client = Client::new(server.url());
    let nothing = json!(format!("0x{}", "ab".repeat(32)));
    for (method, params) in [
        ("eth_getBlockByHash", json!([nothing, true])),
        ("eth_getBlockByNumber", json!(["0x3", true])),
        ("eth_getBlockByNumber", json!(["earliest", true])),
        ("eth_getBlockByNumber", json!(["finalized", true])),
        ("eth_getBlockByNumber", json!(["safe", true])),
        ("eth_getBlockByNumber", json!(["pending", true])),
        ("eth_getTransactionByHash", json!([nothing])),
        ("eth_getTransactionReceipt", json!([nothing])),
        ("eth_getBlockReceipts", json!(["0x1"])),
        ("eth_getLogs", json!([{ "fromBlock": "0x2", "toBlock": "0x5" }])),
    ] {
        let (code, message) = code(&client, method, params.clone()).await;
        assert_eq!(code, -32002, "{method} {params}: {message}");
        assert!(message.contains("blocks from 4 to 9"), "{message}");
    }
    assert!(client.rpc(SLUG, "eth_getLogs", json!([{ "fromBlock": "0x4" }])).await.is_array());
}

#[tokio::test]
async fn what_is_too_much_is_refused_with_the_parameter_and_the_limit() {
    let world = Imported::with(9, |serve| {
        serve
            .set("gateway.logs_max", "3")
            .set("gateway.logs_blocks_max", "6")
            .set("gateway.log_values_max", "2")
    });
    let ask = |filter: Value| code(&world.client, "eth_getLogs", json!([filter]));
    let (wide, why) = ask(json!({ "fromBlock": "0x1", "toBlock": "0x9" })).await;
    assert_eq!(wide, -32602, "{why}");
    assert!(why.contains("fromBlock 0x1 to toBlock 0x9 are 9 blocks; at most 6"), "{why}");
    let (many, why) = ask(json!({ "fromBlock": "0x4", "toBlock": "0x9" })).await;
    assert_eq!(many, -32005, "{why}");
    assert!(why.contains("more than 3 results (gateway.logs_max)"), "{why}");
    let zero = format!("0x{}", "0".repeat(40));
    let (listed, why) = ask(json!({ "address": [zero, zero, zero] })).await;
    assert_eq!(listed, -32602, "{why}");
    assert!(why.contains("address lists 3 values; at most 2"), "{why}");
    // One block is given whole.
    let block = json!([{ "fromBlock": "0x9", "toBlock": "0x9" }]);
    assert!(world.client.rpc(SLUG, "eth_getLogs", block).await.as_array().unwrap().len() > 3);
}

#[tokio::test]
async fn clients_find_what_they_ask_first_without_a_node() {
    let world = Imported::new(2);
    let rpc = |method: &'static str| world.client.rpc(SLUG, method, json!([]));
    assert!(rpc("web3_clientVersion").await.as_str().unwrap().starts_with("Headwater/v"));
    assert_eq!(rpc("eth_syncing").await, false);
    assert_eq!(rpc("net_listening").await, true);
    assert_eq!(rpc("eth_accounts").await, json!([]));
    let (needs, why) = code(&world.client, "eth_gasPrice", json!([])).await;
    assert_eq!(needs, -32000, "{why}");
}
