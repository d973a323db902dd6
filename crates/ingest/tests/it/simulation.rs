//! Seeded: a chain that grows and reorganises at random under nodes with random faults, while the
//! ingest is stopped and started again with the store opened anew, and decoders panic.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use ingest::DecodeFn;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use testkit::{Fault, Rule, SimNode, Tamper, write};

use crate::setup::*;

const LIES: [Tamper; 4] = [
    Tamper::WrongParentRehashed,
    Tamper::DroppedLog,
    Tamper::OtherBlocksBody,
    Tamper::ChangedValue,
];

/// Traces that cannot be had, each in its own way.
const NO_TRACES: [Tamper; 3] = [Tamper::EmptyTraces, Tamper::DroppedTrace, Tamper::FailedTrace];
const TRACE_METHODS: [&str; 2] = ["debug_traceBlockByNumber", "trace_block"];

/// One of the things that go wrong, never for ever.
fn random_fault(random: &mut StdRng) -> Rule {
    match random.random_range(0..10) {
        0 => Rule::new(Fault::FlappingHead).times(40),
        1 => Rule::new(Fault::Lag(random.random_range(1..6))).times(30),
        2 => Rule::new(Fault::TruncatedBody).with_probability(0.2).times(10),
        3 => Rule::new(Fault::HttpError(503)).with_probability(0.2).times(10),
        4 => Rule::new(Fault::Delay(Duration::from_millis(60))).times(20),
        5 => Rule::from(NO_TRACES[random.random_range(0..NO_TRACES.len())]).times(15),
        // As of a pruned node, or of one that is still syncing.
        6 => Rule::new(Fault::NotFound).with_probability(0.3).times(20),
        7 => Rule::new(Fault::Hang).on_methods(TRACE_METHODS).with_probability(0.2).times(4),
        8 => Rule::new(Fault::RateLimit { retry_after_s: 0 }).with_probability(0.2).times(10),
        _ => Rule::from(LIES[random.random_range(0..LIES.len())]).with_probability(0.5).times(30),
    }
}

/// A decoder that panics now and then, while it is told to.
struct Shaky {
    panics: AtomicBool,
    calls: AtomicU64,
    decode: DecodeFn,
}

impl Shaky {
    fn decoder(self: &Arc<Self>) -> DecodeFn {
        let shaky = self.clone();
        Arc::new(move |block| {
            let call = shaky.calls.fetch_add(1, Ordering::Relaxed);
            let panics = shaky.panics.load(Ordering::Relaxed) && call % 40 == 39;
            assert!(!panics, "a decoder that panics now and then");
            (shaky.decode)(block)
        })
    }
}

async fn simulate(seed: u64, steps: usize) {
    let mut random = StdRng::seed_from_u64(seed);
    let chain = sim(200 + seed, random.random_range(0..120));
    let nodes: Vec<SimNode> = vec![node(&chain).await, node(&chain).await];
    // Both dialects tell the same, but for details: with one of them stores can be compared.
    let one_dialect = || {
        for node in &nodes {
            node.faults.add(Rule::no_parity_trace());
        }
    };
    one_dialect();
    let mut rig = Rig::new(&nodes.iter().collect::<Vec<_>>()).await;
    rig.pool.timeout_ms = 1_000;
    // One seed in four is about tasks that end; in the others none may.
    let panics = seed % 4 == 3;
    let shaky = Arc::new(Shaky {
        panics: AtomicBool::new(panics),
        calls: AtomicU64::new(0),
        decode: rig.decode.clone(),
    });
    rig.decode = shaky.decoder();
    let mut ingest = rig.start();
    for _ in 0..steps {
        match random.random_range(0..5) {
            0 => drop(write(&chain).extend(random.random_range(1..90))),
            1 => drop(write(&chain).extend(1)),
            2 => {
                let depth = random.random_range(1..30);
                let longer = random.random_range(0..10);
                write(&chain).reorg(depth, depth + longer);
            }
            3 => {
                let node = &nodes[random.random_range(0..nodes.len())];
                node.faults.add(random_fault(&mut random));
            }
            _ => {
                drop(ingest);
                rig.reopen().await;
                ingest = rig.start();
            }
        }
        tokio::time::sleep(Duration::from_millis(random.random_range(0..120))).await;
        let ended = ingest.progress.snapshot().failed;
        assert!(panics || ended.is_empty(), "seed {seed}: {ended:?}");
    }
    nodes.iter().for_each(|node| node.faults.clear());
    one_dialect();
    shaky.panics.store(false, Ordering::Relaxed);
    write(&chain).extend(1);
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
    rig.holds_only(&chain).await;
    let failed = || ingest.progress.snapshot().failed.join("; ");
    eventually("every task gets on", || failed().is_empty(), failed).await;
    assert!(panics || ingest.progress.snapshot().restarts == 0, "seed {seed}");
}

/// In bytes; none where the system does not say.
fn resident_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// Held against the fifth seed: by then everything has been used once.
const GROWTH_MAX: u64 = 256 << 20;

#[tokio::test(flavor = "multi_thread")]
async fn whatever_happens_the_store_ends_as_the_chain_does() {
    let is_long = std::env::var_os("HEADWATER_LONG").is_some();
    let (seeds, steps) = if is_long { (20, 60) } else { (8, 14) };
    let mut early = None;
    for seed in 0..seeds {
        simulate(seed, steps).await;
        if seed == 4 {
            early = resident_memory();
        }
    }
    if let Some((early, late)) = early.zip(resident_memory()).filter(|_| is_long) {
        println!("resident memory after seed 4: {early}, after all: {late}");
        assert!(late < early + GROWTH_MAX, "{early} -> {late}");
    }
}
