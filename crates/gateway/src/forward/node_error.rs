//! A node's error object as clients know it: standard codes, the node's own words.
//!
//! Codes that JSON-RPC or EIP-1474 know pass as they are, data and all. What is none (a bare text, a code that is an
//! HTTP status or missing) gets the code of what it means.

use rpc::{RpcFailure, RpcFailureKind};

use crate::answer::Failure;

/// Of a contract that reverted, and of history that is pruned (EIP-4444): clients look for these.
const KNOWN_BESIDE: [i64; 2] = [3, 4444];

pub fn told(failure: &RpcFailure) -> Failure {
    let is_object = failure.json().starts_with(b"{");
    // JSON-RPC's own, and those of `eth_simulateV1`.
    let is_standard = matches!(failure.code, -32_768..=-32_000 | -38_999..=-38_000);
    if is_object && (is_standard || KNOWN_BESIDE.contains(&failure.code)) {
        return Failure::of_node(failure.json());
    }
    let code = match failure.kind() {
        RpcFailureKind::RateLimited | RpcFailureKind::TooLarge => -32005,
        RpcFailureKind::MethodMissing => -32601,
        RpcFailureKind::StateMissing => -32001,
        RpcFailureKind::Internal => -32603,
        RpcFailureKind::Other => -32000,
    };
    Failure::new(code, &failure.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_that_clients_know_pass_and_others_become_such() {
        for (sent, told_code, told_text) in [
            (r#"{"code":3,"message":"execution reverted","data":"0x08"}"#, 3, r#""data":"0x08""#),
            (r#"{"code":-32000,"message":"nonce too low"}"#, -32000, "nonce too low"),
            (r#"{"code":-38014,"message":"insufficient funds"}"#, -38014, "insufficient funds"),
            (r#"{"code":4444,"message":"pruned history unavailable"}"#, 4444, "pruned"),
            (r#"{"code":429,"message":"slow down"}"#, -32005, "slow down"),
            (
                r#"{"code":0,"message":"the method x_y does not exist/is not available"}"#,
                -32601,
                "x_y",
            ),
            (r#"{"code":500,"message":"missing trie node 12"}"#, -32001, "missing trie node 12"),
            (r#"{"message":"odd"}"#, -32000, "odd"),
            (r#""bare words""#, -32000, "bare words"),
        ] {
            let failure = told(&RpcFailure::of_text(sent));
            let json: serde_json::Value = serde_json::from_slice(failure.json()).unwrap();
            assert_eq!(json["code"], told_code, "{sent}");
            assert!(std::str::from_utf8(failure.json()).unwrap().contains(told_text), "{sent}");
        }
    }
}
