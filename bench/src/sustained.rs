//! (m) Ingest that lasts: millions of transactions into one store, looked at in tenths, with cryo extracting slices of
//! the same blocks from the same node in between; then pages, lookups and a new start on what is there.
//!
//! While cryo has its turn the server stands still (SIGSTOP), so that neither takes the processor from the other.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::ingest_rate::{TXS_PER_BLOCK, blocks_stored, extract_range, generator};
use crate::process::{Server, folder_bytes, resident_mib, serve};
use crate::{say, sustained_reads};

const PARTS: u64 = 10;
/// Blocks that cryo extracts after each tenth.
const SLICE_BLOCKS: u64 = 300;

#[derive(clap::Args)]
pub struct Arguments {
    #[arg(long)]
    headwater: PathBuf,
    /// The rig's generator, and the folder of a chain that it made
    #[arg(long)]
    synthchain: PathBuf,
    #[arg(long)]
    chain: PathBuf,
    #[arg(long)]
    cryo_python: Option<PathBuf>,
    #[arg(long, default_value_t = 100_000)]
    blocks: u64,
    #[arg(long)]
    traces: bool,
    /// Where the store lies
    #[arg(long, default_value = ".")]
    folder: PathBuf,
    /// Only what is read, of a data folder that has these blocks already
    #[arg(long)]
    filled: Option<PathBuf>,
}

struct Options {
    headwater: PathBuf,
    node: String,
    blocks: u64,
    txs_per_block: u64,
    /// As the configuration takes it.
    traces: &'static str,
    cryo_python: Option<PathBuf>,
    folder: PathBuf,
}

/// One tenth.
struct Part {
    seconds: f64,
    blocks: u64,
    disk_bytes: u64,
    resident_mib: f64,
    /// Of all processor time of the machine.
    processor: f64,
    engine: f64,
    cryo_blocks_s: Option<f64>,
}

pub async fn run(arguments: Arguments) -> Result<()> {
    let Arguments { headwater, synthchain, chain, cryo_python, blocks, traces, folder, filled } =
        arguments;
    let (node, _generator) = generator(&synthchain, &chain).await?;
    let traces = if traces { "auto" } else { "off" };
    let txs_per_block = TXS_PER_BLOCK;
    let options = Options { headwater, node, blocks, txs_per_block, traces, cryo_python, folder };
    match filled {
        Some(data) => at_rest(&options, &data).await,
        None => measure_all(&options).await,
    }
}

async fn measure_all(options: &Options) -> Result<()> {
    let folder = tempfile::tempdir_in(&options.folder)?;
    let txs = options.blocks * options.txs_per_block;
    say(&format!(
        "(m) sustained ingest of {} blocks, {txs} transactions, traces {}; {}",
        options.blocks,
        options.traces,
        load()
    ))?;
    let server = start(options, folder.path()).await?;
    let mut parts = Vec::new();
    for part in 1..=PARTS {
        let target = options.blocks * part / PARTS;
        let part = measure(options, &server, folder.path(), target).await?;
        row(options, parts.len() + 1, &parts, &part)?;
        parts.push(part);
    }
    let usage = server.process.usage();
    server.process.stop()?;
    summary(options, &parts, usage.peak_mib)?;
    at_rest(options, folder.path()).await
}

async fn start(options: &Options, data: &Path) -> Result<Server> {
    let arguments = ["--rpc", &format!("eth={}", options.node), "--from-block", "eth=1"];
    let arguments = arguments.map(str::to_owned);
    let variables = [
        ("HEADWATER__INGEST__TRACES", options.traces),
        ("HEADWATER__API__ANSWER_CACHE_BYTES", "0"),
    ];
    serve(&options.headwater, data, &arguments, &variables).await
}

