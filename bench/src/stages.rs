//! The way of a block from JSON to disk, timed stage by stage on one core.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use ingest::verify::{Rules, Senders, verify};
use model::chain::{Chain, ChainTable};
use store::{Change, Options, Origin, Store, VerifiedBlock};

use crate::raw_block::{RawBlock, fetch, parse};
use crate::{say, sizes};

/// Blocks of one commit.
const COMMIT_BLOCKS: usize = 96;
const STAGES: [&str; 5] = ["parse JSON", "verify (hash)", "decode", "rows", "store"];

/// What the blocks cost, by stage, and how much there was of them.
#[derive(Default)]
struct Cost {
    spent: [Duration; STAGES.len()],
    bytes: usize,
    txs: usize,
}

pub async fn run(node: &str, count: u64, traces: bool) -> Result<()> {
    let raws = fetch(node, count, traces).await?;
    let table = ChainTable::builtin()?;
    let chain = table.find("eth").context("eth")?;
    let cost = measure(&raws, chain).await?;
    let with = if traces { "with" } else { "without" };
    say(&format!(
        "stages {with} traces: {} blocks, {} transactions, {:.1} MB of JSON",
        raws.len(),
        cost.txs,
        cost.bytes as f64 / 1e6
    ))?;
    report(&cost)?;
    sizes::run(&raws, cost.txs)
}

async fn measure(raws: &[RawBlock], chain: &Chain) -> Result<Cost> {
    // As ingest takes such a node's blocks: its chain is a generated one that bears a public id.
    let rules = Rules::of_dev_chain(chain, Senders::Sample);
    let folder = tempfile::tempdir()?;
    let store = Store::open(&Options::new(folder.path()), |_| {}).await?;
    let decoder = decode::Decoder::new(chain);
    let mut cost = Cost::default();
    for group in raws.chunks(COMMIT_BLOCKS) {
        let mut prepared = Vec::new();
        for raw in group {
            let start = Instant::now();
            let block = parse(raw)?;
            let parsed = Instant::now();
            cost.bytes += raw.bytes();
            cost.txs += block.txs.len();
            let proof = verify(&block, &rules)?;
            let verified = Instant::now();
            let facts = decoder.decode(&block);
            let decoded = Instant::now();
            prepared.push(store.prepare(chain.id, VerifiedBlock { block, proof, facts }));
            let done = Instant::now();
            cost.spent[0] += parsed - start;
            cost.spent[1] += verified - parsed;
            cost.spent[2] += decoded - verified;
            cost.spent[3] += done - decoded;
        }
        let start = Instant::now();
        store.commit(chain.id, Change::apply(Origin::History, prepared)).await?;
        cost.spent[4] += start.elapsed();
    }
    Ok(cost)
}

fn report(cost: &Cost) -> Result<()> {
    let total: Duration = cost.spent.iter().sum();
    for (name, time) in STAGES.iter().zip(cost.spent) {
        say(&format!(
            "  {name:14} {:7.1} us/tx  {:4.0} %",
            time.as_secs_f64() * 1e6 / cost.txs as f64,
            100.0 * time.as_secs_f64() / total.as_secs_f64()
        ))?;
    }
    say(&format!("  one core: {:.0} tx/s", cost.txs as f64 / total.as_secs_f64()))
}
