//! Everything a simulated chain did, asked back through the API of a server that read it from a node.

use alloy_primitives::Address;
use serde_json::{Value, json};
use testkit::{Fault, Rule, SimConfig, read};

use crate::client::Client;
use crate::ledger::{BlockLedger, signed};
use crate::process::{Serve, import};
use crate::records::{self, Traces};
use crate::world::{CHAIN, Live, private};

pub const BLOCKS: usize = 60;

#[tokio::test(flavor = "multi_thread")]
async fn a_simulated_chain_is_answered_to_the_last_wallet_wei_and_field() {
    let config = SimConfig { txs_per_block: 10, wallets: 40, ..SimConfig::seeded(21) };
    let live = Live::start(config, BLOCKS, |serve| serve).await;
    everything_is_answered(&live).await;
}

/// Whichever engine the server has.
pub async fn everything_is_answered(live: &Live) {
    every_wallet_has_its_rows_in_order(live).await;
    every_wei_of_every_account_is_explained(live).await;
    blocks_and_transactions_are_the_nodes_own(live).await;
}

async fn every_wallet_has_its_rows_in_order(live: &Live) {
    let wallets: Vec<_> = read(&live.chain).expected_wallets().into_iter().collect();
    assert!(wallets.len() > 50, "{} wallets are too few to prove anything", wallets.len());
    for (i, (address, wallet)) in wallets.iter().enumerate() {
        let limit = [1, 3, 10, 100, 500][i % 5];
        // The quietest limit for the busiest wallets would take all day.
        let limit = if wallet.direct.len() > 60 { limit.max(10) } else { limit };
        let direct: Vec<_> = wallet.direct.iter().map(|row| row.hash).collect();
        let all: Vec<_> = wallet.all().iter().map(|row| row.hash).collect();
        for (include, expected) in [("", direct), ("&include=internal_transactions", all)] {
            check(&live.client, address, include, limit, &expected).await;
        }
    }
}

async fn check(
    client: &Client,
    address: &Address,
    include: &str,
    limit: usize,
    newest_first: &[alloy_primitives::B256],
) {
    let mut expected: Vec<String> = newest_first.iter().map(|hash| format!("{hash:#x}")).collect();
    for order in ["DESC", "asc"] {
        let query = format!("chain={CHAIN}{include}&order={order}");
        let rows = client.whole_wallet(&format!("{address:#x}"), &query, limit).await;
        let got: Vec<_> = rows.iter().map(|row| row.hash.clone()).collect();
        assert_eq!(got, expected, "{address} {query}");
        expected.reverse();
    }
}

async fn every_wei_of_every_account_is_explained(live: &Live) {
    let blocks = read(&live.chain).blocks().to_vec();
    let mut accounts = 0;
    for block in blocks.iter().skip(1) {
        let hash = format!("{:#x}", block.hash);
        let mut ledger = BlockLedger::read(&live.client, CHAIN, &hash).await;
        for change in &block.changes {
            let address = format!("{:#x}", change.address);
            let balance =
                |account: testkit::Account| signed(alloy_primitives::U256::from(account.balance));
            let moved = balance(change.after) - balance(change.before);
            let told = ledger.delta(&live.client, CHAIN, &address).await;
            assert_eq!(told, moved, "{address} in block {}", block.number());
            accounts += 1;
        }
    }
    assert!(accounts > 1000, "{accounts}");
}

async fn blocks_and_transactions_are_the_nodes_own(live: &Live) {
    let requests_before = live.node.faults.requests("eth_getBlockByHash");
    let blocks = read(&live.chain).blocks().to_vec();
    for whole in [true, false] {
        let params: Vec<Value> =
            blocks.iter().map(|b| json!([format!("{:#x}", b.hash), whole])).collect();
        let told = live.client.rpc_many(CHAIN, "eth_getBlockByHash", &params).await;
        for (block, told) in blocks.iter().zip(told) {
            let expected: Value = serde_json::from_slice(&block.block_json(whole)).unwrap();
            assert_eq!(told, expected);
        }
    }
    for block in &blocks {
        let number = format!("{:#x}", block.number());
        let places = (0..=block.txs.len()).map(|i| json!([number, format!("{i:#x}")]));
        let params: Vec<Value> = places.collect();
        let told =
            live.client.rpc_many(CHAIN, "eth_getTransactionByBlockNumberAndIndex", &params).await;
        for (i, told) in told.into_iter().enumerate() {
            let expected =
                block.transaction_json(i).map(|text| serde_json::from_slice(&text).unwrap());
            assert_eq!(told, expected.unwrap_or(Value::Null), "{number} {i}");
        }
    }
    let asked = live.node.faults.requests("eth_getBlockByHash") - requests_before;
    assert_eq!(asked, 0, "blocks that are stored are not asked for again");
}

