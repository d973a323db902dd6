//! (a) Ingest from a local node against cryo extracting the same blocks from the same node, and
//! (d) what is left on disk of each transaction.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use store::Store;
use testkit::{SimConfig, SimNode, shared, write};

use crate::process::{Process, Usage, folder_bytes, free_port, serve};
use crate::say;

pub struct Options {
    pub headwater: PathBuf,
    pub node: String,
    pub blocks: u64,
    pub txs_per_block: u64,
    pub rounds: usize,
    /// A Python that has the `cryo` package; without it there is no peer.
    pub cryo_python: Option<PathBuf>,
}

struct Run {
    seconds: f64,
    usage: Usage,
    disk_bytes: u64,
}

pub async fn run(options: &Options) -> Result<()> {
    let mut off = Vec::new();
    let mut on = Vec::new();
    let mut cryo = Vec::new();
    // Alternated, so that whatever else the machine does falls on all alike.
    for _ in 0..options.rounds {
        off.push(headwater(options, "off").await?);
        if let Some(python) = &options.cryo_python {
            cryo.push(extract(options, python)?);
        }
        on.push(headwater(options, "auto").await?);
    }
    say(&format!(
        "(a) ingest of {} blocks with {} transactions each, best of {} alternated runs",
        options.blocks, options.txs_per_block, options.rounds
    ))?;
    let peer = best(&cryo).map(|run| run.seconds);
    row(options, "headwater, traces off", &off, peer)?;
    row(options, "headwater, traces on", &on, peer)?;
    row(options, "cryo blocks+txs+logs", &cryo, peer)?;
    let txs = (options.blocks * options.txs_per_block) as f64;
    if let (Some(off), Some(on)) = (best(&off), best(&on)) {
        say(&format!(
            "(d) on disk: {:.0} bytes/tx without traces, {:.0} with",
            off.disk_bytes as f64 / txs,
            on.disk_bytes as f64 / txs
        ))?;
    }
    Ok(())
}

fn best(runs: &[Run]) -> Option<&Run> {
    runs.iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds))
}

fn row(options: &Options, name: &str, runs: &[Run], peer: Option<f64>) -> Result<()> {
    let Some(run) = best(runs) else { return say(&format!("  {name:24} not run")) };
    let blocks_s = options.blocks as f64 / run.seconds;
    let ratio = peer.map_or("    -".to_owned(), |p| format!("{:5.2}", p / run.seconds));
    say(&format!(
        "  {name:24} {blocks_s:7.0} blocks/s {:8.0} tx/s {ratio} x cryo  cpu {:6.1} s  peak {:5.0} MiB",
        blocks_s * options.txs_per_block as f64,
        run.usage.cpu_s,
        run.usage.peak_mib
    ))
}

async fn headwater(options: &Options, traces: &str) -> Result<Run> {
    let folder = tempfile::tempdir()?;
    let arguments = [
        "--rpc".to_owned(),
        format!("eth={}", options.node),
        "--from-block".to_owned(),
        "eth=1".to_owned(),
    ];
    let start = Instant::now();
    let server = serve(
        &options.headwater,
        folder.path(),
        &arguments,
        &[("HEADWATER__INGEST__TRACES", traces)],
    )
    .await?;
    wait_until(&server.url, "eth", options.blocks).await?;
    let seconds = start.elapsed().as_secs_f64();
    let usage = server.process.usage();
    server.process.stop()?;
    Ok(Run { seconds, usage, disk_bytes: at_rest(folder.path()).await? })
}

/// What the tables take once everything found its place. The log of recent writes comes on top: it is as
/// long as chance left it, and does not grow with the store.
async fn at_rest(data: &Path) -> Result<u64> {
    let store = Store::open(&store::Options::new(data), |_| {}).await?;
    store.compact().await?;
    Ok(store.table_sizes().await.iter().map(|table| table.disk_bytes).sum())
}

