//! Both trace dialects tell the same frames, and the frames fit the transactions.

use crate::json::{address, bytes, list, parse, u64, u128};
use alloy_primitives::{Address, Bytes};
use serde_json::Value;
use std::collections::HashSet;
use testkit::{SimChain, SimConfig};

/// A frame as either dialect can tell it. The root's gas differs between them and is left out.
#[derive(Debug, PartialEq, Clone)]
pub struct Row {
    pub tx: usize,
    pub path: Vec<usize>,
    pub kind: String,
    pub from: Address,
    pub to: Option<Address>,
    pub value: u128,
    pub gas: Option<(u64, u64)>,
    pub input: Bytes,
    pub output: Bytes,
    pub failed: bool,
}

pub fn geth_rows(chain: &SimChain, number: u64) -> Vec<Row> {
    let traces = parse(&chain.traces_geth_json(number).unwrap());
    let mut rows = Vec::new();
    for (tx, trace) in traces.as_array().unwrap().iter().enumerate() {
        walk(&trace["result"], tx, &mut Vec::new(), &mut rows);
    }
    rows
}

fn walk(frame: &Value, tx: usize, path: &mut Vec<usize>, rows: &mut Vec<Row>) {
    let optional = |field: &str| frame[field].as_str().map(|_| bytes(frame, field));
    let failed = frame["error"].is_string();
    let kind = frame["type"].as_str().unwrap().to_lowercase();
    let has_gas = !failed && !path.is_empty() && kind != "selfdestruct";
    rows.push(Row {
        tx,
        path: path.clone(),
        from: address(frame, "from"),
        to: frame["to"].as_str().map(|_| address(frame, "to")),
        value: if kind == "staticcall" { 0 } else { u128(frame, "value") },
        gas: has_gas.then(|| (u64(frame, "gas"), u64(frame, "gasUsed"))),
        input: bytes(frame, "input"),
        output: if failed { Bytes::new() } else { optional("output").unwrap_or_default() },
        failed,
        kind,
    });
    for (place, call) in frame["calls"].as_array().into_iter().flatten().enumerate() {
        path.push(place);
        walk(call, tx, path, rows);
        path.pop();
    }
}

pub fn parity_rows(chain: &SimChain, number: u64) -> Vec<Row> {
    let traces = parse(&chain.traces_parity_json(number).unwrap());
    traces.as_array().unwrap().iter().map(|row| parity_row(row, number)).collect()
}

fn parity_row(row: &Value, number: u64) -> Row {
    assert_eq!(row["blockNumber"], number);
    let action = &row["action"];
    let result = &row["result"];
    let failed = row["error"].is_string();
    let path: Vec<usize> =
        list(row, "traceAddress").iter().map(|n| n.as_u64().unwrap() as usize).collect();
    let gas = (!failed && !path.is_empty() && !result.is_null())
        .then(|| (u64(action, "gas"), u64(result, "gasUsed")));
    let tx = row["transactionPosition"].as_u64().unwrap() as usize;
    let base = |kind: &str, from: &str, to, value: &str, input, output| Row {
        tx,
        path: path.clone(),
        kind: kind.to_owned(),
        from: address(action, from),
        to,
        value: u128(action, value),
        gas,
        input,
        output,
        failed,
    };
    let output = |field: &str| if failed { Bytes::new() } else { bytes(result, field) };
    match row["type"].as_str().unwrap() {
        "call" => {
            let (kind, to) = (action["callType"].as_str().unwrap(), Some(address(action, "to")));
            base(kind, "from", to, "value", bytes(action, "input"), output("output"))
        }
        "create" => {
            let to = (!failed).then(|| address(result, "address"));
            let kind = action["creationMethod"].as_str().unwrap();
            base(kind, "from", to, "value", bytes(action, "init"), output("code"))
        }
        "suicide" => {
            let to = Some(address(action, "refundAddress"));
            base("selfdestruct", "address", to, "balance", Bytes::new(), Bytes::new())
        }
        other => panic!("unknown row type {other}"),
    }
}

#[test]
fn both_dialects_describe_the_same_frames() {
    let mut chain = SimChain::new(SimConfig { txs_per_block: 30, ..SimConfig::seeded(21) });
    chain.extend(40);
    let mut kinds = HashSet::new();
    let mut deepest = 0;
    for number in 0..=40 {
        let rows = geth_rows(&chain, number);
        assert_eq!(rows, parity_rows(&chain, number), "block {number}");
        kinds.extend(rows.iter().map(|row| row.kind.clone()));
        deepest = deepest.max(rows.iter().map(|row| row.path.len()).max().unwrap_or_default());
    }
    let all =
        ["call", "delegatecall", "staticcall", "callcode", "create", "create2", "selfdestruct"];
    assert_eq!(kinds, all.map(String::from).into());
    assert!(deepest >= 5);
}

#[test]
fn roots_are_the_transactions_and_children_fit_their_parents() {
    let mut chain = SimChain::new(SimConfig { txs_per_block: 30, ..SimConfig::seeded(22) });
    chain.extend(30);
    for block in chain.blocks() {
        let rows = parity_rows(&chain, block.number());
        let raw = parse(&chain.traces_parity_json(block.number()).unwrap());
        for (row, raw) in rows.iter().zip(raw.as_array().unwrap()) {
            let is_child = |other: &&Row| {
                other.tx == row.tx && other.path.split_last().is_some_and(|(_, p)| p == row.path)
            };
            assert_eq!(raw["subtraces"], rows.iter().filter(is_child).count());
        }
        for (place, tx) in block.txs.iter().enumerate() {
            let roots: Vec<_> =
                rows.iter().filter(|row| row.tx == place && row.path.is_empty()).collect();
            assert_eq!(roots.len(), 1);
            assert_eq!(roots[0].from, tx.from);
            assert_eq!(roots[0].failed, !tx.succeeded);
            assert_eq!(roots[0].to.filter(|_| tx.to().is_some()), tx.to());
        }
    }
}

#[test]
fn gas_flows_down_and_is_never_overspent() {
    let mut chain = SimChain::new(SimConfig { txs_per_block: 30, ..SimConfig::seeded(23) });
    chain.extend(20);
    for number in 1..=20 {
        let traces = parse(&chain.traces_geth_json(number).unwrap());
        for trace in traces.as_array().unwrap() {
            check_gas(&trace["result"]);
        }
    }
}

fn check_gas(frame: &Value) {
    let used: u64 =
        frame["calls"].as_array().into_iter().flatten().map(|c| u64(c, "gasUsed")).sum();
    assert!(used <= u64(frame, "gasUsed") && u64(frame, "gasUsed") <= u64(frame, "gas"));
    frame["calls"].as_array().into_iter().flatten().for_each(check_gas);
}
