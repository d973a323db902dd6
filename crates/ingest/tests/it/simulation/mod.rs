//! Seeded: a chain that grows and reorganises at random under nodes with faults of every kind, while a client
//! provokes refusals, the disk is full for a while, decoders panic, and the ingest is stopped and started
//! again with the store opened anew, sometimes with a log that a power loss has torn.

mod node_faults;
mod torn_log;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use ingest::{ChainIngest, DecodeFn};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use tempfile::TempDir;
use testkit::{Rule, SharedChain, SimNode, SmallDisk, read, write};
use tokio::task::JoinSet;

use self::node_faults::{NODE_FAULTS, node_fault, provoke, refuse_clients};
use self::torn_log::DurableLog;
use crate::setup::*;

/// Far more than the store takes; filled up when the disk is to be full.
const DISK_MEGABYTES: u32 = 256;

/// One thing that happens.
#[derive(Clone, Copy, Debug)]
enum Step {
    ManyBlocks,
    OneBlock,
    Reorg,
    NodeFault,
    Restart,
    TornLog,
    FullDisk,
}

/// Each at least once in every seed, and those that cost little more often.
const STEPS: [Step; 11] = [
    Step::FullDisk,
    Step::TornLog,
    Step::Restart,
    Step::NodeFault,
    Step::ManyBlocks,
    Step::OneBlock,
    Step::Reorg,
    Step::NodeFault,
    Step::ManyBlocks,
    Step::OneBlock,
    Step::Reorg,
];

/// How often what happened, over all seeds.
type Tally = BTreeMap<&'static str, u64>;

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

struct Simulation<'a> {
    seed: u64,
    random: StdRng,
    chain: SharedChain,
    nodes: Vec<SimNode>,
    rig: Rig,
    /// None where there can be none.
    disk: Option<SmallDisk>,
    /// None between two starts.
    running: Option<Running>,
    /// What a power loss cannot take.
    durable: DurableLog,
    /// One seed in four is about tasks that end; in the others none may.
    panics: bool,
    shaky: Arc<Shaky>,
    refused: Arc<AtomicU64>,
    tally: &'a mut Tally,
    _scratch: TempDir,
}

struct Running {
    ingest: ChainIngest,
    _clients: JoinSet<()>,
}

impl<'a> Simulation<'a> {
    async fn new(seed: u64, tally: &'a mut Tally) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let chain = sim(200 + seed, random.random_range(0..120));
        let nodes: Vec<SimNode> = vec![node(&chain).await, node(&chain).await];
        let scratch = scratch();
        let disk = SmallDisk::mount(scratch.path(), DISK_MEGABYTES);
        let mut rig = Rig::in_folder(scratch.path(), &nodes.iter().collect::<Vec<_>>()).await;
        rig.pool.timeout_ms = 1_000;
        let panics = seed % 4 == 3;
        let shaky = Arc::new(Shaky {
            panics: AtomicBool::new(panics),
            calls: AtomicU64::new(0),
            decode: rig.decode.clone(),
        });
        rig.decode = shaky.decoder();
        let durable = DurableLog::of(&rig.store_folder());
        let (running, refused) = (None, Arc::default());
        let mut made = Simulation {
            seed,
            random,
            chain,
            nodes,
            rig,
            disk,
            running,
            durable,
            panics,
            shaky,
            refused,
            tally,
            _scratch: scratch,
        };
        made.only_standing_rules();
        made.start();
        made
    }

    /// Those that make the simulation what it is.
    fn only_standing_rules(&self) {
        for node in &self.nodes {
            node.faults.clear();
            // Both dialects tell the same, but for details: with one of them stores can be compared.
            node.faults.add(Rule::no_parity_trace());
            // Who is told to wait that long asks seldom, so there are seeds without it.
            refuse_clients(node, if self.seed.is_multiple_of(2) { 600 } else { 0 });
        }
    }

    fn start(&mut self) {
        let ingest = self.rig.start();
        let _clients = provoke(&ingest.pool, &self.refused);
        self.running = Some(Running { ingest, _clients });
    }

    fn ingest(&self) -> &ChainIngest {
        &self.running.as_ref().unwrap().ingest
    }

    fn count(&mut self, what: &'static str) {
        *self.tally.entry(what).or_default() += 1;
    }

    async fn step(&mut self, step: Step) {
        match step {
            Step::ManyBlocks => drop(write(&self.chain).extend(self.random.random_range(1..90))),
            Step::OneBlock => drop(write(&self.chain).extend(1)),
            Step::Reorg => {
                let depth = self.random.random_range(1..30);
                let longer = self.random.random_range(0..10);
                write(&self.chain).reorg(depth, depth + longer);
                self.count("reorg");
            }
            Step::NodeFault => self.node_fault(),
            Step::Restart => {
                self.restart(false).await;
                self.count("restart");
            }
            Step::TornLog => self.restart(true).await,
            Step::FullDisk => self.full_disk().await,
        }
        tokio::time::sleep(Duration::from_millis(self.random.random_range(0..120))).await;
        let ended = self.ingest().progress.snapshot().failed;
        assert!(self.panics || ended.is_empty(), "seed {}, {step:?}: {ended:?}", self.seed);
    }

