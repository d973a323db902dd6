//! What the gateway and the store say to a call themselves. A method, or a pair that differs only in how it names the
//! block, is one file.

mod block_number;
mod get_block;
mod get_block_receipts;
mod get_logs;
mod get_raw;
mod get_transaction_by_hash;
mod get_transaction_count_of_block;
mod get_transaction_in_block;
mod get_transaction_receipt;
mod get_uncle_count;
mod log_filter;
mod sha3;
mod store_call;
mod trace_block;
mod without_node;

pub use get_logs::logs_of;
pub use log_filter::LogFilter;
pub use store_call::StoreCall;
pub use without_node::without_node;

use model::raw::Tx;

use crate::answer::Failure;
use crate::feed::FilterKind;

#[derive(Debug, PartialEq)]
pub enum LocalAnswer {
    /// The exact answer, as JSON.
    Known(Vec<u8>),
    AskNode,
}

impl LocalAnswer {
    /// It is known that there is no such thing.
    fn null() -> Self {
        LocalAnswer::Known(b"null".to_vec())
    }

    fn quantity(value: u64) -> Self {
        LocalAnswer::Known(format!("\"{value:#x}\"").into())
    }
}

/// How a transaction is told; none where the store does not have all that it takes.
type TxForm = fn(&Tx) -> Option<Vec<u8>>;

fn tx_json(tx: &Tx) -> Option<Vec<u8>> {
    let mut json = Vec::with_capacity(1024);
    tx.write_json(&mut json);
    Some(json)
}

pub async fn answer(call: &StoreCall<'_>) -> Result<LocalAnswer, Failure> {
    let chain = call.chain;
    match call.method.name {
        "eth_chainId" => Ok(LocalAnswer::Known(format!("\"{}\"", chain.hex()).into())),
        "net_version" => Ok(LocalAnswer::Known(format!("\"{chain}\"").into())),
        "web3_sha3" => sha3::answer(call.params),
        "eth_blockNumber" => block_number::answer(call).await,
        "eth_getBlockByHash" | "eth_getBlockByNumber" => get_block::answer(call).await,
        "eth_getBlockReceipts" => get_block_receipts::answer(call).await,
        "eth_getBlockTransactionCountByHash" | "eth_getBlockTransactionCountByNumber" => {
            get_transaction_count_of_block::answer(call).await
        }
        "eth_getLogs" => get_logs::answer(call).await,
        "eth_getTransactionByBlockHashAndIndex" | "eth_getTransactionByBlockNumberAndIndex" => {
            get_transaction_in_block::answer(call, tx_json).await
        }
        "eth_getTransactionByHash" => get_transaction_by_hash::answer(call, tx_json).await,
        "debug_getRawBlock" | "debug_getRawHeader" | "debug_getRawReceipts" => {
            get_raw::answer(call).await
        }
        "debug_traceBlockByHash" | "debug_traceBlockByNumber" | "trace_block" => {
            trace_block::answer(call).await
        }
        "debug_getRawTransaction" | "eth_getRawTransactionByHash" => {
            get_transaction_by_hash::answer(call, get_raw::transaction).await
        }
        "eth_getRawTransactionByBlockHashAndIndex"
        | "eth_getRawTransactionByBlockNumberAndIndex" => {
            get_transaction_in_block::answer(call, get_raw::transaction).await
        }
        "eth_getTransactionReceipt" => get_transaction_receipt::answer(call).await,
        "eth_getUncleCountByBlockHash" | "eth_getUncleCountByBlockNumber" => {
            get_uncle_count::answer(call).await
        }
        "eth_newFilter" => call.filters.install(call, FilterKind::Logs).await,
        "eth_newBlockFilter" => call.filters.install(call, FilterKind::Blocks).await,
        "eth_getFilterChanges" => call.filters.changes(call, call.feed).await,
        "eth_getFilterLogs" => call.filters.logs(call).await,
        "eth_uninstallFilter" => call.filters.uninstall(call),
        // A node keeps it, and tells what it sees.
        "eth_newPendingTransactionFilter" if call.head.has_nodes() => Ok(LocalAnswer::AskNode),
        name @ ("eth_newPendingTransactionFilter" | "eth_subscribe" | "eth_unsubscribe") => {
            Err(Failure::new(-32601, &elsewhere(name)))
        }
        _ => Ok(LocalAnswer::AskNode),
    }
}

/// Why a method of the table is not answered by an ordinary call.
fn elsewhere(name: &str) -> String {
    match name {
        "eth_newPendingTransactionFilter" => {
            format!("the method {name} needs a node: pending transactions are not stored")
        }
        _ => format!("the method {name} is offered over WebSocket, one call a message"),
    }
}