/// Until so many blocks are stored; then cryo has its turn.
async fn measure(options: &Options, server: &Server, data: &Path, target: u64) -> Result<Part> {
    let from = blocks_stored(&server.url, "eth").await?;
    let (begin, used, by_engine) =
        (Instant::now(), server.process.usage().cpu_s, engine_cpu_s(server));
    let mut stored = from;
    while stored < target {
        tokio::time::sleep(Duration::from_millis(100)).await;
        stored = blocks_stored(&server.url, "eth").await?;
    }
    let seconds = begin.elapsed().as_secs_f64();
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get()) as f64;
    let share = |spent: f64| spent / seconds.max(0.001) / cores;
    let mut part = Part {
        seconds,
        blocks: stored - from,
        disk_bytes: folder_bytes(data),
        resident_mib: resident_mib(server),
        processor: share(server.process.usage().cpu_s - used),
        engine: share(engine_cpu_s(server) - by_engine),
        cryo_blocks_s: None,
    };
    if let Some(python) = &options.cryo_python {
        server.process.signal("STOP")?;
        let first = target.saturating_sub(SLICE_BLOCKS).max(1);
        let extracted = extract_range(&options.node, python, first..target);
        server.process.signal("CONT")?;
        part.cryo_blocks_s = Some((target - first) as f64 / extracted?);
    }
    Ok(part)
}

/// Of the engine's own threads, which write tables and merge them.
fn engine_cpu_s(server: &Server) -> f64 {
    server
        .process
        .threads()
        .into_iter()
        .filter(|(name, _)| name.starts_with("fjall"))
        .map(|it| it.1)
        .sum()
}

fn row(options: &Options, number: usize, before: &[Part], part: &Part) -> Result<()> {
    let rate = part.blocks as f64 / part.seconds.max(0.001);
    let blocks = before.iter().map(|part| part.blocks).sum::<u64>() + part.blocks;
    let cryo = part.cryo_blocks_s.map_or("cryo not run".to_owned(), |cryo| {
        format!("cryo {cryo:5.0} blocks/s, {:4.2} x", rate / cryo)
    });
    say(&format!(
        "  {number:2}. {rate:6.0} blocks/s  {cryo}  {:5.0} bytes/tx on disk  {:5.0} MiB  processor {:3.0} %, engine {:3.0} %",
        part.disk_bytes as f64 / (blocks * options.txs_per_block) as f64,
        part.resident_mib,
        100.0 * part.processor,
        100.0 * part.engine,
    ))
}

fn summary(options: &Options, parts: &[Part], peak_mib: f64) -> Result<()> {
    let seconds: f64 = parts.iter().map(|part| part.seconds).sum();
    let blocks: u64 = parts.iter().map(|part| part.blocks).sum();
    let rate = |part: &Part| part.blocks as f64 / part.seconds.max(0.001);
    let cryo: Vec<f64> = parts.iter().filter_map(|part| part.cryo_blocks_s).collect();
    let cryo = cryo.iter().sum::<f64>() / cryo.len() as f64;
    let (first, last) = (parts.first().context("no part")?, parts.last().context("no part")?);
    let whole = blocks as f64 / seconds.max(0.001);
    say(&format!(
        "  whole run: {whole:.0} blocks/s, {:.0} tx/s, {:.2} x cryo; the last tenth is {:.0} % of the first; peak {peak_mib:.0} MiB",
        whole * options.txs_per_block as f64,
        whole / cryo,
        100.0 * rate(last) / rate(first),
    ))
}

async fn at_rest(options: &Options, data: &Path) -> Result<()> {
    let txs = (options.blocks * options.txs_per_block) as f64;
    let begin = Instant::now();
    let server = start(options, data).await?;
    // It says how much is stored once the store is open.
    blocks_stored(&server.url, "eth").await?;
    say(&format!("  opened again in {:.2} s", begin.elapsed().as_secs_f64()))?;
    say(&format!("  at rest {:.0} bytes/tx", folder_bytes(data) as f64 / txs))?;
    sustained_reads::run(&options.node, &server, options.blocks).await?;
    server.process.stop()
}

fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    format!("load {}", text.split(' ').next().unwrap_or("unknown"))
}
