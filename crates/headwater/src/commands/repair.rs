//! `headwater repair`: opens a damaged data folder at the last write that can be trusted, keeps every
//! damaged file, and says what is lost.

use std::process::ExitCode;

use anyhow::Result;
use store::{LostOfChain, RepairReport, Store};

use super::check::{refuse_beside_a_server, show, tell};
use super::run_async;
use crate::cli::RepairArgs;
use crate::config::{Flags, Settings};
use crate::open_store::options;
use crate::progress_bar::Bar;
use crate::{say, telemetry};

pub fn run(args: &RepairArgs) -> Result<ExitCode> {
    let settings = Settings::load(&Flags::from(&args.place))?;
    telemetry::logs(&settings.log)?;
    let report = run_async(async {
        refuse_beside_a_server(&settings).await?;
        let bar = Bar::new("check", 0);
        let report = Store::repair(&options(&settings), show(&bar)).await?;
        bar.finish();
        Ok(report)
    })?;
    tell_repair(&report)?;
    tell(&report.check)
}

fn tell_repair(report: &RepairReport) -> Result<()> {
    if report.steps.is_empty() {
        say("nothing had to be repaired")?;
    }
    for step in &report.steps {
        say(step)?;
    }
    for kept in &report.kept {
        say(&format!("kept as {}", kept.display()))?;
    }
    for LostOfChain { chain, entries, newest_before, newest_now } in &report.lost {
        let shown = |number: &Option<u64>| number.map_or("none".to_owned(), |it| it.to_string());
        say(&format!(
            "chain {chain}: lost {entries} journal entries; the newest block was {}, and is {} now",
            shown(newest_before),
            shown(newest_now)
        ))?;
    }
    if !report.steps.is_empty() && report.lost.is_empty() {
        say(if report.had_record {
            "no block is lost"
        } else {
            "it is not known what was stored before; what is missing is filled again from the nodes"
        })?;
    }
    Ok(())
}
