//! Which methods are answered here, which are forwarded, which are refused, and what they weigh.

use crate::config::Config;

/// What to do with a method.
#[derive(Debug, PartialEq, Clone, Copy)]
pub enum Route {
    ChainId,
    NetVersion,
    GetBlockByHash,
    GetTransactionByBlockNumberAndIndex,
    Forward,
    /// Forwarded to one node only: a second one could accept it twice.
    ForwardOnce,
    Refuse,
}

/// Namespaces that steer a node rather than ask it.
const UNSAFE: [&str; 14] = [
    "admin_", "personal_", "miner_", "engine_", "anvil_", "hardhat_", "evm_", "clique_", "les_",
    "debug_", "testing_", "ots_set", "tenderly_", "db_",
];
/// Questions among them.
const SAFE: [&str; 4] = ["debug_trace", "debug_getRaw", "debug_storageRangeAt", "debug_accountRange"];
/// Writes that need a node's own keys, or its mining.
const WRITES: [&str; 8] = [
    "eth_sendTransaction",
    "eth_sign",
    "eth_signTransaction",
    "eth_signTypedData",
    "eth_signTypedData_v4",
    "eth_submitWork",
    "eth_submitHashrate",
    "eth_sendUnsignedTransaction",
];

pub fn route(method: &str, config: &Config) -> Route {
    match method {
        "eth_chainId" => Route::ChainId,
        "net_version" => Route::NetVersion,
        "eth_getBlockByHash" => Route::GetBlockByHash,
        "eth_getTransactionByBlockNumberAndIndex" => Route::GetTransactionByBlockNumberAndIndex,
        "eth_sendRawTransaction" => Route::ForwardOnce,
        _ if is_allowed(method, config) => Route::Forward,
        _ => Route::Refuse,
    }
}

fn is_allowed(method: &str, config: &Config) -> bool {
    let listed = config.allow.iter().any(|entry| match entry.strip_suffix('*') {
        Some(prefix) => method.starts_with(prefix),
        None => entry == method,
    });
    let is_unsafe = UNSAFE.iter().any(|prefix| method.starts_with(prefix))
        && !SAFE.iter().any(|prefix| method.starts_with(prefix));
    listed || !(is_unsafe || WRITES.contains(&method))
}

/// Compute units of one call, as the live service's price list has them.
pub fn weight(method: &str) -> u32 {
    match method {
        "eth_getBlockByHash"
        | "eth_getBlockTransactionCountByHash"
        | "eth_getLogs"
        | "eth_getTransactionByHash"
        | "eth_getTransactionByBlockHashAndIndex" => 12,
        "eth_getTransactionReceipt" => 8,
        "eth_estimateGas" => 5,
        "eth_getTransactionCount" | "eth_maxPriorityFeePerGas" => 2,
        m if m.starts_with("debug_") || m.starts_with("trace_") => 50,
        _ => 3,
    }
}
