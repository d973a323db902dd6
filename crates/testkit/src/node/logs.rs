//! `eth_getLogs`: a plain walk over the blocks asked for.

use super::{
    call::{Call, Reply},
    node_view::NodeView,
};
use crate::{
    chain::SimBlock,
    render::{log_json, rendered},
};
use alloy_primitives::{Address, B256, Log};
use serde_json::Value;
use std::sync::Arc;

struct Filter {
    addresses: Vec<Address>,
    /// Per place the topics that fit; an empty list fits all.
    topics: Vec<Vec<B256>>,
}

pub(super) fn logs(view: &NodeView, call: &Call) -> Reply {
    let Some(query) = call.param(0).filter(|query| query.is_object()) else {
        return Reply::bad_params();
    };
    let filter = Filter {
        addresses: one_or_many(query.get("address")),
        topics: query
            .get("topics")
            .and_then(Value::as_array)
            .map(|places| places.iter().map(|place| one_or_many(Some(place))).collect())
            .unwrap_or_default(),
    };
    let Some(blocks) = blocks(view, query) else {
        return Reply::error(-32000, "unknown block");
    };
    Reply::Result(rendered(|out| {
        out.push(b'[');
        for block in blocks {
            write_matching(out, &block, &filter);
        }
        out.push(b']');
    }))
}

fn blocks(view: &NodeView, query: &Value) -> Option<Vec<Arc<SimBlock>>> {
    if let Some(hash) = query.get("blockHash") {
        return Some(vec![view.resolve(hash)?]);
    }
    let bound = |name: &str| query.get(name).and_then(Value::as_str).unwrap_or("latest");
    let (from, to) = (view.number(bound("fromBlock"))?, view.number(bound("toBlock"))?);
    Some((from..=to.min(view.head())).filter_map(|number| view.block(number)).collect())
}

fn write_matching(out: &mut Vec<u8>, block: &SimBlock, filter: &Filter) {
    for (tx_index, tx) in block.txs.iter().enumerate() {
        for (place, _) in tx.logs.iter().enumerate().filter(|(_, log)| filter.fits(log)) {
            if out.last() == Some(&b'}') {
                out.push(b',');
            }
            log_json(out, block, tx_index, place);
        }
    }
}

impl Filter {
    fn fits(&self, log: &Log) -> bool {
        let right_address = self.addresses.is_empty() || self.addresses.contains(&log.address);
        let topics = log.topics();
        let right_topics = self.topics.len() <= topics.len()
            && self.topics.iter().zip(topics).all(|(any, t)| any.is_empty() || any.contains(t));
        right_address && right_topics
    }
}

fn one_or_many<T: std::str::FromStr>(value: Option<&Value>) -> Vec<T> {
    let parse = |value: &Value| value.as_str().and_then(|text| text.parse().ok());
    match value {
        Some(Value::Array(list)) => list.iter().filter_map(parse).collect(),
        Some(one) => parse(one).into_iter().collect(),
        None => Vec::new(),
    }
}
