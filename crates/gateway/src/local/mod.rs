//! What the gateway and the store say to a call themselves. A method, or a pair that differs only in how it names the
//! block, is one file.

mod block_number;
mod get_block;
mod get_block_receipts;
mod get_logs;
mod get_transaction_by_hash;
mod get_transaction_count_of_block;
mod get_transaction_in_block;
mod get_transaction_receipt;
mod get_uncle_count;
mod log_filter;
mod question;
mod sha3;
mod without_node;

pub use get_logs::logs_of;
pub use log_filter::LogFilter;
pub use question::Question;
pub use without_node::without_node;

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

pub async fn answer(question: &Question<'_>) -> Result<LocalAnswer, Failure> {
    let chain = question.chain;
    match question.method.name {
        "eth_chainId" => Ok(LocalAnswer::Known(format!("\"{}\"", chain.hex()).into())),
        "net_version" => Ok(LocalAnswer::Known(format!("\"{chain}\"").into())),
        "web3_sha3" => sha3::answer(question.params),
        "eth_blockNumber" => block_number::answer(question).await,
        "eth_getBlockByHash" | "eth_getBlockByNumber" => get_block::answer(question).await,
        "eth_getBlockReceipts" => get_block_receipts::answer(question).await,
        "eth_getBlockTransactionCountByHash" | "eth_getBlockTransactionCountByNumber" => {
            get_transaction_count_of_block::answer(question).await
        }
        "eth_getLogs" => get_logs::answer(question).await,
        "eth_getTransactionByBlockHashAndIndex" | "eth_getTransactionByBlockNumberAndIndex" => {
            get_transaction_in_block::answer(question).await
        }
        "eth_getTransactionByHash" => get_transaction_by_hash::answer(question).await,
        "eth_getTransactionReceipt" => get_transaction_receipt::answer(question).await,
        "eth_getUncleCountByBlockHash" | "eth_getUncleCountByBlockNumber" => {
            get_uncle_count::answer(question).await
        }
        "eth_newFilter" => question.filters.install(question, FilterKind::Logs).await,
        "eth_newBlockFilter" => question.filters.install(question, FilterKind::Blocks).await,
        "eth_getFilterChanges" => question.filters.changes(question, question.feed).await,
        "eth_getFilterLogs" => question.filters.logs(question).await,
        "eth_uninstallFilter" => question.filters.uninstall(question),
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
            format!("the method {name} is not offered: pending transactions are not stored")
        }
        _ => format!("the method {name} is offered over WebSocket, one call a message"),
    }
}
