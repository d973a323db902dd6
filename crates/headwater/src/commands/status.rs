//! `headwater status`: what the server on a data folder is doing, as JSON.

use std::process::ExitCode;

use anyhow::{Context, Result};

use super::run_async;
use crate::admin::Client;
use crate::cli::StatusArgs;
use crate::config::{Flags, Settings};
use crate::say;

pub fn run(args: &StatusArgs) -> Result<ExitCode> {
    let settings = Settings::load(&Flags::from(&args.place))?;
    run_async(async {
        let folder = &settings.store.path;
        let server = Client::connect(folder).await?;
        let server = server
            .with_context(|| format!("no server runs on the data folder {}", folder.display()))?;
        let status: serde_json::Value = server.get("/status").await?;
        say(&serde_json::to_string_pretty(&status)?)?;
        Ok(ExitCode::SUCCESS)
    })
}
