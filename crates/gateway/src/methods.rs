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
    "admin_",
    "personal_",
    "miner_",
    "engine_",
    "anvil_",
    "hardhat_",
    "evm_",
    "clique_",
    "les_",
    "debug_",
    "testing_",
    "ots_set",
    "tenderly_",
    "db_",
];
/// Questions among them.
const SAFE: [&str; 4] =
    ["debug_trace", "debug_getRaw", "debug_storageRangeAt", "debug_accountRange"];
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
        _ if is_restricted(method) && !is_allowed(method, config) => Route::Refuse,
        _ if is_restricted(method) || sends(method) => Route::ForwardOnce,
        _ => Route::Forward,
    }
}

/// Whether it changes the node, or what only the node's owner may change.
fn is_restricted(method: &str) -> bool {
    let starts_with = |prefixes: &[&str]| prefixes.iter().any(|p| method.starts_with(p));
    WRITES.contains(&method) || starts_with(&UNSAFE) && !starts_with(&SAFE)
}

fn is_allowed(method: &str, config: &Config) -> bool {
    config.allow.iter().any(|entry| match entry.strip_suffix('*') {
        Some(prefix) => method.starts_with(prefix),
        None => entry == method,
    })
}

/// `eth_sendRawTransaction` and its kin in every namespace: signed already, and meant to act.
fn sends(method: &str) -> bool {
    method.split_once('_').is_some_and(|(_, name)| name.starts_with("send"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_goes_to_one_node_and_what_is_restricted_is_refused_unless_allowed() {
        let strict = Config::default();
        let allow = ["anvil_mine", "evm_*", "eth_sendTransaction"].map(str::to_owned).to_vec();
        let allowing = Config { allow, ..Config::default() };
        for (method, by_default, if_allowed) in [
            ("eth_call", Route::Forward, Route::Forward),
            ("eth_sendRawTransaction", Route::ForwardOnce, Route::ForwardOnce),
            ("eth_sendRawTransactionSync", Route::ForwardOnce, Route::ForwardOnce),
            ("bor_sendRawTransactionConditional", Route::ForwardOnce, Route::ForwardOnce),
            ("eth_sendBundle", Route::ForwardOnce, Route::ForwardOnce),
            ("eth_sendTransaction", Route::Refuse, Route::ForwardOnce),
            ("eth_sign", Route::Refuse, Route::Refuse),
            ("anvil_mine", Route::Refuse, Route::ForwardOnce),
            ("anvil_reset", Route::Refuse, Route::Refuse),
            ("evm_snapshot", Route::Refuse, Route::ForwardOnce),
            ("debug_traceBlockByNumber", Route::Forward, Route::Forward),
            ("debug_setHead", Route::Refuse, Route::Refuse),
            ("trace_block", Route::Forward, Route::Forward),
            ("", Route::Forward, Route::Forward),
        ] {
            assert_eq!(route(method, &strict), by_default, "{method}");
            assert_eq!(route(method, &allowing), if_allowed, "{method}");
        }
    }
}
