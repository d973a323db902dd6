//! `headwater redecode`: stored blocks read anew by the decoders of this build. Where a server holds
//! the folder, that server does it, and the command shows how it goes.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use ingest::redecode::{self, Options, Progress, Snapshot, State};
use model::chain::{Chain, ChainTable};
use store::Store;

use crate::cli::RedecodeArgs;
use crate::config::{Flags, Settings, find_or_make, table};
use crate::progress_bar::Bar;
use crate::redecode::{Asked, Ended, Reply, Request};
use crate::{say, telemetry};

const LOOK_EVERY: Duration = Duration::from_millis(100);
/// A server looks for requests several times a second.
const TAKEN_UP_WITHIN: Duration = Duration::from_secs(8);
/// And tells of its work as often; a machine may be busy for a while.
const SILENT_FOR: Duration = Duration::from_secs(30);

pub fn run(args: &RedecodeArgs) -> Result<ExitCode> {
    let settings = Settings::load(&Flags::from(&args.place))?;
    telemetry::logs(&settings.log)?;
    let mut table = table(&settings)?;
    let mut asked = Vec::new();
    for name in &args.chain {
        let (with, chain) = find_or_make(table, name)?;
        table = with;
        asked.push(chain);
    }
    let mut options = store::Options::new(&settings.store.path);
    options.cache_bytes = settings.store.cache_bytes;
    match Store::open(&options) {
        Ok(store) => here(&store, &table, asked, args.force),
        Err(store::Error::InUse { .. }) => there(&settings, &table, &asked, args.force),
        Err(error) => Err(error.into()),
    }
}

/// In this process.
fn here(store: &Store, table: &ChainTable, mut asked: Vec<Chain>, force: bool) -> Result<ExitCode> {
    let view = store.view();
    let mut all_well = true;
    if asked.is_empty() {
        for id in view.chains()? {
            match table.get(id) {
                Some(chain) => asked.push(chain.clone()),
                // What is known of it may stand in a configuration that was not given here.
                None => {
                    all_well = false;
                    eprintln!(
                        "chain {id} is not built in; name it with --chain or in the configuration"
                    );
                }
            }
        }
        if asked.is_empty() && all_well {
            say(&format!("{} holds no blocks", store.path().display()))?;
        }
    }
    for chain in &asked {
        if view.coverage(chain.id)?.is_empty() {
            say(&format!("{}: no blocks are stored", chain.slug))?;
            continue;
        }
        let began = Instant::now();
        let ended = with_bar(store, chain, force);
        all_well &= tell(&chain.slug, &ended, Some(began.elapsed()))?;
    }
    Ok(if all_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn with_bar(store: &Store, chain: &Chain, force: bool) -> Ended {
    let progress = Progress::default();
    let options = Options { force, ..Options::default() };
    let mut shown = Shown::default();
    std::thread::scope(|scope| {
        let work = scope.spawn(|| redecode::redecode(store, chain, options, &progress));
        while !work.is_finished() {
            std::thread::sleep(LOOK_EVERY);
            shown.show(&chain.slug, &progress.snapshot());
        }
        work.join().unwrap_or(Err(ingest::Error::Stopped)).into()
    })
}

/// In the server that holds the folder.
fn there(
    settings: &Settings,
    table: &ChainTable,
    asked: &[Chain],
    force: bool,
) -> Result<ExitCode> {
    let fingerprint = |chain: &Chain| (chain.id.0, redecode::fingerprint(chain).to_string());
    let decoders: BTreeMap<u64, String> = match asked {
        [] => table.iter().map(fingerprint).collect(),
        some => some.iter().map(fingerprint).collect(),
    };
    let chains = asked.iter().map(|chain| chain.id.0).collect();
    let id = format!("{:016x}", rand::random::<u64>());
    let request = Request { id, chains, force, decoders };
    let asked = Asked::new(&settings.store.path, &request)?;
    let reply = follow(&asked)
        .with_context(|| format!("the data folder {} is in use", settings.store.path.display()))?;
    if let Some(refused) = &reply.refused {
        anyhow::bail!("{refused}");
    }
    let mut all_well = true;
    for chain in &reply.chains {
        if let Some(ended) = &chain.ended {
            all_well &= tell(&chain.name, ended, None)?;
        }
    }
    Ok(if all_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Shows how it goes until it is done.
fn follow(asked: &Asked) -> Result<Reply> {
    let mut bars: BTreeMap<u64, Shown> = BTreeMap::new();
    let mut heard = (None, Instant::now());
    loop {
        let reply = asked.reply();
        let beat = reply.as_ref().map(|reply| reply.beat);
        if beat != heard.0 {
            heard = (beat, Instant::now());
        }
        match reply {
            Some(reply) if reply.is_final() => return Ok(reply),
            Some(reply) => {
                for chain in &reply.chains {
                    bars.entry(chain.id).or_default().show(&chain.name, &chain.progress);
                }
                anyhow::ensure!(
                    heard.1.elapsed() < SILENT_FOR,
                    "the server there fell silent; when it starts again, it goes on where it was"
                );
            }
            None => anyhow::ensure!(
                heard.1.elapsed() < TAKEN_UP_WITHIN,
                "whoever uses it did not take up the request. It is not a server of this version: \
                 wait for it to end, or stop it, and try again"
            ),
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// A bar from when the work starts until it is done.
#[derive(Default)]
struct Shown(Option<Bar>);

impl Shown {
    fn show(&mut self, name: &str, now: &Snapshot) {
        match now.state {
            State::Running if now.blocks_total > 0 => {
                let (done, total) = (now.blocks_done, now.blocks_total);
                self.0.get_or_insert_with(|| Bar::going_on(name, done, total)).set(done, total, 0);
            }
            _ => drop(self.0.take()),
        }
    }
}

/// Says how it ended, and whether that is well.
fn tell(name: &str, ended: &Ended, took: Option<Duration>) -> Result<bool> {
    match ended {
        Ended::NothingToDo => {
            say(&format!("{name}: nothing to do, these decoders read all its blocks already"))?;
        }
        Ended::Done { blocks } => {
            let took = took.map_or(String::new(), |it| format!(" in {:.1} s", it.as_secs_f64()));
            say(&format!("{name}: {blocks} blocks read anew{took}"))?;
        }
        Ended::Stopped => {
            eprintln!("{name}: stopped before the end; it goes on from there the next time");
            return Ok(false);
        }
        Ended::Failed { error } => {
            eprintln!("{name}: failed: {error}");
            return Ok(false);
        }
    }
    Ok(true)
}
