//! `headwater restore DIR`: a store made of a backup, in an empty data folder, read back to its last row.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use store::{BackupProgress, Options, Store};

use super::backup::{tell, with_bar};
use super::run_async;
use crate::cli::RestoreArgs;
use crate::config::{Flags, Settings, table};
use crate::{say, telemetry};

pub fn run(args: &RestoreArgs) -> Result<ExitCode> {
    let settings = Settings::load(&Flags::from(&args.place))?;
    telemetry::logs(&settings.log)?;
    let table = table(&settings)?;
    let data = &settings.store.path;
    let mut options = Options::new(data);
    options.memory_bytes = settings.store.memory_bytes;
    run_async(async {
        let progress = Arc::new(BackupProgress::default());
        let work = Store::restore(&options, &args.folder, progress.clone());
        let manifest = with_bar("restore", &progress, work).await?;
        let taken_at = &manifest.taken_at;
        say(&format!("{} is the store as it was at {taken_at}", data.display()))?;
        tell(&manifest, &table)?;
        Ok(ExitCode::SUCCESS)
    })
}
