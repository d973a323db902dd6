//! `headwater check`: reads everything that is stored and says what holds and what does not.

use std::process::ExitCode;

use anyhow::Result;
use store::{CheckProgress, CheckReport};

use super::run_async;
use crate::admin::Client;
use crate::cli::CheckArgs;
use crate::config::{Flags, Settings};
use crate::open_store::open_existing_store;
use crate::progress_bar::Bar;
use crate::{say, telemetry};

pub fn run(args: &CheckArgs) -> Result<ExitCode> {
    let settings = Settings::load(&Flags::from(&args.place))?;
    telemetry::logs(&settings.log)?;
    let report = run_async(async {
        refuse_beside_a_server(&settings).await?;
        let store = open_existing_store(&settings).await?;
        let bar = Bar::new("check", 0);
        let report = store.check(show(&bar)).await?;
        bar.finish();
        Ok(report)
    })?;
    tell(&report)
}

/// The folder belongs to one process at a time.
pub async fn refuse_beside_a_server(settings: &Settings) -> Result<()> {
    if Client::connect(&settings.store.path).await?.is_some() {
        let folder = settings.store.path.display();
        anyhow::bail!("a server runs on the data folder {folder}; stop it first");
    }
    Ok(())
}

pub fn show(bar: &Bar) -> impl Fn(CheckProgress) + Send + Sync {
    |now: CheckProgress| bar.set(now.blocks_done, now.blocks_total, 0)
}

/// One line for each part, and what is wrong with it below.
pub fn tell(report: &CheckReport) -> Result<ExitCode> {
    for part in &report.parts {
        let verdict = if part.faults_total == 0 { "holds" } else { "DOES NOT HOLD" };
        say(&format!("{}: {}, {verdict}", part.what, part.count))?;
        for fault in &part.faults {
            say(&format!("  {fault}"))?;
        }
        let more = part.faults_total.saturating_sub(part.faults.len() as u64);
        if more > 0 {
            say(&format!("  and {more} more"))?;
        }
    }
    if report.holds() {
        say("everything holds")?;
        return Ok(ExitCode::SUCCESS);
    }
    say("the store is damaged: restore a backup, or fill an empty folder again from the nodes")?;
    Ok(ExitCode::FAILURE)
}
