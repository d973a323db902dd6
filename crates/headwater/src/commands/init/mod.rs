//! `headwater init`: writes a commented configuration file, from flags or from answers on a terminal.

mod file;
mod questions;

use std::fs::OpenOptions;
use std::io::{ErrorKind, IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use file::{Answers, Node};

use super::run_async;
use crate::cli::InitArgs;
use crate::config::{Flags, Settings, pair};
use crate::say;

/// Node URLs may hold keys.
const OWNER_ALONE: u32 = 0o600;

pub fn run(args: &InitArgs) -> Result<ExitCode> {
    let path = &args.config;
    if path.exists() && !args.force {
        bail!("{} is there already; --force replaces it", path.display());
    }
    let mut answers = of_flags(args)?;
    if answers.nodes.is_empty() {
        if !std::io::stdin().is_terminal() {
            bail!("no node: give one with --rpc CHAIN=URL; questions are asked on a terminal only");
        }
        questions::ask(&mut answers, &mut std::io::stdin().lock(), &mut std::io::stdout().lock())?;
    }
    let text = file::text(&answers);
    check(&text, path)?;
    write(path, &text, args.force)?;
    let file = path.display();
    say(&format!("wrote {file}"))?;
    say("Next:")?;
    say(&format!("  headwater doctor --config {file}"))?;
    say(&format!("  headwater keys create --config {file} --admin"))?;
    say(&format!("  headwater serve --config {file}"))?;
    Ok(ExitCode::SUCCESS)
}

fn of_flags(args: &InitArgs) -> Result<Answers> {
    let mut answers = Answers::default();
    for flag in &args.rpc {
        let (chain, url) = pair(flag, "--rpc", "CHAIN=URL")?;
        answers.nodes.push(Node { chain: chain.to_owned(), url: url.to_owned(), ws_url: None });
    }
    for flag in &args.from_block {
        let (chain, block) = pair(flag, "--from-block", "CHAIN=N")?;
        let block = block
            .parse()
            .with_context(|| format!("--from-block {flag}: '{block}' is not a block number"))?;
        if !answers.nodes.iter().any(|node| node.chain == chain) {
            bail!("--from-block {flag}: --rpc names no node of '{chain}'");
        }
        answers.from_block.push((chain.to_owned(), block));
    }
    if let Some(data) = &args.data {
        let text = data.to_str();
        text.context("--data: the folder's name is not UTF-8")?.clone_into(&mut answers.data);
    }
    if let Some(listen) = &args.listen {
        answers.listen.clone_from(listen);
    }
    Ok(answers)
}

/// By the functions that a server calls: what is written can be served from.
fn check(text: &str, path: &Path) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let trial =
        folder.unwrap_or(Path::new(".")).join(format!(".headwater-init-{}", std::process::id()));
    write(&trial, text, true)?;
    let flags = Flags { config: Some(trial.clone()), ..Flags::default() };
    let good = run_async(async {
        let settings = Settings::load_with(&flags, std::iter::empty())?;
        super::config::check(&settings)
    });
    let _ = std::fs::remove_file(&trial);
    good.context("nothing was written")
}

/// Whole or not at all, and over another file only where that was said.
fn write(path: &Path, text: &str, replace: bool) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).mode(OWNER_ALONE);
    let there = || format!("cannot write {}", path.display());
    if !replace {
        options.create_new(true);
        let file = options.open(path);
        if file.as_ref().is_err_and(|error| error.kind() == ErrorKind::AlreadyExists) {
            bail!("{} is there already; --force replaces it", path.display());
        }
        return file.and_then(|mut file| file.write_all(text.as_bytes())).with_context(there);
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".new-{}", std::process::id()));
    options.create(true).truncate(true);
    let written = options.open(&beside).and_then(|mut file| file.write_all(text.as_bytes()));
    let moved = written.and_then(|()| std::fs::rename(&beside, path));
    if moved.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    moved.with_context(there)
}
