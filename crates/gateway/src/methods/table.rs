//! The methods that are offered, one row each. What is not here does not exist, unless `gateway.allow` names it.
//!
//! Costs are the live service's price list. A row: name, cost, place, finality, block, forwarding. Left out on purpose:
//! what needs a node's own keys (`eth_sign…`, `eth_sendTransaction`, `eth_fillTransaction`), mines or steers
//! (`engine_`, `admin_`, `miner_`, `testing_` …), reads the node's files (`debug_traceBlockFromFile`), or hands out
//! the whole pool of pending transactions (`txpool_content`, `txpool_inspect`).

use super::method::BlockParam::{self, Filter, Hash, Number, NumberOrHash, TxHash};
use super::method::Finality::{self, Block, Constant, Head, Node, Transaction};
use super::method::Place::{self, Cache, Forward, Here, Store};
use super::method::{Forwarding, Method};

const READ: Forwarding = Forwarding::READ;
const HEAVY: Forwarding = Forwarding::HEAVY;
const RANGE: Forwarding = Forwarding::RANGE;
const WRITE: Forwarding = Forwarding::WRITE;
const NO: BlockParam = BlockParam::None;

const fn row(
    name: &'static str,
    cost: u32,
    (place, finality): (Place, Finality),
    block: BlockParam,
    forwarding: Forwarding,
) -> Method {
    Method { name, cost, place, finality, block, forwarding }
}

