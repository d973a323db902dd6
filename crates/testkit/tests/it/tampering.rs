//! Each lie changes what it names and nothing else; the checks that should catch it do.

use crate::{
    client::{node, result},
    json::{address, hash, list, parse, u64, u128},
    rebuild,
};
use alloy_consensus::proofs;
use serde_json::{Value, json};
use testkit::{Rule, SharedChain, SimNode, Tamper, read};

const LIAR: u64 = 7;

/// A block and receipts as the liar tells them, and as they are.
struct Told {
    block: Value,
    receipts: Value,
    true_block: Value,
    true_receipts: Value,
}

async fn lie(tamper: Tamper) -> (SharedChain, SimNode, Told) {
    let (chain, node) = node(10).await;
    node.faults.add(Rule::from(tamper).on_block(LIAR));
    let at = json!([format!("{LIAR:#x}"), true]);
    let block = result(&node, "eth_getBlockByNumber", at).await;
    let receipts = result(&node, "eth_getBlockReceipts", json!([format!("{LIAR:#x}")])).await;
    let true_block = parse(&read(&chain).block_json(LIAR, true).unwrap());
    let true_receipts = parse(&read(&chain).receipts_json(LIAR).unwrap());
    let honest = result(&node, "eth_getBlockByNumber", json!(["0x6", true])).await;
    assert_eq!(honest, parse(&read(&chain).block_json(6, true).unwrap()));
    (chain, node, Told { block, receipts, true_block, true_receipts })
}

fn header_is_consistent(block: &Value) -> bool {
    rebuild::header(block).hash_slow() == hash(block, "hash")
}

fn body_fits(block: &Value) -> bool {
    let txs: Vec<_> = list(block, "transactions").iter().map(rebuild::envelope).collect();
    proofs::calculate_transaction_root(&txs) == hash(block, "transactionsRoot")
}

/// Blooms are the receipts' own here, so a receipt that does not match its bloom counts as unfit, too.
fn receipts_fit(told: &Told) -> bool {
    let rebuilt = std::panic::catch_unwind(|| {
        told.receipts.as_array().unwrap().iter().map(rebuild::receipt).collect::<Vec<_>>()
    });
    let root = rebuilt.map(|receipts| proofs::calculate_receipt_root(&receipts));
    root.is_ok_and(|root| root == hash(&told.block, "receiptsRoot"))
}

#[tokio::test]
async fn a_changed_value_breaks_the_transactions_root() {
    let (_chain, node, told) = lie(Tamper::ChangedValue).await;
    let (mine, theirs) = (&told.true_block["transactions"][0], &told.block["transactions"][0]);
    assert_eq!(u128(theirs, "value"), u128(mine, "value") + 1);
    assert!(header_is_consistent(&told.block) && !body_fits(&told.block) && receipts_fit(&told));
    let alone = result(&node, "eth_getTransactionByHash", json!([mine["hash"]])).await;
    assert_eq!(alone, *theirs);
}

#[tokio::test]
async fn a_changed_sender_passes_all_roots_but_not_the_signature() {
    let (_chain, _node, told) = lie(Tamper::ChangedFrom).await;
    assert!(header_is_consistent(&told.block) && body_fits(&told.block));
    let tx = &told.block["transactions"][0];
    assert_ne!(rebuild::sender(&rebuild::envelope(tx)), address(tx, "from"));
}

#[tokio::test]
async fn a_changed_timestamp_breaks_the_hash() {
    let (_chain, _node, told) = lie(Tamper::ChangedTimestamp).await;
    assert_eq!(u64(&told.block, "timestamp"), u64(&told.true_block, "timestamp") + 1);
    assert!(!header_is_consistent(&told.block));
}

#[tokio::test]
async fn a_dropped_transaction_takes_its_receipt_with_it() {
    let (_chain, _node, told) = lie(Tamper::DroppedTransaction).await;
    assert_eq!(list(&told.block, "transactions").len(), 11);
    assert_eq!(told.receipts.as_array().unwrap().len(), 11);
    assert!(header_is_consistent(&told.block) && !body_fits(&told.block) && !receipts_fit(&told));
}

#[tokio::test]
async fn another_blocks_body_bears_this_blocks_name() {
    let (chain, _node, told) = lie(Tamper::OtherBlocksBody).await;
    assert!(header_is_consistent(&told.block) && !body_fits(&told.block));
    let first = &told.block["transactions"][0];
    assert_eq!(first["blockHash"], told.block["hash"]);
    assert_eq!(hash(first, "hash"), read(&chain).block(LIAR - 1).unwrap().txs[0].hash);
}

#[tokio::test]
async fn a_wrong_parent_breaks_the_hash_unless_it_is_rehashed() {
    let (_chain, _node, told) = lie(Tamper::WrongParent).await;
    assert_ne!(told.block["parentHash"], told.true_block["parentHash"]);
    assert_eq!(told.block["hash"], told.true_block["hash"]);
    assert!(!header_is_consistent(&told.block));
    let (_chain, node, told) = lie(Tamper::WrongParentRehashed).await;
    assert_ne!(told.block["parentHash"], told.true_block["parentHash"]);
    assert_ne!(told.block["hash"], told.true_block["hash"]);
    assert!(header_is_consistent(&told.block) && body_fits(&told.block) && receipts_fit(&told));
    assert_eq!(told.receipts[0]["blockHash"], told.block["hash"]);
    let again = result(&node, "eth_getBlockByHash", json!([told.block["hash"], true])).await;
    assert_eq!(again, told.block);
}

#[tokio::test]
async fn altered_logs_and_swapped_receipts_break_the_receipts_root() {
    for tamper in [Tamper::DroppedLog, Tamper::ChangedLogData, Tamper::SwappedReceipts] {
        let (_chain, node, told) = lie(tamper).await;
        assert_eq!(told.block, told.true_block);
        assert_ne!(told.receipts, told.true_receipts);
        assert!(!receipts_fit(&told), "{tamper:?}");
        let mut differing = 0;
        let both =
            told.receipts.as_array().unwrap().iter().zip(told.true_receipts.as_array().unwrap());
        for (theirs, mine) in both {
            assert_eq!(theirs["transactionHash"], mine["transactionHash"]);
            let alone = json!([mine["transactionHash"]]);
            assert_eq!(result(&node, "eth_getTransactionReceipt", alone).await, *theirs);
            differing += usize::from(theirs != mine);
        }
        assert_eq!(differing, if tamper == Tamper::SwappedReceipts { 2 } else { 1 });
    }
}

#[tokio::test]
async fn a_changed_trace_value_shows_in_both_dialects() {
    let (chain, node) = node(10).await;
    node.faults.add(Tamper::ChangedTraceValue);
    let tracer = json!({ "tracer": "callTracer" });
    let mut changed = 0;
    for number in 1..=10u64 {
        let at = format!("{number:#x}");
        let geth = result(&node, "debug_traceBlockByNumber", json!([at, tracer])).await;
        let parity = result(&node, "trace_block", json!([at])).await;
        let geth_lies = geth != parse(&read(&chain).traces_geth_json(number).unwrap());
        let parity_lies = parity != parse(&read(&chain).traces_parity_json(number).unwrap());
        assert_eq!(geth_lies, parity_lies);
        changed += u32::from(geth_lies);
    }
    assert!(changed > 5);
}
