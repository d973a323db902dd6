//! The binary: command line, configuration, telemetry, and putting the parts together.

mod admin;
mod cli;
mod commands;
mod config;
mod open_store;
mod progress_bar;
mod redecode;
mod server;
mod telemetry;

use std::process::ExitCode;

use clap::Parser;
use cli::{Cli, Command};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Demo(args) => commands::demo::run(&args),
        Command::Serve(args) => commands::serve::run(&args),
        Command::Import(args) => commands::import::run(&args),
        Command::Redecode(args) => commands::redecode::run(&args),
        Command::Keys(command) => commands::keys::run(&command),
        Command::Config(command) => commands::config::run(&command),
        Command::Digest(args) => commands::digest::run(&args),
        Command::Backup(args) => commands::backup::run(&args),
        Command::Restore(args) => commands::restore::run(&args),
        Command::Status(args) => commands::status::run(&args),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            eprintln!("headwater: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// A line of a command's own answer, on stdout.
fn say(line: &str) -> std::io::Result<()> {
    use std::io::Write;
    writeln!(std::io::stdout().lock(), "{line}")
}
