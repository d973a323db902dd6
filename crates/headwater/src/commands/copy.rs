//! `headwater copy --from … --to …`: what one store holds, into another; verified by their digests.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;

use anyhow::{Context, Result, ensure};
use model::chain::ChainTable;
use store::{CopiedChain, CopyProgress, Options, Store};

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
        let bar: Mutex<Option<(u64, Bar)>> = Mutex::new(None);
        let progress = |now: CopyProgress| {
            let mut bar = bar.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if bar.as_ref().is_none_or(|(chain, _)| *chain != now.chain.0) {
                *bar = Some((now.chain.0, Bar::new(&name(&table, now.chain.0), now.blocks_total)));
            }
            if let Some((_, bar)) = &*bar {
                bar.set(now.blocks_done, now.blocks_total, 0);
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

fn tell(copied: &[CopiedChain], table: &ChainTable) -> Result<ExitCode> {
    let mut holds = true;
    for chain in copied {
        let CopiedChain { chain, coverage, expected, digest } = chain;
        let name = name(table, chain.0);
        if expected == digest {
            say(&format!("{name}: blocks {coverage}, digest {digest}"))?;
        } else {
            holds = false;
            say(&format!("{name}: DIFFERS: digest {digest}, not {expected}"))?;
        }
    }
    say("API keys, secrets and token names are copied; streams and their deliveries are not")?;
    if holds {
        return Ok(ExitCode::SUCCESS);
    }
    say(
        "something else was in the second store, or one of them was written to; copy into an empty one",
    )?;
    Ok(ExitCode::FAILURE)
}
