//! Ingest on both engines, from a node and from memory, and raw COPY of the rows that it left.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use model::chain::ChainId;
use store::{Change, Options, Origin, Store, VerifiedBlock};
use testkit::{SimConfig, SimNode, shared, write};

use super::Arguments;
use super::server::PgServer;
use crate::ingest_rate::{TXS_PER_BLOCK, wait_until};
use crate::process::serve;
use crate::say;

const CHAIN: ChainId = ChainId(1);
/// Blocks of one commit, as when history is filled.
const BLOCKS_AT_ONCE: usize = 64;
/// All that blocks wrote: what is partitioned by chain, and the journal.
const TABLES: &str =
    "select partrelid::regclass from pg_partitioned_table union select 'journal'::regclass";

#[derive(Default)]
struct Best {
    from_node_embedded: f64,
    from_node_postgres: f64,
    commits_embedded: f64,
    commits_postgres: f64,
    raw_copy: f64,
}

pub async fn run(options: &Arguments, server: &PgServer) -> Result<()> {
    let chain = shared(SimConfig {
        chain_id: 1,
        txs_per_block: TXS_PER_BLOCK as usize,
        wallets: 20_000,
        ..SimConfig::seeded(1)
    });
    write(&chain).extend(options.blocks);
    let node = SimNode::start(chain).await?;
    let txs = options.blocks as f64 * TXS_PER_BLOCK as f64;
    let mut best = Best::default();
    // Alternated, so that whatever else the machine does falls on all alike.
    for round in 0..options.rounds {
        let source = tempfile::tempdir()?;
        let seconds = from_node(options, source.path(), "", &node.url()).await?;
        best.from_node_embedded = best.from_node_embedded.max(txs / seconds);
        let (files, name) = (tempfile::tempdir()?, format!("ingest_{round}"));
        let url = server.create(&name)?;
        let seconds = from_node(options, files.path(), &url, &node.url()).await?;
        best.from_node_postgres = best.from_node_postgres.max(txs / seconds);

        let direct = format!("direct_{round}");
        let to = Options { url: server.create(&direct)?, ..Options::new(files.path()) };
        best.commits_postgres = best.commits_postgres.max(txs / commits(source.path(), to).await?);
        let raw = raw_copy(server, &direct)?;
        best.raw_copy = best.raw_copy.max(txs / raw);
        let to = tempfile::tempdir()?;
        let seconds = commits(source.path(), Options::new(to.path())).await?;
        best.commits_embedded = best.commits_embedded.max(txs / seconds);
        server.drop(&name)?;
        server.drop(&direct)?;
    }
    tell(options, &best)
}

fn tell(options: &Arguments, best: &Best) -> Result<()> {
    let of_raw = |rate: f64| 100.0 * rate / best.raw_copy;
    say(&format!(
        "  ingest of {} blocks of {TXS_PER_BLOCK} transactions with logs and traces, transactions/s, best of {} alternated runs",
        options.blocks, options.rounds
    ))?;
    say(&format!("    raw COPY of the same rows, same indexes   {:8.0}", best.raw_copy))?;
    for (name, rate) in [
        ("postgres, commits of prepared blocks", best.commits_postgres),
        ("embedded, commits of prepared blocks", best.commits_embedded),
        ("postgres, from a node on this machine", best.from_node_postgres),
        ("embedded, from a node on this machine", best.from_node_embedded),
    ] {
        say(&format!("    {name:40}  {rate:8.0}   {:4.0} % of raw COPY", of_raw(rate)))?;
    }
    Ok(())
}

/// A server that fills its store from the node; seconds from its start until all is there.
async fn from_node(options: &Arguments, data: &Path, url: &str, node: &str) -> Result<f64> {
    let arguments = ["--rpc".to_owned(), format!("eth={node}")];
    let began = Instant::now();
    let server =
        serve(&options.headwater, data, &arguments, &[("HEADWATER__STORE__URL", url)]).await?;
    wait_until(&server.url, "eth", options.blocks as u64 + 1).await?;
    let seconds = began.elapsed().as_secs_f64();
    server.process.stop()?;
    Ok(seconds)
}

/// Seconds of commits alone: blocks are prepared by as many workers as there are, beside them.
async fn commits(from: &Path, to: Options) -> Result<f64> {
    let from = Store::open(&Options::new(from), |_| {}).await?;
    let to = Store::open(&to, |_| {}).await?;
    let view = from.view().await?;
    let newest = view.coverage(CHAIN).await?.newest().context("nothing is stored")?;
    let numbers: Vec<u64> = (0..=newest).collect();
    let mut seconds = 0.0;
    for some in numbers.chunks(BLOCKS_AT_ONCE) {
        let mut blocks = Vec::with_capacity(some.len());
        for number in some {
            let found = view.whole_block(CHAIN, *number).await?;
            let (block, proof) = found.context("a block is missing")?;
            let facts = view.facts(CHAIN, *number).await?;
            blocks.push(to.prepare(CHAIN, VerifiedBlock { block, proof, facts }));
        }
        let began = Instant::now();
        to.commit(CHAIN, Change::apply(Origin::History, blocks)).await?;
        seconds += began.elapsed().as_secs_f64();
    }
    Ok(seconds)
}

/// Seconds that the server itself takes to read the rows of a database into an empty one of the same schema from files.
fn raw_copy(server: &PgServer, filled: &str) -> Result<f64> {
    let (raw, folder) = (format!("{filled}_raw"), server.folder().display().to_string());
    let file = |table: &str| format!("{folder}/{table}.rows");
    let tables = server.sql(filled, TABLES)?;
    let tables: Vec<&str> = tables.lines().collect();
    let out: Vec<String> = tables
        .iter()
        // Partitions are read through their table.
        .map(|table| format!("copy (select * from {table}) to '{}' (format binary)", file(table)))
        .collect();
    server.sql(filled, &out.join("; "))?;
    // Sessions of the store that filled it end with a delay.
    server.sql("postgres", &format!("alter database {filled} with allow_connections false"))?;
    let ended = format!(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = '{filled}'"
    );
    server.sql("postgres", &ended)?;
    let made = format!("create database {raw} template {filled}");
    for attempt in 0.. {
        match server.sql("postgres", &made) {
            Ok(_) => break,
            Err(error) if attempt == 50 => return Err(error),
            Err(_) => std::thread::sleep(std::time::Duration::from_millis(100)),
        }
    }
    server.sql(&raw, &format!("truncate {}; checkpoint", tables.join(", ")))?;
    let into =
        tables.iter().map(|table| format!("copy {table} from '{}' (format binary)", file(table)));
    let into: Vec<String> = into.collect();
    let began = Instant::now();
    server.sql(&raw, &format!("begin; {}; commit", into.join("; ")))?;
    let seconds = began.elapsed().as_secs_f64();
    server.drop(&raw)?;
    for table in tables {
        std::fs::remove_file(file(table))?;
    }
    Ok(seconds)
}
