//! What a node can do, as probing found it.

use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    /// `web3_clientVersion`, empty when the node does not say.
    pub client: String,
    pub receipts: Receipts,
    pub traces: Traces,
    /// The oldest block the node still has; 0 when its history is whole.
    pub oldest_block: u64,
    /// Whether old blocks can be traced, not only those whose state is still in memory.
    pub traces_old_blocks: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Receipts {
    /// `eth_getBlockReceipts`
    Block,
    /// `eth_getTransactionReceipt`, one by one.
    Transaction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Traces {
    /// `debug_traceBlockByNumber` with callTracer.
    DebugTraceBlock,
    TraceBlock,
    None,
}
