//! Benchmarks: each prints ratios against a peer or a limit measured in the same run. `bench/run`
//! prepares what they need and runs them all.

mod big_wallet;
mod console;
mod decode_rate;
mod gateway;
mod head_latency;
mod ingest_rate;
mod layout;
mod load;
mod machine;
mod packing;
mod pages;
mod postgres;
mod price;
mod process;
mod quantile;
mod raw_block;
mod sizes;
mod stages;
mod storm;
mod streams;
mod sustained;
mod sustained_reads;
mod trades;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// (a) Ingest from a local node, against cryo; and bytes on disk
    Ingest {
        #[arg(long)]
        headwater: PathBuf,
        /// The rig's generator and its blocks; without them the simulated node is used
        #[arg(long, requires = "baked")]
        synthchain: Option<PathBuf>,
        #[arg(long)]
        baked: Option<PathBuf>,
        #[arg(long)]
        cryo_python: Option<PathBuf>,
        #[arg(long, default_value_t = 2_500)]
        blocks: u64,
        #[arg(long, default_value_t = 3)]
        rounds: usize,
    },
    /// (a) Where the time of ingest goes, stage by stage, on one core; (d) sizes of the same blocks
    Stages {
        #[arg(long)]
        node: String,
        #[arg(long, default_value_t = 400)]
        blocks: u64,
        #[arg(long)]
        traces: bool,
    },
    /// (b) and (c): wallet pages
    Pages {
        #[arg(long)]
        headwater: PathBuf,
        #[arg(long, default_value_t = 5_000_000)]
        huge: u64,
    },
    /// (g) Trades and lowest price of a busy NFT contract, against a quiet one
    Trades {
        #[arg(long)]
        headwater: PathBuf,
        #[arg(long, default_value_t = 1_000_000)]
        huge: u64,
    },
    /// (e) From a new head to an answer that has it
    Latency(head_latency::Arguments),
    /// (f) Decoding real blocks, against reading their JSON
    Decode {
        #[arg(long, default_value_t = 5)]
        rounds: usize,
    },
    /// (h) Token prices: against a bare server, and with many pools
    Price {
        #[arg(long)]
        headwater: PathBuf,
    },
    /// (k) Rows of real blocks: how small they become, and what that costs
    Packing,
    /// (m) Ingest that lasts, in tenths, against cryo; then reads from what is there
    Sustained(sustained::Arguments),
    /// (l) Ways to lay out what never changes of a block
    Layout {
        #[arg(long, default_value = ".")]
        folder: PathBuf,
        #[arg(long, default_value_t = 3_000)]
        blocks: u64,
    },
    /// (i) A client's answers while strangers hold connections, against its answers without them
    Storm {
        #[arg(long)]
        headwater: PathBuf,
        #[arg(long, default_value_t = 5_000)]
        strangers: usize,
        #[arg(long, default_value_t = 60)]
        seconds: u64,
        /// As the shell's ulimit takes it
        #[arg(long, default_value = "-n 1024", allow_hyphen_values = true)]
        file_limit: String,
    },
    /// Streams: matching, deliveries, latency, ingest with and without them
    Streams {
        #[arg(long)]
        headwater: PathBuf,
        #[arg(long, default_value_t = 1_000)]
        streams: usize,
        #[arg(long, default_value_t = 15)]
        slow_blocks: usize,
        #[arg(long, default_value_t = 120)]
        quick_blocks: usize,
        /// Of (c), for each size of bodies; (e) has four times as many
        #[arg(long, default_value_t = 5)]
        rounds: usize,
        /// Which of them, by letter
        #[arg(long, default_value = "abcdef")]
        parts: String,
    },
    /// (n) Ingest while pages of the console are open, against ingest while none is
    Console {
        #[arg(long)]
        headwater: PathBuf,
        #[arg(long, default_value_t = 500)]
        pages: usize,
        #[arg(long, default_value_t = 3_000)]
        blocks: usize,
        #[arg(long, default_value_t = 3)]
        rounds: usize,
    },
    /// (j) The node RPC against nginx: forwarded and cached calls
    Gateway {
        #[arg(long)]
        headwater: PathBuf,
        #[arg(long, default_value = "nginx")]
        nginx: PathBuf,
        #[arg(long, default_value_t = 10_000)]
        blocks: usize,
        #[arg(long, default_value_t = 5)]
        rounds: usize,
        #[arg(long, default_value_t = 4)]
        seconds: u64,
    },
    /// (q) PostgreSQL beside the data folder: ingest against raw COPY, wallet pages, deliveries, one api process and two
    Postgres(postgres::Arguments),
    /// The bare server of (b)
    #[command(hide = true)]
    Bare { address: String, file: PathBuf },
    /// The receiver of streams
    #[command(hide = true)]
    Receive { address: String },
}

fn main() -> Result<()> {
    let command = Cli::parse().command;
    if let Command::Bare { address, file } = &command {
        return pages::bare(address, file);
    }
    if let Command::Receive { address } = &command {
        return streams::receive(address);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        match command {
            Command::Ingest { headwater, synthchain, baked, cryo_python, blocks, rounds } => {
                let (url, _node) = ingest_rate::node(synthchain.zip(baked), blocks).await?;
                let txs_per_block = ingest_rate::TXS_PER_BLOCK;
                let options = ingest_rate::Options {
                    headwater,
                    node: url.clone(),
                    blocks,
                    txs_per_block,
                    rounds,
                    cryo_python,
                };
                ingest_rate::run(&options).await?;
                for traces in [false, true] {
                    stages::run(&url, 400.min(blocks), traces).await?;
                }
                Ok(())
            }
            Command::Stages { node, blocks, traces } => stages::run(&node, blocks, traces).await,
            Command::Pages { headwater, huge } => pages::run(&headwater, huge).await,
            Command::Trades { headwater, huge } => trades::run(&headwater, huge).await,
            Command::Latency(arguments) => head_latency::run(&arguments).await,
            Command::Decode { rounds } => decode_rate::run(rounds),
            Command::Sustained(arguments) => sustained::run(arguments).await,
            Command::Packing => packing::run(),
            Command::Layout { folder, blocks } => layout::run(&folder, blocks),
            Command::Price { headwater } => price::run(&headwater).await,
            Command::Storm { headwater, strangers, seconds, file_limit } => {
                let lasts = std::time::Duration::from_secs(seconds);
                let headwater = &headwater;
                storm::run(&storm::StormOptions {
                    headwater,
                    strangers,
                    lasts,
                    file_limit: &file_limit,
                })
                .await
            }
            Command::Streams { headwater, streams, slow_blocks, quick_blocks, rounds, parts } => {
                streams::run(&streams::StreamOptions {
                    headwater: &headwater,
                    streams,
                    slow_blocks,
                    quick_blocks,
                    rounds,
                    parts: &parts,
                })
                .await
            }
            Command::Console { headwater, pages, blocks, rounds } => {
                console::run(&headwater, pages, blocks, rounds).await
            }
            Command::Gateway { headwater, nginx, blocks, rounds, seconds } => {
                let (headwater, nginx) = (&headwater, &nginx);
                gateway::run(&gateway::GatewayOptions { headwater, nginx, blocks, rounds, seconds })
                    .await
            }
            Command::Postgres(arguments) => postgres::run(&arguments).await,
            Command::Bare { .. } | Command::Receive { .. } => Ok(()),
        }
    })
}

/// A line of a table, on stdout.
fn say(line: &str) -> Result<()> {
    use std::io::Write;
    Ok(writeln!(std::io::stdout().lock(), "{line}")?)
}
