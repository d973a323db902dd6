//! The binary: command line, configuration, telemetry, and putting the parts together.

/// For people, on stderr. The standard one panics where stderr is closed; this one stops nothing.
macro_rules! eprintln {
    ($($line:tt)*) => { $crate::log_writer::line(format!("{}\n", format_args!($($line)*)).into_bytes()) };
}

mod admin;
mod allocator;
mod cli;
mod cli_examples;
mod clock;
mod commands;
mod config;
mod file_limit;
mod log_writer;
mod metric_help;
mod open_store;
mod otlp;
mod progress_bar;
mod progress_terminal;
mod redecode;
mod server;
mod telemetry;

use std::process::ExitCode;

use clap::Parser;
use cli::{Cli, Command};

fn main() -> ExitCode {
    file_limit::raise();
    let command = Cli::parse().command;
    if matches!(command, Command::Serve(_) | Command::Import(_) | Command::Demo(_)) {
        allocator::keep_freed_memory();
    }
    let outcome = clock::check().and_then(|()| run(command));
    let code = outcome.unwrap_or_else(|error| {
        eprintln!("headwater: {}", told(&error));
        ExitCode::FAILURE
    });
    log_writer::flush();
    code
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Init(args) => commands::init::run(&args),
        Command::Doctor(args) => commands::doctor::run(&args),
        Command::Demo(args) => commands::demo::run(&args),
        Command::Serve(args) => commands::serve::run(&args),
        Command::Import(args) => commands::import::run(&args),
        Command::Redecode(args) => commands::redecode::run(&args),
        Command::Keys(command) => commands::keys::run(&command),
        Command::Config(command) => commands::config::run(&command),
        Command::Digest(args) => commands::digest::run(&args),
        Command::Audit(args) => commands::audit::run(&args),
        Command::Check(args) => commands::check::run(&args),
        Command::Repair(args) => commands::repair::run(&args),
        Command::Backup(args) => commands::backup::run(&args),
        Command::Restore(args) => commands::restore::run(&args),
        Command::Migrate(args) => commands::migrate::run(&args),
        Command::Copy(args) => commands::copy::run(&args),
        Command::Status(args) => commands::status::run(&args),
        Command::Listen(args) => commands::listen::run(&args),
        Command::Completions(args) => commands::completions::run(&args),
    }
}

/// The error with its causes, each once: many errors have the text of their cause in their own.
fn told(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// A line of a command's own answer, on stdout.
fn say(line: &str) -> std::io::Result<()> {
    use std::io::Write;
    writeln!(std::io::stdout().lock(), "{line}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_told_once() {
        let source = std::io::Error::other("it is not a plain file");
        let error = store::Error::Folder { path: "/d".into(), source };
        let error = anyhow::Error::new(error).context("cannot start");
        let expected = "cannot start: cannot use the data folder /d: it is not a plain file";
        assert_eq!(told(&error), expected);
    }
}
