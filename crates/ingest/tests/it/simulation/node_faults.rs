//! What goes wrong at a node, and a client that asks it for what it refuses. All of it ends when the rules
//! of the node are cleared.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rand::Rng;
use rand::rngs::StdRng;
use rpc::{Call, Pool};
use serde_json::value::RawValue;
use testkit::{Fault, Rule, SimNode, Tamper};
use tokio::task::JoinSet;

const LIES: [Tamper; 4] = [
    Tamper::WrongParentRehashed,
    Tamper::DroppedLog,
    Tamper::OtherBlocksBody,
    Tamper::ChangedValue,
];
const TRACE_METHODS: [&str; 2] = ["debug_traceBlockByNumber", "trace_block"];

/// Every kind, by name.
pub const NODE_FAULTS: [&str; 13] = [
    "head that flaps",
    "node that lags",
    "answers that break off",
    "503",
    "slow node",
    "empty traces",
    "too few traces",
    "failed traces",
    "block that never traces",
    "blocks that are not there",
    "traces that hang",
    "429",
    "lies",
];

/// One that strikes for a while.
pub fn node_fault(kind: &str, head: u64, random: &mut StdRng) -> Rule {
    match kind {
        "head that flaps" => Rule::new(Fault::FlappingHead).times(40),
        "node that lags" => Rule::new(Fault::Lag(random.random_range(1..6))).times(30),
        "answers that break off" => Rule::new(Fault::TruncatedBody).with_probability(0.2).times(10),
        "503" => Rule::new(Fault::HttpError(503)).with_probability(0.2).times(10),
        "slow node" => Rule::new(Fault::Delay(Duration::from_millis(60))).times(20),
        "empty traces" => Rule::from(Tamper::EmptyTraces).times(15),
        "too few traces" => Rule::from(Tamper::DroppedTrace).times(15),
        "failed traces" => Rule::from(Tamper::FailedTrace).times(15),
        // One that is about to come, most of the time.
        "block that never traces" => {
            Rule::from(Tamper::FailedTrace).on_block(head + random.random_range(0..10))
        }
        // As of a pruned node, or of one that is still syncing.
        "blocks that are not there" => Rule::new(Fault::NotFound).with_probability(0.3).times(20),
        "traces that hang" => {
            Rule::new(Fault::Hang).on_methods(TRACE_METHODS).with_probability(0.2).times(4)
        }
        "429" => Rule::new(Fault::RateLimit { retry_after_s: 0 }).with_probability(0.2).times(10),
        "lies" => {
            let lie = LIES[random.random_range(0..LIES.len())];
            Rule::from(lie).with_probability(0.5).times(30)
        }
        other => panic!("no such fault: {other}"),
    }
}

/// What only the client asks for, and how it is refused.
fn refusals(retry_after_s: u64) -> [(&'static str, Fault); 5] {
    [
        ("eth_call", Fault::RateLimit { retry_after_s }),
        ("eth_getLogs", Fault::HttpError(400)),
        ("eth_getProof", Fault::HttpError(503)),
        ("eth_estimateGas", Fault::RpcError { code: -32005, message: "limit exceeded".into() }),
        ("eth_getCode", Fault::TruncatedBody),
    ]
}

/// `retry_after_s` is what a client is told to wait. Were the ingest to wait with it, a long one would be longer
/// than any test waits.
pub fn refuse_clients(node: &SimNode, retry_after_s: u64) {
    for (method, fault) in refusals(retry_after_s) {
        node.faults.add(Rule::new(fault).on_methods([method]));
    }
}

/// Tries again and again until it is dropped, and counts how often it was refused.
pub fn provoke(pool: &Arc<Pool>, refused: &Arc<AtomicU64>) -> JoinSet<()> {
    let mut clients = JoinSet::new();
    for (method, _) in refusals(0) {
        let (pool, refused) = (pool.clone(), refused.clone());
        clients.spawn(async move {
            loop {
                let params = RawValue::from_string("[]".to_owned()).unwrap();
                let asked = pool.forward(Call::new(method, params)).await;
                if asked.is_err() || asked.is_ok_and(|forwarded| forwarded.answer.is_err()) {
                    refused.fetch_add(1, Ordering::Relaxed);
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        });
    }
    clients
}
