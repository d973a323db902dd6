//! Which methods there are: the table as data, and what an operator adds to it.

mod method;
mod table;

pub use method::{BlockParam, Finality, Forwarding, Method, Place};
pub use table::METHODS;

use crate::config::Config;

/// What to do with a call.
#[derive(Debug, PartialEq, Clone, Copy)]
pub enum Route {
    Offered(&'static Method),
    /// Not in the table, but the operator lets it through: nothing is known of it, so it is asked of one node, once.
    Allowed,
    Refused,
}

/// `listed`: the name's row of the table, if it has one.
pub fn route(name: &str, listed: Option<&'static Method>, config: &Config) -> Route {
    match listed {
        Some(method) => Route::Offered(method),
        None if is_allowed(name, config) => Route::Allowed,
        None => Route::Refused,
    }
}

pub fn find(name: &str) -> Option<&'static Method> {
    let at = METHODS.binary_search_by(|method| method.name.cmp(name)).ok()?;
    METHODS.get(at)
}

fn is_allowed(name: &str, config: &Config) -> bool {
    config.allow.iter().any(|entry| match entry.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => entry == name,
    })
}

/// Compute units of one call of a method that may not be in the table.
pub fn cost(name: &str, listed: Option<&'static Method>) -> u32 {
    /// As dear as those of its kind that are in it.
    const TRACING: [&str; 2] = ["debug_", "trace_"];
    match listed {
        Some(method) => method.cost,
        None if TRACING.iter().any(|prefix| name.starts_with(prefix)) => 50,
        None => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_names_each_method_once() {
        for (one, next) in METHODS.iter().zip(METHODS.iter().skip(1)) {
            assert!(one.name < next.name, "{} stands before {}", one.name, next.name);
        }
        for method in METHODS {
            assert_eq!(find(method.name), Some(method));
        }
    }

    #[test]
    fn rows_do_not_contradict_themselves() {
        for method in METHODS {
            let Forwarding { may_hedge, may_retry, may_split, writes } = method.forwarding;
            let name = method.name;
            assert!(!writes || !(may_hedge || may_retry || may_split), "{name} acts twice");
            assert_eq!(writes, name.starts_with("eth_send"), "{name}");
            assert!(method.cost > 0, "{name}");
            if matches!(method.finality, Finality::Head | Finality::Node) {
                assert_ne!(method.place, Place::Cache, "{name} would be cached for ever");
            }
            if method.finality == Finality::Transaction {
                assert!(matches!(method.block, BlockParam::TxHash(_)), "{name}");
            }
            if method.finality == Finality::Block {
                assert_ne!(method.block, BlockParam::None, "{name}: which block?");
            }
        }
    }

    #[test]
    fn what_is_not_in_the_table_is_refused_unless_allowed() {
        let strict = Config::default();
        let allow = ["anvil_mine", "evm_*", "eth_sendTransaction"].map(str::to_owned).to_vec();
        let allowing = Config { allow, ..Config::default() };
        for (name, if_allowed) in [
            ("anvil_mine", Route::Allowed),
            ("evm_snapshot", Route::Allowed),
            ("eth_sendTransaction", Route::Allowed),
            ("anvil_reset", Route::Refused),
            ("", Route::Refused),
            (" eth_call", Route::Refused),
            ("ETH_CALL", Route::Refused),
            ("eth_call\n", Route::Refused),
            ("foo_bar", Route::Refused),
        ] {
            assert_eq!(route(name, find(name), &strict), Route::Refused, "{name}");
            assert_eq!(route(name, find(name), &allowing), if_allowed, "{name}");
        }
        // All that a list of what is forbidden once let through.
        for name in "debug_traceBlockFromFile debug_setHead eth_signTypedData_v1 eth_signTypedData_v3 eth_sign \
            eth_resend eth_fillTransaction eth_sendBundle eth_sendPrivateTransaction eth_setEtherbase account_list \
            parity_setEngineSigner parity_addReservedPeer perm_addNodes qbft_x ibft_x istanbul_propose \
            plugins_reload opp2p_peers test_mine txpool_content ganache_setOptions buidler_reset dev_setBalance \
            bor_sendRawTransactionConditional engine_newPayloadV4 testing_buildBlockV1 admin_peers personal_sign"
            .split_ascii_whitespace()
        {
            assert_eq!(route(name, find(name), &strict), Route::Refused, "{name}");
        }
        let sends = find("eth_sendRawTransaction").unwrap();
        assert!(sends.forwarding.writes);
    }
}
