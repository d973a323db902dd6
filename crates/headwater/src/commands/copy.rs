//! `headwater copy --from … --to …`: what one store holds, into another; verified by their digests.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;

use alloy_primitives::B256;
use anyhow::{Context, Result, ensure};
use model::chain::ChainTable;
use store::{Copied, CopiedChain, CopiedStreams, CopyPart, CopyProgress, Options, Store};

use super::run_async;
use crate::admin::Client;
use crate::cli::CopyArgs;
use crate::config::{Flags, Settings, placed, table};
use crate::open_store::options;
use crate::progress_bar::Bar;
use crate::{say, telemetry};

pub fn run(args: &CopyArgs) -> Result<ExitCode> {
    let settings = Settings::load(&Flags { config: args.config.clone(), ..Flags::default() })?;
    telemetry::logs(&settings.log)?;
    let table = table(&settings)?;
    run_async(async {
        let from = open(&settings, &args.from, false).await.context("--from")?;
        let to = open(&settings, &args.to, true).await.context("--to")?;
        let bar: Mutex<Option<(CopyPart, Bar)>> = Mutex::new(None);
        let progress = |now: CopyProgress| {
            let mut bar = bar.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if bar.as_ref().is_none_or(|(part, _)| *part != now.part) {
                let name = match now.part {
                    CopyPart::Blocks(chain) => name(&table, chain.0),
                    CopyPart::Deliveries => "deliveries".to_owned(),
                };
                *bar = Some((now.part, Bar::new(&name, now.total)));
            }
            if let Some((_, bar)) = &*bar {
                bar.set(now.done, now.total, 0);
            }
        };
        let copied = from.copy_to(&to, progress).await?;
        tell(&copied, &table)
    })
}

/// A folder, or the URL of a database.
async fn open(settings: &Settings, place: &str, create: bool) -> Result<Store> {
    let base = Options { create, durable: !create, ..options(settings) };
    let is_url = place.starts_with("postgres://") || place.starts_with("postgresql://");
    let options = if is_url {
        // The store of the configuration has its chains where the configuration says.
        let is_configured = place == settings.store.url;
        let placed = if is_configured { placed(settings)? } else { Vec::new() };
        Options { url: place.to_owned(), placed, ..base }
    } else {
        let path = PathBuf::from(place);
        let server = Client::connect(&path).await?;
        ensure!(server.is_none(), "a server runs on the data folder {place}; stop it first");
        Options { path, url: String::new(), ..base }
    };
    Ok(Store::open(&options, |_| {}).await?)
}

fn name(table: &ChainTable, id: u64) -> String {
    let known = table.get(model::chain::ChainId(id));
    known.map_or_else(|| format!("chain-{id}"), |known| known.slug.clone())
}

fn tell(copied: &Copied, table: &ChainTable) -> Result<ExitCode> {
    for chain in &copied.chains {
        let CopiedChain { chain, coverage, expected, digest } = chain;
        say(&format!(
            "{}: blocks {coverage}, {}",
            name(table, chain.0),
            compared(expected, digest)
        ))?;
    }
    let CopiedStreams { streams, deliveries, expected, digest } = &copied.streams;
    let streams = format!("{streams} streams with {deliveries} deliveries");
    say(&format!("{streams}, {}", compared(expected, digest)))?;
    say("API keys, secrets and token names are copied, too")?;
    if copied.is_equal() {
        return Ok(ExitCode::SUCCESS);
    }
    say(
        "something else was in the second store, or one of them was written to; copy into an empty one",
    )?;
    Ok(ExitCode::FAILURE)
}

fn compared(expected: &B256, digest: &B256) -> String {
    if expected == digest {
        return format!("digest {digest}");
    }
    format!("DIFFERS: digest {digest}, not {expected}")
}