/// Sorted by name.
#[rustfmt::skip]
pub const METHODS: &[Method] = &[
    row("debug_accountRange",                      50, (Forward, Block),        NumberOrHash(0), HEAVY),
    row("debug_getBadBlocks",                      50, (Forward, Node),         NO,              HEAVY),
    row("debug_getRawBlock",                       50, (Store,   Block),        NumberOrHash(0), READ),
    row("debug_getRawBlockAccessList",             50, (Cache,   Block),        NumberOrHash(0), READ),
    row("debug_getRawHeader",                      50, (Store,   Block),        NumberOrHash(0), READ),
    row("debug_getRawReceipts",                    50, (Store,   Block),        NumberOrHash(0), READ),
    row("debug_getRawTransaction",                 50, (Store,   Transaction),  TxHash(0),       READ),
    row("debug_storageRangeAt",                    50, (Forward, Block),        NumberOrHash(0), HEAVY),
    row("debug_traceBlock",                        50, (Forward, Constant),     NO,              HEAVY),
    row("debug_traceBlockByHash",                  50, (Store,   Block),        Hash(0),         HEAVY),
    row("debug_traceBlockByNumber",                50, (Store,   Block),        Number(0),       HEAVY),
    row("debug_traceCall",                         50, (Forward, Block),        NumberOrHash(1), HEAVY),
    row("debug_traceCallMany",                     50, (Forward, Head),         NO,              HEAVY),
    row("debug_traceTransaction",                  50, (Cache,   Transaction),  TxHash(0),       HEAVY),
    row("eth_accounts",                             3, (Forward, Node),         NO,              READ),
    row("eth_baseFee",                              3, (Forward, Head),         NO,              READ),
    row("eth_blobBaseFee",                          3, (Forward, Head),         NO,              READ),
    row("eth_blockNumber",                          3, (Store,   Head),         NO,              READ),
    row("eth_call",                                 3, (Cache,   Block),        NumberOrHash(1), READ),
    row("eth_callBundle",                           3, (Forward, Head),         NO,              HEAVY),
    row("eth_callMany",                             3, (Forward, Head),         NO,              HEAVY),
    row("eth_capabilities",                         3, (Forward, Node),         NO,              READ),
    row("eth_chainId",                              3, (Here,    Constant),     NO,              READ),
    row("eth_coinbase",                             3, (Forward, Node),         NO,              READ),
    row("eth_config",                               3, (Forward, Head),         NO,              READ),
    row("eth_createAccessList",                     3, (Forward, Block),        NumberOrHash(1), READ),
    row("eth_estimateGas",                          5, (Forward, Block),        NumberOrHash(1), READ),
    row("eth_feeHistory",                           3, (Cache,   Block),        Number(1),       READ),
    row("eth_gasPrice",                             3, (Forward, Head),         NO,              READ),
    row("eth_getAccount",                           3, (Cache,   Block),        NumberOrHash(1), READ),
    row("eth_getAccountInfo",                       3, (Cache,   Block),        NumberOrHash(1), READ),
    row("eth_getBalance",                           3, (Cache,   Block),        NumberOrHash(1), READ),
    row("eth_getBlockAccessList",                   3, (Cache,   Block),        NumberOrHash(0), READ),
    row("eth_getBlockByHash",                      12, (Store,   Block),        Hash(0),         READ),
    row("eth_getBlockByNumber",                     3, (Store,   Block),        Number(0),       READ),
    row("eth_getBlockReceipts",                     3, (Store,   Block),        NumberOrHash(0), READ),
    row("eth_getBlockTransactionCountByHash",      12, (Store,   Block),        Hash(0),         READ),
    row("eth_getBlockTransactionCountByNumber",     3, (Store,   Block),        Number(0),       READ),
    row("eth_getCode",                              3, (Cache,   Block),        NumberOrHash(1), READ),
    row("eth_getFilterChanges",                     3, (Here,    Head),         NO,              RANGE),
    row("eth_getFilterLogs",                       12, (Here,    Head),         NO,              RANGE),
    row("eth_getHeaderByHash",                      3, (Cache,   Block),        Hash(0),         READ),
    row("eth_getHeaderByNumber",                    3, (Cache,   Block),        Number(0),       READ),
    row("eth_getLogs",                             12, (Store,   Block),        Filter(0),       RANGE),
    row("eth_getProof",                             3, (Cache,   Block),        NumberOrHash(2), READ),
    row("eth_getRawTransactionByBlockHashAndIndex", 3, (Store,   Block),        Hash(0),         READ),
    row("eth_getRawTransactionByBlockNumberAndIndex", 3, (Store, Block),        Number(0),       READ),
    row("eth_getRawTransactionByHash",              3, (Store,   Transaction),  TxHash(0),       READ),
    row("eth_getStorageAt",                         3, (Cache,   Block),        NumberOrHash(2), READ),
    row("eth_getStorageValues",                     3, (Cache,   Block),        NumberOrHash(1), READ),
    row("eth_getTransactionByBlockHashAndIndex",   12, (Store,   Block),        Hash(0),         READ),
    row("eth_getTransactionByBlockNumberAndIndex",  3, (Store,   Block),        Number(0),       READ),
    row("eth_getTransactionByHash",                12, (Store,   Transaction),  TxHash(0),       READ),
    row("eth_getTransactionBySenderAndNonce",       3, (Forward, Head),         NO,              READ),
    row("eth_getTransactionCount",                  2, (Cache,   Block),        NumberOrHash(1), READ),
    row("eth_getTransactionReceipt",                8, (Store,   Transaction),  TxHash(0),       READ),
    row("eth_getUncleByBlockHashAndIndex",          3, (Cache,   Block),        Hash(0),         READ),
    row("eth_getUncleByBlockNumberAndIndex",        3, (Cache,   Block),        Number(0),       READ),
    row("eth_getUncleCountByBlockHash",             3, (Store,   Block),        Hash(0),         READ),
    row("eth_getUncleCountByBlockNumber",           3, (Store,   Block),        Number(0),       READ),
    row("eth_hashrate",                             3, (Forward, Node),         NO,              READ),
    row("eth_maxPriorityFeePerGas",                 2, (Forward, Head),         NO,              READ),
    row("eth_mining",                               3, (Forward, Node),         NO,              READ),
    row("eth_newBlockFilter",                       3, (Here,    Head),         NO,              READ),
    row("eth_newFilter",                            3, (Here,    Head),         Filter(0),       READ),
    row("eth_newPendingTransactionFilter",          3, (Here,    Node),         NO,              READ),
    row("eth_protocolVersion",                      3, (Forward, Node),         NO,              READ),
    row("eth_sendRawTransaction",                   3, (Forward, Node),         NO,              WRITE),
    row("eth_sendRawTransactionConditional",        3, (Forward, Node),         NO,              WRITE),
    row("eth_sendRawTransactionSync",               3, (Forward, Node),         NO,              WRITE),
    row("eth_simulateV1",                           3, (Forward, Block),        NumberOrHash(1), HEAVY),
    row("eth_subscribe",                            3, (Here,    Head),         NO,              READ),
    row("eth_syncing",                              3, (Forward, Node),         NO,              READ),
    row("eth_uninstallFilter",                      3, (Here,    Head),         NO,              READ),
    row("eth_unsubscribe",                          3, (Here,    Head),         NO,              READ),
    row("net_listening",                            3, (Forward, Node),         NO,              READ),
    row("net_peerCount",                            3, (Forward, Node),         NO,              READ),
    row("net_version",                              3, (Here,    Constant),     NO,              READ),
    row("trace_block",                             50, (Store,   Block),        NumberOrHash(0), HEAVY),
    row("trace_call",                              50, (Forward, Block),        NumberOrHash(2), HEAVY),
    row("trace_callMany",                          50, (Forward, Block),        NumberOrHash(1), HEAVY),
    row("trace_filter",                            50, (Forward, Block),        Filter(0),       RANGE),
    row("trace_get",                               50, (Cache,   Transaction),  TxHash(0),       HEAVY),
    row("trace_rawTransaction",                    50, (Forward, Head),         NO,              HEAVY),
    row("trace_replayBlockTransactions",           50, (Cache,   Block),        NumberOrHash(0), HEAVY),
    row("trace_replayTransaction",                 50, (Cache,   Transaction),  TxHash(0),       HEAVY),
    row("trace_transaction",                       50, (Cache,   Transaction),  TxHash(0),       HEAVY),
    row("txpool_contentFrom",                       3, (Forward, Node),         NO,              READ),
    row("txpool_status",                            3, (Forward, Node),         NO,              READ),
    row("web3_clientVersion",                       3, (Forward, Node),         NO,              READ),
    row("web3_sha3",                                3, (Here,    Constant),     NO,              READ),
];
