//! `headwater config`: is it good, and what is it after all layers.

use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::cli::ConfigCommand;
use crate::config::{Flags, Settings, table};
use crate::say;

pub fn run(command: &ConfigCommand) -> Result<ExitCode> {
    let (ConfigCommand::Check(args) | ConfigCommand::Print(args)) = command;
    let settings = Settings::load(&Flags::from(args))?;
    let table = table(&settings)?;
    api::VerifiedCollections::read(&settings.api.verified_collections, &table)?;
    api::Labels::read(&settings.api.labels)?;
    api::TokenLists::read(&settings.price.token_lists)?;
    match command {
        ConfigCommand::Check(_) => say("the configuration is good")?,
        ConfigCommand::Print(_) => {
            let text = toml::to_string(&settings).context("cannot print the configuration")?;
            say(text.trim_end())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
