//! Filters of a chain of which nothing is stored: a node keeps them, and only that node knows them.
//!
//! So the id that a client gets says which node it is, beside the node's own id; calls about it go there, once each:
//! what a filter tells it does not tell again.

use std::sync::Arc;

use alloy_primitives::hex;
use rpc::{ByteBudget, Call, Forward, Pool, Repeat, Route, UpstreamId};
use serde::{Deserialize, Serialize};

use super::ask;
use crate::answer::{Failure, Outcome};
use crate::methods::Method;
use crate::params::shown;

/// Longer than any node's own.
const ID_CHARS_MAX: usize = 1_024;

pub struct NodeFilters;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeFilterId {
    #[serde(rename = "u")]
    upstream: usize,
    /// The node's own.
    #[serde(rename = "id")]
    own: String,
}

impl NodeFilterId {
    fn text(&self) -> Option<String> {
        serde_json::to_vec(self).ok().map(hex::encode_prefixed)
    }

    fn read(text: &str) -> Option<Self> {
        let text = text.strip_prefix("0x").filter(|text| text.len() <= ID_CHARS_MAX)?;
        serde_json::from_slice(&hex::decode(text).ok()?).ok()
    }
}

impl NodeFilters {
    pub fn offers(method: &str) -> bool {
        Self::is_new(method)
            || matches!(
                method,
                "eth_getFilterChanges" | "eth_getFilterLogs" | "eth_uninstallFilter"
            )
    }

    fn is_new(method: &str) -> bool {
        matches!(method, "eth_newFilter" | "eth_newBlockFilter" | "eth_newPendingTransactionFilter")
    }

    pub async fn ask(
        pool: &Pool,
        method: &'static Method,
        params: &str,
        budget: &Arc<ByteBudget>,
    ) -> Outcome {
        if Self::is_new(method.name) {
            return install(pool, method, params, budget).await;
        }
        let (text,): (String,) = serde_json::from_str(params)
            .map_err(|_| Failure::params("argument 0 is not a filter's id"))?;
        let known = NodeFilterId::read(&text);
        let known = known.filter(|id| pool.upstreams().contains(&UpstreamId(id.upstream)));
        let Some(NodeFilterId { upstream, own }) = known else {
            return Err(Failure::new(-32000, &format!("filter not found: {}", shown(&text))));
        };
        let not = pool.others(UpstreamId(upstream));
        let route = Route { not: &not, ..Route::default() };
        let call = Call::listed(method.name, serde_json::json!([own]).to_string());
        let forward = Forward { call, batch: Some(budget), route };
        ask::told(pool.forward_once(forward, Repeat::Never).await, method.name)
    }
}

async fn install(
    pool: &Pool,
    method: &'static Method,
    params: &str,
    budget: &Arc<ByteBudget>,
) -> Outcome {
    let call = Call::listed(method.name, params.to_owned());
    let forward = Forward { call, batch: Some(budget), route: Route::default() };
    // A filter that nobody knows of is forgotten by its node before long.
    let forwarded = pool.forward_once(forward, Repeat::SameBytes).await;
    let upstream = forwarded.as_ref().map_or(0, |forwarded| forwarded.upstream.0);
    let answer = ask::told(forwarded, method.name)?;
    let own: String = serde_json::from_slice(&answer)
        .map_err(|_| Failure::internal("the node gave a filter that has no id"))?;
    let id = NodeFilterId { upstream, own }.text();
    let id = id.ok_or_else(|| Failure::internal("a filter's id could not be written"))?;
    Ok(format!("\"{id}\"").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_says_whose_it_is_and_nothing_else_is_one() {
        let id = NodeFilterId { upstream: 1, own: "0xabc".into() };
        assert_eq!(NodeFilterId::read(&id.text().unwrap()), Some(id));
        for odd in ["", "0x", "0xabc", "abc", "0x7b7d", &format!("0x{}", "7b".repeat(600))] {
            assert_eq!(NodeFilterId::read(odd), None, "{odd}");
        }
    }
}
