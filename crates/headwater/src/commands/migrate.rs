//! `headwater migrate`: brings the schema of the database up to this build's.

use std::process::ExitCode;

use anyhow::{Result, ensure};

use super::run_async;
use crate::cli::MigrateArgs;
use crate::config::{Flags, Settings};
use crate::open_store::open_store;
use crate::{say, telemetry};

pub fn run(args: &MigrateArgs) -> Result<ExitCode> {
    let settings = Settings::load(&Flags::from(&args.place))?;
    telemetry::logs(&settings.log)?;
    ensure!(
        !settings.store.url.is_empty(),
        "store.url is empty; a store in a data folder is upgraded when it is opened"
    );
    run_async(async {
        // Opening does it, under a lock that processes which start at the same time wait for.
        let store = open_store(&settings, true).await?;
        store.all_ready().await?;
        if args.citus {
            let databases = store.distribute().await?;
            ensure!(
                databases > 0,
                "--citus: no database of the configuration has the extension; say `create extension citus` in it first"
            );
        }
        Ok(())
    })?;
    say("the schema is this build's")?;
    Ok(ExitCode::SUCCESS)
}
