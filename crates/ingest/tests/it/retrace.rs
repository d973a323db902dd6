//! Blocks stored without traces get them as soon as somebody can give them.

use std::time::Duration;

use ingest::{ChainIngest, TraceUse};
use rpc::UpstreamConfig;
use store::{Entry, EntryKind, Origin};
use testkit::{Fault, Rule, SharedChain, SimNode, read, write};

use crate::setup::*;

/// A node that traces nothing.
async fn plain(chain: &SharedChain) -> SimNode {
    let node = node(chain).await;
    node.faults.add(Rule::no_debug_trace());
    node.faults.add(Rule::no_parity_trace());
    node
}

/// A node that does not run yet: where it will be.
async fn absent(chain: &SharedChain) -> (std::net::SocketAddr, UpstreamConfig) {
    let node = node(chain).await;
    let (address, upstream) = (node.address(), UpstreamConfig::from_url(node.url()));
    node.stop().await;
    (address, upstream)
}

async fn nothing_is_untraced(rig: &Rig, ingest: &ChainIngest) {
    let all_traced = async || {
        let left = rig.untraced().await;
        let told = ingest.progress.snapshot().blocks_untraced;
        if left.is_empty() && told == Some(0) { Ok(()) } else { Err(format!("{left:?} {told:?}")) }
    };
    eventually_gives("everything is traced", all_traced).await;
}

async fn amends(rig: &Rig) -> Vec<Entry> {
    let mut entries = rig.journal_after(0).await;
    entries.retain(|entry| entry.kind == EntryKind::Amend);
    entries
}

#[tokio::test]
async fn blocks_are_traced_when_a_node_that_traces_appears() {
    let chain = sim(201, 30);
    let node = plain(&chain).await;
    let (address, tracing) = absent(&chain).await;
    let mut rig = Rig::new(&[&node]).await;
    rig.upstreams.push(tracing);
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::None).await;
    assert_eq!(rig.untraced().await, (1..=30).rev().collect::<Vec<u64>>());
    let told = || ingest.progress.snapshot().blocks_untraced;
    eventually("the queue is told", || told() == Some(30), || format!("{:?}", told())).await;

    let tracing = SimNode::start_on(chain.clone(), address).await.unwrap();
    nothing_is_untraced(&rig, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
    let amends = amends(&rig).await;
    assert_eq!(amends.len(), 30, "each once");
    for (entry, number) in amends.iter().zip((1..=30).rev()) {
        assert_eq!((entry.number, entry.origin), (number, Origin::History), "newest first");
        assert_eq!(entry.hash, read(&chain).block(number).unwrap().hash);
    }
    assert_eq!(ingest.progress.snapshot().blocks_amended, 30);
    // What comes from now on is traced at once.
    write(&chain).extend(3);
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
    drop(tracing);
}

