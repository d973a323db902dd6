//! `headwater completions`: what a shell needs to complete our commands and flags.

use std::process::ExitCode;

use anyhow::Result;
use clap::CommandFactory;

use crate::cli::{Cli, CompletionsArgs};
use crate::say;

pub fn run(args: &CompletionsArgs) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "headwater", &mut script);
    say(String::from_utf8(script)?.trim_end())?;
    Ok(ExitCode::SUCCESS)
}
