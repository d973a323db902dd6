//! `headwater config`: is it good, and what is it after all layers.

use std::process::ExitCode;

use anyhow::{Context, Result};

use super::run_async;
use crate::cli::ConfigCommand;
use crate::config::{Flags, Settings, table};
use crate::server::chains;
use crate::{say, telemetry};

pub fn run(command: &ConfigCommand) -> Result<ExitCode> {
    let (ConfigCommand::Check(args) | ConfigCommand::Print(args)) = command;
    let settings = Settings::load(&Flags::from(args))?;
    run_async(async { check(&settings) })?;
    match command {
        ConfigCommand::Check(_) => say("the configuration is good")?,
        ConfigCommand::Print(_) => {
            let text = toml::to_string(&settings).context("cannot print the configuration")?;
            say(text.trim_end())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// By the very functions that a server calls when it starts, so that it refuses what this does and no more.
pub(super) fn check(settings: &Settings) -> Result<()> {
    telemetry::filter(&settings.log)?;
    let table = table(settings)?;
    for (name, section) in &settings.chains {
        let chain = chains::find(&table, name)?;
        rpc::Pool::check(chains::pool_options(chain, section, settings))
            .with_context(|| format!("chain '{name}'"))?;
    }
    api::ContractList::read("verified collections", &settings.api.verified_collections, &table)?;
    api::ContractList::read("spam contracts", &settings.streams.spam, &table)?;
    api::Labels::read(&settings.api.labels)?;
    api::TokenLists::read(&settings.price.token_lists)?;
    Ok(())
}
