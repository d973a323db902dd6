//! One table: what is wrong with the first node × what clients of the gateway see.
//!
//! The second node is honest. Clients must see no error, and of what can be verified nothing wrong; with a quorum
//! of two among three nodes nothing wrong at all.

use std::time::Duration;

use gateway::Config;
use serde_json::{Value, json};
use testkit::{Fault, Rule, SharedChain, SimNode, Tamper};

use crate::setup::*;

const BLOCKS: u64 = 40;
/// Answered from a node every time, or once.
const ASKED: [&str; 9] = [
    "eth_getBlockByHash",
    "eth_getBlockByNumber",
    "eth_getTransactionByHash",
    "eth_getTransactionReceipt",
    "eth_getBlockReceipts",
    "eth_getBalance",
    "eth_getTransactionCount",
    "eth_getLogs",
    "eth_gasPrice",
];
/// Whose answers are recomputed.
const VERIFIABLE: [&str; 3] =
    ["eth_getBlockByHash", "eth_getTransactionByHash", "eth_getBlockReceipts"];

struct Row {
    fault: &'static str,
    rules: Vec<Rule>,
    is_dead: bool,
}

fn row(fault: &'static str, rules: impl IntoIterator<Item = Rule>) -> Row {
    Row { fault, rules: rules.into_iter().collect(), is_dead: false }
}

/// A fault of clients' calls alone: the node looks well to whoever polls it.
fn of_calls(fault: Fault) -> Rule {
    Rule::new(fault).on_methods(ASKED)
}

fn rows() -> Vec<Row> {
    let lie = |tamper| [Rule::from(tamper)];
    vec![
        row("none", []),
        Row { fault: "dead", rules: vec![], is_dead: true },
        row("slow (1 s)", [of_calls(Fault::Delay(Duration::from_secs(1)))]),
        row("silent", [of_calls(Fault::Hang)]),
        row("silent in all", [Rule::new(Fault::Hang)]),
        row("lagging by 30", [Rule::new(Fault::Lag(30))]),
        row("lagging by 3", [Rule::new(Fault::Lag(3))]),
        row("flapping head", [Rule::new(Fault::FlappingHead)]),
        row("absurd head", [Rule::new(Fault::FarHead(1_000_000_000))]),
        row("429 to all", [Rule::new(Fault::RateLimit { retry_after_s: 1 })]),
        row("429 to half", [of_calls(Fault::RateLimit { retry_after_s: 1 }).with_probability(0.5)]),
        row("HTTP 500", [of_calls(Fault::HttpError(500))]),
        row("internal errors", [of_calls(internal_error())]),
        row("has nothing", [of_calls(Fault::NotFound)]),
        row("no such methods", [of_calls(Fault::NoMethod)]),
        row("half a body", [of_calls(Fault::TruncatedBody)]),
        row("body breaks off", [of_calls(Fault::BrokenBody)]),
        row("half-closed socket", [of_calls(Fault::StalledBody)]),
        row("endless body", [of_calls(Fault::EndlessBody)]),
        row("no batches", [Rule::new(Fault::RefuseBatches)]),
        row("lie: value", lie(Tamper::ChangedValue)),
        row("lie: sender", lie(Tamper::ChangedFrom)),
        row("lie: timestamp", lie(Tamper::ChangedTimestamp)),
        row("lie: transaction missing", lie(Tamper::DroppedTransaction)),
        row("lie: other block's body", lie(Tamper::OtherBlocksBody)),
        row("lie: parent", lie(Tamper::WrongParent)),
        row("lie: log missing", lie(Tamper::DroppedLog)),
        row("lie: log data", lie(Tamper::ChangedLogData)),
        row("lie: receipts of others", lie(Tamper::SwappedReceipts)),
        row("lie: every sender", lie(Tamper::EverySender)),
    ]
}

fn internal_error() -> Fault {
    Fault::RpcError { code: -32603, message: "internal error".into() }
}

/// What is asked, about blocks that every node that lags a little has.
fn questions(chain: &SharedChain) -> Vec<(&'static str, Value)> {
    let chain = testkit::read(chain);
    let mut asked = Vec::new();
    for number in [3, 11, 20, 27] {
        let block = chain.block(number).unwrap();
        let (hash, quantity) = (block.hash.to_string(), format!("{number:#x}"));
        let tx = block.txs.last().unwrap().hash.to_string();
        let wallet = format!("{:#x}", chain.actors().wallets[1].address);
        asked.push(("eth_getBlockByHash", json!([hash, true])));
        asked.push(("eth_getBlockByHash", json!([hash, false])));
        asked.push(("eth_getBlockByNumber", json!([quantity, true])));
        asked.push(("eth_getTransactionByHash", json!([tx])));
        asked.push(("eth_getTransactionReceipt", json!([tx])));
        asked.push(("eth_getBlockReceipts", json!([hash])));
        asked.push(("eth_getBalance", json!([wallet, quantity])));
        asked.push(("eth_getTransactionCount", json!([wallet, quantity])));
        asked.push(("eth_getLogs", json!([{ "blockHash": hash }])));
        asked.push(("eth_getLogs", json!([{ "fromBlock": "0x1", "toBlock": quantity }])));
    }
    asked.push(("eth_gasPrice", json!([])));
    asked
}