#[tokio::test]
async fn a_store_of_an_earlier_run_is_completed() {
    let chain = sim(202, 20);
    let node = plain(&chain).await;
    let mut rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    drop(ingest);
    node.faults.clear();
    rig.reopen().await;
    rig.config.traces = TraceUse::Off;
    let ingest = rig.start();
    write(&chain).extend(1);
    rig.reaches(&chain, &ingest).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(rig.untraced().await.len(), 21, "nobody asks where traces are off");
    assert_eq!(ingest.progress.snapshot().blocks_untraced, None);
    drop(ingest);
    rig.config.traces = TraceUse::Auto;
    let ingest = rig.start();
    nothing_is_untraced(&rig, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
}

#[tokio::test]
async fn reorgs_of_blocks_that_wait_for_traces_do_no_harm() {
    let chain = sim(203, 60);
    let node = plain(&chain).await;
    let (address, tracing) = absent(&chain).await;
    let mut rig = Rig::new(&[&node]).await;
    rig.upstreams.push(tracing);
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    // While they wait.
    write(&chain).reorg(5, 7);
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::None).await;
    // While they are asked for.
    let tracing = SimNode::start_on(chain.clone(), address).await.unwrap();
    let slow = Rule::new(Fault::Delay(Duration::from_millis(40)));
    tracing.faults.add(slow.on_methods(["debug_traceBlockByNumber"]));
    for depth in [2, 12, 30, 1] {
        tokio::time::sleep(Duration::from_millis(120)).await;
        write(&chain).reorg(depth, depth + 1);
    }
    rig.reaches(&chain, &ingest).await;
    nothing_is_untraced(&rig, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
    // Nothing was amended that was not there, and nothing twice.
    let mut open = std::collections::HashSet::new();
    for entry in rig.journal_after(0).await {
        match entry.kind {
            EntryKind::Apply => drop(open.insert(entry.hash)),
            EntryKind::Revert => drop(open.remove(&entry.hash)),
            EntryKind::Amend => assert!(open.remove(&entry.hash), "{entry:?}"),
        }
    }
}

/// The state of old blocks is gone, and the node's probe says so.
#[tokio::test]
async fn what_is_beyond_a_nodes_reach_is_not_asked_for() {
    let chain = sim(204, 250);
    let node = plain(&chain).await;
    let mut rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    drop(ingest);
    node.faults.clear();
    node.faults.add(pruned(0..=140));
    rig.reopen().await;
    let ingest = rig.start();
    let reached = async || {
        let left = rig.untraced().await;
        if left.first() == Some(&153) { Ok(()) } else { Err(format!("{:?}", left.first())) }
    };
    eventually_gives("all within reach is traced", reached).await;
    let asked = node.faults.requests("debug_traceBlockByNumber");
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert_eq!(node.faults.requests("debug_traceBlockByNumber"), asked);
    assert_eq!(amends(&rig).await.len(), 97);
    assert!(ingest.pool.status().upstreams[0].evidence.is_empty());
}

/// The node says that it traces old blocks, and does, but not all of them.
#[tokio::test]
async fn what_turns_out_to_be_beyond_reach_is_asked_for_with_growing_pauses() {
    let chain = sim(205, 250);
    let node = plain(&chain).await;
    let mut rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    drop(ingest);
    node.faults.clear();
    node.faults.add(pruned(0..=60));
    // And one block that it stumbles over.
    let stumbles = Fault::RpcError { code: -32000, message: "execution timeout".into() };
    let methods = ["debug_traceBlockByNumber", "trace_block"];
    node.faults.add(Rule::new(stumbles).on_methods(methods).on_block(200));
    rig.reopen().await;
    let ingest = rig.start();
    let reached = async || {
        let left = rig.untraced().await;
        if left.get(..2) == Some(&[200, 60]) { Ok(()) } else { Err(format!("{left:?}")) }
    };
    eventually_gives("all that can be traced is", reached).await;
    let asked = node.faults.requests("debug_traceBlockByNumber");
    tokio::time::sleep(Duration::from_millis(3_200)).await;
    let again = node.faults.requests("debug_traceBlockByNumber") - asked;
    assert!(again < 60, "asked {again} times");
    // Once the state is back, it is only a matter of time.
    node.faults.clear();
    nothing_is_untraced(&rig, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
}

fn pruned(blocks: std::ops::RangeInclusive<u64>) -> Rule {
    let gone = Fault::RpcError { code: -32000, message: "missing trie node 0xab".into() };
    Rule::new(gone).on_methods(["debug_traceBlockByNumber", "trace_block"]).on_blocks(blocks)
}

#[tokio::test]
async fn a_trace_that_hangs_keeps_no_other_block_untraced() {
    let chain = sim(206, 12);
    let node = node(&chain).await;
    let traces = ["debug_traceBlockByNumber", "debug_traceBlockByHash", "trace_block"];
    node.faults.add(Rule::new(Fault::Hang).on_methods(traces).on_block(6));
    let failure = Fault::RpcError { code: -32000, message: "header not found".into() };
    let fails = node.faults.add(Rule::new(failure).on_methods(traces).on_blocks(1..=12));
    let mut rig = Rig::new(&[&node]).await;
    rig.pool.timeout_ms = 500;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    node.faults.remove(fails);
    let only_one_is_left = async || {
        let left = rig.untraced().await;
        if left == [6] { Ok(()) } else { Err(format!("{left:?}")) }
    };
    eventually_gives("all but the one that hangs are traced", only_one_is_left).await;
}