    /// One kind after the other, so that none is left out.
    fn node_fault(&mut self) {
        let so_far: u64 = NODE_FAULTS.iter().filter_map(|kind| self.tally.get(kind)).sum();
        let kind = NODE_FAULTS[so_far as usize % NODE_FAULTS.len()];
        let head = read(&self.chain).head_number();
        let rule = node_fault(kind, head, &mut self.random);
        self.nodes[self.random.random_range(0..self.nodes.len())].faults.add(rule);
        self.count(kind);
    }

    async fn restart(&mut self, with_torn_log: bool) {
        self.running = None;
        let seq = self.rig.seq().await;
        let (durable, random) = (&self.durable, &mut self.random);
        let mut is_torn = false;
        self.rig.reopen_after(|store| is_torn = with_torn_log && durable.tear(store, random)).await;
        if is_torn {
            self.count("torn log");
            let lost = seq.saturating_sub(self.rig.seq().await);
            *self.tally.entry("commits lost with a torn log").or_default() += lost;
            let report = self.rig.store.check(|_| ()).await.unwrap();
            assert!(report.holds(), "seed {}: {report:?}", self.seed);
        }
        self.durable = DurableLog::of(&self.rig.store_folder());
        self.start();
    }

    /// Blocks go on coming, and the same process goes on writing when there is room.
    async fn full_disk(&mut self) {
        let Some(disk) = &self.disk else { return self.count("no small disk") };
        // Nothing is left, so that the engine may run into it, or less than the store holds in reserve.
        disk.take_all_but(if self.random.random() { 0 } else { 1 << 20 });
        let store = self.rig.store.clone();
        let state = || format!("{:?}", store.write_state());
        eventually("the disk is full", || !store.write_state().is_writable(), state).await;
        write(&self.chain).extend(self.random.random_range(1..20));
        tokio::time::sleep(Duration::from_millis(self.random.random_range(0..300))).await;
        disk.give_back();
        eventually("there is room again", || store.write_state().is_writable(), state).await;
        // The engine may have been opened anew, and everything was made durable then.
        self.durable = DurableLog::of(&self.rig.store_folder());
        self.count("full disk");
    }

    /// All faults end but for the client's, and the store becomes what the chain is.
    async fn ends_well(&mut self, blocks_min: u64) {
        self.only_standing_rules();
        self.shaky.panics.store(false, Ordering::Relaxed);
        let missing = blocks_min.saturating_sub(read(&self.chain).head_number());
        write(&self.chain).extend(1 + usize::try_from(missing).unwrap());
        let refused = self.refused.load(Ordering::Relaxed);
        let ingest = self.ingest();
        self.rig.reaches(&self.chain, ingest).await;
        self.rig.check(&self.chain, Dialect::Geth).await;
        self.rig.holds_only(&self.chain).await;
        let failed = || ingest.progress.snapshot().failed.join("; ");
        eventually("every task gets on", || failed().is_empty(), failed).await;
        let restarts = ingest.progress.snapshot().restarts;
        assert!(self.panics || restarts == 0, "seed {}", self.seed);
        // It went on asking all the time.
        let now = || self.refused.load(Ordering::Relaxed);
        eventually("the client is refused again", || now() > refused, now).await;
        *self.tally.entry("refused client calls").or_default() += now();
        *self.tally.entry("tasks started again").or_default() += restarts;
        *self.tally.entry("blocks").or_default() += read(&self.chain).head_number();
    }
}

async fn simulate(seed: u64, (steps, blocks_min): (usize, u64), tally: &mut Tally) {
    let mut simulation = Simulation::new(seed, tally).await;
    let random = &mut simulation.random;
    let mut plan: Vec<Step> = STEPS.to_vec();
    plan.resize_with(steps.max(STEPS.len()), || STEPS[random.random_range(0..STEPS.len())]);
    plan.shuffle(random);
    for step in plan {
        simulation.step(step).await;
    }
    simulation.ends_well(blocks_min).await;
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
    let (seeds, length) = if is_long { (20, (60, 300)) } else { (8, (14, 0)) };
    let (mut early, mut tally) = (None, Tally::new());
    for seed in 0..seeds {
        simulate(seed, length, &mut tally).await;
        if seed == 4 {
            early = resident_memory();
        }
    }
    eprintln!("{seeds} seeds: {tally:?}");
    let mut expected = NODE_FAULTS.to_vec();
    expected.extend(["reorg", "restart", "torn log", "commits lost with a torn log"]);
    // Without root there is none, which was said.
    if !tally.contains_key("no small disk") {
        expected.push("full disk");
    }
    for what in expected {
        assert!(tally.get(what).is_some_and(|times| *times > 0), "never happened: {what}");
    }
    if let Some((early, late)) = early.zip(resident_memory()).filter(|_| is_long) {
        println!("resident memory after seed 4: {early}, after all: {late}");
        assert!(late < early + GROWTH_MAX, "{early} -> {late}");
    }
}