/// Until so many blocks are stored.
pub async fn wait_until(url: &str, chain: &str, blocks: u64) -> Result<()> {
    while blocks_stored(url, chain).await? < blocks {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

pub async fn blocks_stored(url: &str, chain: &str) -> Result<u64> {
    let text = reqwest::get(format!("{url}/status")).await?.text().await?;
    let status: serde_json::Value = serde_json::from_str(&text)?;
    let stored = status.pointer(&format!("/chains/{chain}/blocks"));
    Ok(stored.and_then(serde_json::Value::as_u64).unwrap_or(0))
}

/// Says the seconds of the work alone, without starting Python.
const EXTRACT: &str = "import cryo, sys, time\n\
begin = time.monotonic()\n\
cryo.freeze(['blocks', 'transactions', 'logs'], rpc=sys.argv[1], blocks=[sys.argv[2]], output_dir=sys.argv[3])\n\
print('seconds', time.monotonic() - begin, file=sys.stderr)\n";
/// It crashes now and then, whoever serves it.
const CRYO_ATTEMPTS: usize = 3;

fn extract(options: &Options, python: &Path) -> Result<Run> {
    let folder = tempfile::tempdir()?;
    let seconds = extract_into(folder.path(), &options.node, python, 1..options.blocks + 1)?;
    Ok(Run { seconds, usage: Usage::default(), disk_bytes: folder_bytes(folder.path()) })
}

/// Says how many seconds it took.
pub fn extract_range(node: &str, python: &Path, blocks: Range<u64>) -> Result<f64> {
    extract_into(tempfile::tempdir()?.path(), node, python, blocks)
}

fn extract_into(folder: &Path, node: &str, python: &Path, blocks: Range<u64>) -> Result<f64> {
    let range = format!("{}:{}", blocks.start, blocks.end);
    for attempt in 1.. {
        let mut command = Command::new(python);
        command.args(["-c", EXTRACT, node, &range]).arg(folder.join(attempt.to_string()));
        let output = command.stdout(Stdio::null()).output().context("cannot run cryo")?;
        let said = String::from_utf8_lossy(&output.stderr);
        if output.status.code().is_none() && attempt < CRYO_ATTEMPTS {
            continue;
        }
        anyhow::ensure!(output.status.success(), "cryo failed: {}: {said}", output.status);
        let seconds = said.lines().find_map(|line| line.strip_prefix("seconds "));
        return seconds.context("cryo said no time")?.trim().parse().context("cryo's time");
    }
    anyhow::bail!("cryo was not run")
}

/// What both nodes below put into a block.
pub const TXS_PER_BLOCK: u64 = 150;

/// Keeps the node alive.
pub enum Node {
    Synthchain(#[expect(dead_code, reason = "ends with the benchmark")] Process),
    Simulated(#[expect(dead_code, reason = "ends with the benchmark")] Box<SimNode>),
}

/// The rig's generator where it is at hand, else our own simulated node.
pub async fn node(synthchain: Option<(PathBuf, PathBuf)>, blocks: u64) -> Result<(String, Node)> {
    if let Some((binary, baked)) = synthchain {
        let port = free_port()?;
        let process = start_synthchain(&binary, &baked, port)?;
        tokio::time::sleep(Duration::from_secs(1)).await;
        return Ok((format!("http://127.0.0.1:{port}"), Node::Synthchain(process)));
    }
    say("no generator given: the simulated node is used, in this process")?;
    let chain = shared(SimConfig {
        chain_id: 1,
        txs_per_block: TXS_PER_BLOCK as usize,
        wallets: 20_000,
        ..SimConfig::seeded(1)
    });
    write(&chain).extend(blocks as usize);
    let node = SimNode::start(chain).await?;
    Ok((node.url(), Node::Simulated(Box::new(node))))
}

fn start_synthchain(binary: &Path, baked: &Path, port: u16) -> Result<Process> {
    start_generator(binary, ("--baked", baked), port)
}

fn start_generator(binary: &Path, (from, folder): (&str, &Path), port: u16) -> Result<Process> {
    let mut command = Command::new(binary);
    command.arg("serve").arg(from).arg(folder).arg("--port").arg(port.to_string());
    Process::start(command.stdout(Stdio::null()))
}

/// The rig's generator, writing answers as they are asked for: blocks of millions of transactions, all at once on
/// disk as answers, would be larger than most disks.
pub async fn generator(binary: &Path, chain: &Path) -> Result<(String, Process)> {
    let port = free_port()?;
    let process = start_generator(binary, ("--dir", chain), port)?;
    let url = format!("http://127.0.0.1:{port}");
    tokio::time::sleep(Duration::from_secs(2)).await;
    Ok((url, process))
}