/// Of a frame that failed, Parity's dialect tells neither gas nor output, and both have words of
/// their own for why; all else is the same.
#[tokio::test(flavor = "multi_thread")]
async fn both_dialects_of_traces_give_the_same_internal_transactions() {
    let chain = records::chain(25);
    let mut told = Vec::new();
    for traces in [Traces::Geth, Traces::Parity] {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        import(&data, CHAIN, &[records::write(folder.path(), &chain, 0..=25, traces)]);
        let server = private(Serve::of(&data)).start();
        let client = Client::new(server.url());
        let mut answers = Vec::new();
        for (name, address) in chain.named() {
            let path = format!(
                "/api/v2.2/{address:#x}?chain={CHAIN}&limit=500&include=internal_transactions"
            );
            let mut json = client.get(&path).await.json();
            for row in json["result"].as_array_mut().unwrap() {
                for inner in row["internal_transactions"].as_array_mut().unwrap() {
                    if inner.get("error").is_some() {
                        for told_differently in ["error", "gas_used", "output"] {
                            inner[told_differently] = "failed".into();
                        }
                    }
                }
            }
            answers.push((name, json["result"].take()));
        }
        told.push(answers);
    }
    for (geth, parity) in told[0].iter().zip(&told[1]) {
        let rows = |answer: &(&str, Value)| answer.1.as_array().unwrap().clone();
        for (a, b) in rows(geth).iter().zip(&rows(parity)) {
            assert_eq!(a, b, "{}", geth.0);
        }
        assert_eq!(rows(geth).len(), rows(parity).len(), "{}", geth.0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tags_follow_the_head_and_what_is_not_stored_is_asked_from_the_node() {
    let live =
        Live::start(SimConfig { txs_per_block: 4, ..SimConfig::seeded(22) }, 12, |serve| serve)
            .await;
    let method = "eth_getTransactionByBlockNumberAndIndex";
    let ask = async |tag: &str| live.client.rpc(CHAIN, method, json!([tag, "0x1"])).await;
    let head = read(&live.chain).head();
    let expected: Value = serde_json::from_slice(&head.transaction_json(1).unwrap()).unwrap();
    assert_eq!(ask("latest").await, expected);
    assert_eq!(ask("earliest").await, Value::Null, "the genesis block has no transactions");
    // Only a node knows these; the simulated one takes them for its head.
    for tag in ["pending", "safe", "finalized"] {
        let before = live.node.faults.requests(method);
        ask(tag).await;
        assert_eq!(live.node.faults.requests(method), before + 1, "{tag}");
    }
    let unknown = format!("0x{}", "7".repeat(64));
    let block = live.client.rpc(CHAIN, "eth_getBlockByHash", json!([unknown, false])).await;
    assert_eq!(block, Value::Null);
    let forwarded = live.client.rpc(CHAIN, "eth_blockNumber", json!([])).await;
    assert_eq!(forwarded, format!("{:#x}", head.number()));
    assert_eq!(live.client.rpc(CHAIN, "eth_chainId", json!([])).await, "0x539");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_nodes_own_error_is_passed_on_and_its_absence_is_told_without_naming_it() {
    let live =
        Live::start(SimConfig { txs_per_block: 2, ..SimConfig::seeded(23) }, 3, |serve| serve)
            .await;
    let body = r#"{"jsonrpc":"2.0","id":"q","method":"eth_gasPrice"}"#;
    let reverted = Fault::RpcError { code: 3, message: "execution reverted".into() };
    let rule = live.node.faults.add(Rule::new(reverted).on_methods(["eth_gasPrice"]));
    let told = live.client.rpc_text(CHAIN, body.into()).await.json();
    assert_eq!(
        (&told["error"]["code"], &told["error"]["message"]),
        (&3.into(), &"execution reverted".into())
    );
    assert_eq!(told["id"], "q");
    live.node.faults.remove(rule);
    live.node.faults.add(Rule::new(Fault::HttpError(502)));
    let told = live.client.rpc_text(CHAIN, body.into()).await;
    assert_eq!((told.status, &told.json()["error"]["code"]), (200, &(-32603).into()));
    assert!(!told.body.contains("127.0.0.1"), "{}", told.body);
    // What is stored is answered all the same.
    let hash = format!("{:#x}", read(&live.chain).block(2).unwrap().hash);
    let block = live.client.rpc(CHAIN, "eth_getBlockByHash", json!([hash, false])).await;
    assert_eq!(block["hash"], hash);
}
