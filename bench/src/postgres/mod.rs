//! (q) The same service on both engines: ingest against raw COPY of the same rows, wallet pages, deliveries, and one process of
//! role api against two.

mod ingest;
mod processes;
mod server;

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;

use crate::process::{Server, serve};
use crate::{big_wallet, pages, say, streams};
use server::PgServer;

#[derive(clap::Args)]
pub struct Arguments {
    #[arg(long)]
    pub headwater: PathBuf,
    /// Of ingest, of 150 transactions each
    #[arg(long, default_value_t = 2_000)]
    pub blocks: usize,
    /// Transactions of the huge wallet
    #[arg(long, default_value_t = 5_000_000)]
    pub huge: u64,
    /// That streams are told of at once
    #[arg(long, default_value_t = 400)]
    pub stream_blocks: usize,
    #[arg(long, default_value_t = 3)]
    pub rounds: usize,
    #[arg(long, default_value_t = 4)]
    pub seconds: u64,
    /// Which of them, by letter: ingest, pages, api processes, deliveries
    #[arg(long, default_value = "ipad")]
    pub parts: String,
}

const WALLETS: &str = "wallets";

pub async fn run(options: &Arguments) -> Result<()> {
    let server = PgServer::start()?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    say(&format!("(q) PostgreSQL {} beside the data folder, {cores} cores", server.version()?))?;
    if options.parts.contains('i') {
        ingest::run(options, &server).await?;
    }
    if options.parts.contains('p') || options.parts.contains('a') {
        wallets(options, &server).await?;
    }
    if options.parts.contains('p') {
        on_postgres(options, &server).await?;
        on_a_folder(options).await?;
    }
    if options.parts.contains('a') {
        processes::run(options, &server.url(WALLETS), cores).await?;
    }
    if options.parts.contains('d') {
        deliveries(options, &server).await?;
    }
    Ok(())
}

/// Without cached answers, so that the store is asked.
async fn served(headwater: &Path, data: &Path, url: &str, arguments: &[String]) -> Result<Server> {
    let variables = [("HEADWATER__API__ANSWER_CACHE_BYTES", "0"), ("HEADWATER__STORE__URL", url)];
    serve(headwater, data, arguments, &variables).await
}

async fn wallets(options: &Arguments, server: &PgServer) -> Result<()> {
    let (url, folder) = (server.create(WALLETS)?, tempfile::tempdir()?);
    let began = Instant::now();
    let store = store::Options { url, ..store::Options::new(folder.path()) };
    big_wallet::build_in(store, &[options.huge, 100, 2_000]).await?;
    server.sql(WALLETS, "vacuum analyze")?;
    let (huge, seconds) = (options.huge, began.elapsed().as_secs_f64());
    say(&format!("  made a database with a wallet of {huge} transactions in {seconds:.0} s"))
}

async fn on_postgres(options: &Arguments, server: &PgServer) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let api = served(&options.headwater, folder.path(), &server.url(WALLETS), &[]).await?;
    pages::compare(&api.url, options.huge, ("postgres", options.seconds)).await?;
    api.process.stop()
}

async fn on_a_folder(options: &Arguments) -> Result<()> {
    let folder = tempfile::tempdir()?;
    big_wallet::build(folder.path(), &[options.huge, 100, 2_000]).await?;
    let api = served(&options.headwater, folder.path(), "", &[]).await?;
    pages::compare(&api.url, options.huge, ("embedded", options.seconds)).await?;
    api.process.stop()
}

async fn deliveries(options: &Arguments, server: &PgServer) -> Result<()> {
    let (mut folder, mut database) = (0f64, 0f64);
    for round in 0..options.rounds {
        let blocks = options.stream_blocks;
        folder = folder.max(streams::delivery_rate(&options.headwater, "", blocks).await?);
        let name = format!("deliveries_{round}");
        let url = server.create(&name)?;
        database = database.max(streams::delivery_rate(&options.headwater, &url, blocks).await?);
        server.drop(&name)?;
    }
    say(&format!(
        "  deliveries/s, {} blocks at once to 64 streams: postgres {database:.0}, embedded {folder:.0}: {:.0} %",
        options.stream_blocks,
        100.0 * database / folder
    ))
}