#[derive(Default)]
struct Seen {
    calls: usize,
    errors: Vec<String>,
    wrong: Vec<&'static str>,
}

async fn ask_all(rig: &Rig, asked: &[(&'static str, Value)], truth: &[Value]) -> Seen {
    let mut seen = Seen::default();
    let mut judge = |method: &'static str, answer: &Value, truth: &Value| {
        seen.calls += 1;
        if let Some(error) = answer.get("error") {
            seen.errors.push(format!("{method}: {error}"));
        } else if answer["result"] != *truth {
            seen.wrong.push(method);
        }
    };
    for ((method, params), truth) in asked.iter().zip(truth) {
        judge(method, &rig.ask(method, params.clone()).await, truth);
    }
    let calls =
        asked.iter().enumerate().map(|(id, (method, params))| call(id, method, params.clone()));
    let body = Value::from(calls.collect::<Vec<_>>()).to_string();
    let answers = rig.ask_text(&body).await.0;
    for (((method, _), truth), answer) in asked.iter().zip(truth).zip(answers.as_array().unwrap()) {
        judge(method, answer, truth);
    }
    seen
}

async fn truths(chain: &SharedChain, asked: &[(&'static str, Value)]) -> Vec<Value> {
    let honest = node(chain).await;
    let rig = rig(Config::default(), &[honest.url()]).await;
    rig.all_healthy().await;
    let mut truth = Vec::new();
    for (method, params) in asked {
        let answer = rig.ask(method, params.clone()).await;
        assert!(answer.get("error").is_none(), "{method} {params}: {answer}");
        truth.push(answer["result"].clone());
    }
    truth
}

/// The first node is well until it is in use, then the fault begins.
async fn faulty(
    row: &Row,
    chain: &SharedChain,
    config: Config,
    honest: usize,
) -> (Rig, Vec<SimNode>) {
    let mut nodes = vec![node(chain).await];
    for _ in 0..honest {
        nodes.push(node(chain).await);
    }
    let urls: Vec<String> = nodes.iter().map(SimNode::url).collect();
    let rig = rig(Config { cache_bytes_max: 0, ..config }, &urls).await;
    rig.all_healthy().await;
    for rule in &row.rules {
        nodes[0].faults.add(rule.clone());
    }
    if row.is_dead {
        nodes.remove(0).stop().await;
    }
    (rig, nodes)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn clients_see_no_error_and_nothing_wrong_while_one_honest_node_lives() {
    let chain = simulated(BLOCKS);
    let asked = questions(&chain);
    let truth = truths(&chain, &asked).await;
    let mut failures = Vec::new();
    println!(
        "| the first node | calls | errors | wrong, verifiable | wrong, others | wrong with a quorum of 2 |"
    );
    println!("|---|---|---|---|---|---|");
    for row in rows() {
        let (rig, nodes) = faulty(&row, &chain, Config::default(), 1).await;
        let alone = ask_all(&rig, &asked, &truth).await;
        drop((rig, nodes));
        let quorum = Config { quorum: 2, ..Config::default() };
        let (rig, nodes) = faulty(&row, &chain, quorum, 2).await;
        let agreed = ask_all(&rig, &asked, &truth).await;
        drop((rig, nodes));
        let is_verifiable = |method: &&&str| VERIFIABLE.contains(*method);
        let verifiable = alone.wrong.iter().filter(is_verifiable).count();
        let others = alone.wrong.len() - verifiable;
        let errors = alone.errors.len() + agreed.errors.len();
        let calls = alone.calls + agreed.calls;
        let name = row.fault;
        println!(
            "| {name} | {calls} | {errors} | {verifiable} | {others} | {} |",
            agreed.wrong.len()
        );
        if errors + verifiable + agreed.wrong.len() > 0 {
            failures.push(format!(
                "{name}: {:?} {:?} {:?} {:?}",
                alone.errors, alone.wrong, agreed.errors, agreed.wrong
            ));
        }
        if !name.starts_with("lie") && others > 0 {
            failures.push(format!("{name}: {:?}", alone.wrong));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
