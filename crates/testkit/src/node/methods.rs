//! What the node knows to answer: one line per method.

use super::{
    call::{Call, Reply},
    contracts,
    logs::logs,
    node_view::NodeView,
};
use crate::chain::SimBlock;
use bytes::Bytes;
use serde_json::{Value, json};
use std::sync::Arc;

/// The honest answer of a node that sees `view`.
pub(super) fn answer(view: &NodeView, call: &Call) -> Reply {
    let block = || view.resolve(call.param(0)?);
    match call.method.as_str() {
        "web3_clientVersion" => Reply::value(json!("headwater-simulated-node/1")),
        "net_version" => Reply::value(json!(view.chain.config().chain_id.to_string())),
        "eth_chainId" => Reply::quantity(view.chain.config().chain_id.into()),
        "eth_syncing" => Reply::value(json!(false)),
        "eth_blockNumber" => Reply::quantity(view.head().into()),
        "eth_gasPrice" => Reply::quantity(view.chain.head().base_fee() + 1_000_000_000),
        "eth_call" => contracts::call(view, call),
        "eth_getCode" => Reply::value(json!("0x")),
        "eth_getBlockByNumber" | "eth_getBlockByHash" => {
            known(call, block().map(|b| b.block_json(call.flag(1))))
        }
        "eth_getBlockReceipts" => known(call, block().map(|b| b.receipts_json())),
        "eth_getBlockTransactionCountByNumber" | "eth_getBlockTransactionCountByHash" => {
            known(call, block().map(|b| format!("\"{:#x}\"", b.txs.len()).into()))
        }
        "eth_getTransactionByBlockNumberAndIndex" | "eth_getTransactionByBlockHashAndIndex" => {
            known(call, block().and_then(|b| b.transaction_json(call.quantity(1)? as usize)))
        }
        "eth_getTransactionByHash" => of_transaction(view, call, SimBlock::transaction_json),
        "eth_getTransactionReceipt" => of_transaction(view, call, SimBlock::receipt_json),
        "eth_getBalance" => of_account(view, call, |account| account.balance),
        "eth_getTransactionCount" => of_account(view, call, |account| account.nonce.into()),
        "eth_getProof" if view.chain.config().state_proofs => account_proof(view, call),
        "eth_getLogs" => logs(view, call),
        "debug_traceBlockByNumber" | "debug_traceBlockByHash" => {
            traces(call, block(), |b| b.traces_geth_json())
        }
        "trace_block" => traces(call, block(), |b| b.traces_parity_json()),
        other => Reply::no_method(other),
    }
}

/// `null` for what is not there, an error for what is no block at all.
fn known(call: &Call, text: Option<Bytes>) -> Reply {
    match call.param(0) {
        Some(Value::String(_) | Value::Object(_)) => Reply::or_null(text),
        _ => Reply::bad_params(),
    }
}

fn of_transaction(
    view: &NodeView,
    call: &Call,
    text: impl FnOnce(&SimBlock, usize) -> Option<Bytes>,
) -> Reply {
    let Some(hash) = call.hash(0) else { return Reply::bad_params() };
    Reply::or_null(view.transaction(hash).and_then(|(block, index)| text(&block, index)))
}

fn of_account(
    view: &NodeView,
    call: &Call,
    field: impl Fn(crate::chain::Account) -> u128,
) -> Reply {
    let Some(address) = call.address(0) else { return Reply::bad_params() };
    let latest = Value::from("latest");
    match view.resolve(call.param(1).unwrap_or(&latest)) {
        Some(block) => Reply::quantity(field(view.chain.account_at(address, block.number()))),
        None => Reply::error(-32000, "header not found"),
    }
}

/// Without storage: no account has any here.
fn account_proof(view: &NodeView, call: &Call) -> Reply {
    let Some(address) = call.address(0) else { return Reply::bad_params() };
    let Some(block) = call.param(2).and_then(|at| view.resolve(at)) else {
        return Reply::error(-32000, "header not found");
    };
    let account = view.chain.account_at(address, block.number());
    Reply::value(json!({
        "address": format!("{address:#x}"),
        "accountProof": view.chain.account_proof(address, block.number()).iter().map(ToString::to_string).collect::<Vec<_>>(),
        "balance": format!("{:#x}", account.balance),
        "nonce": format!("{:#x}", account.nonce),
        "codeHash": alloy_trie::KECCAK_EMPTY.to_string(),
        "storageHash": alloy_trie::EMPTY_ROOT_HASH.to_string(),
        "storageProof": [],
    }))
}

fn traces(
    call: &Call,
    block: Option<Arc<SimBlock>>,
    text: impl FnOnce(&SimBlock) -> Bytes,
) -> Reply {
    // Like geth, only the call tracer is offered; its absence means opcode traces, which nobody wants.
    let tracer = call.param(1).and_then(|options| options.get("tracer")).and_then(Value::as_str);
    if call.method.starts_with("debug_") && tracer != Some("callTracer") {
        return Reply::error(-32000, "only the callTracer is simulated");
    }
    match block {
        Some(block) => Reply::Result(text(&block)),
        None => Reply::error(-32000, "block not found"),
    }
}
