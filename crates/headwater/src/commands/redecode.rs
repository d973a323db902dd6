//! `headwater redecode`: decodes stored blocks again with the decoders of this build. Where a server runs
//! on the data folder, that server does it, and the command shows its progress.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use api::RedecodeRequest;
use ingest::redecode::{self, RedecodeOptions, RedecodeProgress, RedecodeState, RedecodeStatus};
use model::chain::{Chain, ChainTable};
use store::Store;

use super::run_async;
use crate::admin::{Client, StoreAccess};
use crate::cli::RedecodeArgs;
use crate::config::{Flags, Settings, find_or_make, table};
use crate::progress_bar::Bar;
use crate::redecode::{ChainStatus, RedecodeResult};
use crate::{say, telemetry};

const LOOK_EVERY: Duration = Duration::from_millis(100);

pub fn run(args: &RedecodeArgs) -> Result<ExitCode> {
    let settings = Settings::load(&Flags::from(&args.place))?;
    telemetry::logs(&settings.log)?;
    let mut table = table(&settings)?;
    let mut chains = Vec::new();
    for name in &args.chain {
        let (with, chain) = find_or_make(table, name)?;
        table = with;
        chains.push(chain);
    }
    run_async(async {
        let all_well = match StoreAccess::to_existing(&settings).await? {
            StoreAccess::Store(store) => here(&store, &table, chains, args.force).await?,
            StoreAccess::Server(server) => there(&server, &table, &chains, args.force).await?,
        };
        Ok(if all_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    })
}

/// In this process.
async fn here(
    store: &Store,
    table: &ChainTable,
    mut chains: Vec<Chain>,
    force: bool,
) -> Result<bool> {
    let view = store.view().await?;
    let mut all_well = true;
    if chains.is_empty() {
        for id in view.chains().await? {
            match table.get(id) {
                Some(chain) => chains.push(chain.clone()),
                // What is known of it may stand in a configuration that was not given here.
                None => {
                    all_well = false;
                    eprintln!(
                        "chain {id} is not built in; name it with --chain or in the configuration"
                    );
                }
            }
        }
        if chains.is_empty() && all_well {
            say(&format!("{} holds no blocks", store.folder().display()))?;
        }
    }
    for chain in &chains {
        if view.coverage(chain.id).await?.is_empty() {
            say(&format!("{}: no blocks are stored", chain.slug))?;
            continue;
        }
        let began = Instant::now();
        let ended = with_bar(store, chain, force).await;
        all_well &= tell(&chain.slug, &ended, Some(began.elapsed()))?;
    }
    Ok(all_well)
}

async fn with_bar(store: &Store, chain: &Chain, force: bool) -> RedecodeResult {
    let progress = RedecodeProgress::default();
    let options = RedecodeOptions { force, ..RedecodeOptions::default() };
    let mut shown = Shown::default();
    let work = redecode::redecode(store, chain, options, &progress);
    tokio::pin!(work);
    loop {
        tokio::select! {
            outcome = &mut work => return outcome.into(),
            () = tokio::time::sleep(LOOK_EVERY) => shown.show(&chain.slug, &progress.snapshot()),
        }
    }
}

/// In the server that has the folder.
async fn there(server: &Client, table: &ChainTable, chains: &[Chain], force: bool) -> Result<bool> {
    let fingerprint = |chain: &Chain| (chain.id.0, redecode::fingerprint(chain).to_string());
    let decoders: BTreeMap<u64, String> = if chains.is_empty() {
        table.iter().map(fingerprint).collect()
    } else {
        chains.iter().map(fingerprint).collect()
    };
    let chains = chains.iter().map(|chain| chain.id.0).collect();
    let request = RedecodeRequest { chains, force, decoders };
    let queued: Queued = server.post("/admin/v1/redecode", &request).await?;
    let mut all_well = true;
    for chain in follow(server, &queued.chains).await? {
        if let Some(ended) = &chain.ended {
            all_well &= tell(&chain.name, ended, None)?;
        }
    }
    Ok(all_well)
}

#[derive(serde::Deserialize)]
struct Queued {
    chains: Vec<u64>,
}

/// Shows the progress until all of it has ended.
async fn follow(server: &Client, chains: &[u64]) -> Result<Vec<ChainStatus>> {
    let mut bars: BTreeMap<u64, Shown> = BTreeMap::new();
    loop {
        let status: Result<Vec<ChainStatus>> = server.get("/admin/v1/redecode").await;
        let mut status = status
            .context("the server went away; when it starts again, it goes on where it was")?;
        status.retain(|chain| chains.contains(&chain.id));
        if status.iter().all(|chain| chain.ended.is_some() && !chain.is_queued) {
            return Ok(status);
        }
        for chain in &status {
            bars.entry(chain.id).or_default().show(&chain.name, &chain.progress);
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// A bar from when the work starts until it is done.
#[derive(Default)]
struct Shown(Option<Bar>);

impl Shown {
    fn show(&mut self, name: &str, now: &RedecodeStatus) {
        match now.state {
            RedecodeState::Running if now.blocks_total > 0 => {
                let (done, total) = (now.blocks_done, now.blocks_total);
                self.0.get_or_insert_with(|| Bar::going_on(name, done, total)).set(done, total, 0);
            }
            _ => drop(self.0.take()),
        }
    }
}

/// Says how it ended, and whether that is well.
fn tell(name: &str, ended: &RedecodeResult, took: Option<Duration>) -> Result<bool> {
    match ended {
        RedecodeResult::NothingToDo => {
            say(&format!("{name}: nothing to do: all blocks are decoded by these decoders"))?;
        }
        RedecodeResult::Done { blocks } => {
            let took = took.map_or(String::new(), |it| format!(" in {:.1} s", it.as_secs_f64()));
            say(&format!("{name}: {blocks} blocks decoded again{took}"))?;
        }
        RedecodeResult::Stopped => {
            eprintln!("{name}: stopped before the end; it goes on from there the next time");
            return Ok(false);
        }
        RedecodeResult::Failed { error } => {
            eprintln!("{name}: failed: {error}");
            return Ok(false);
        }
    }
    Ok(true)
}
