//! `headwater doctor`: whether a server with this configuration would do well here, and what to do where not.
//!
//! It only looks: nothing is written, and a server that runs meanwhile is not disturbed.

mod finding;
mod machine;
mod nodes;

use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::Result;
use finding::{Finding, Notes, State};
use futures_util::future::join_all;
use model::chain::ChainTable;
use serde::Serialize;

use super::run_async;
use crate::admin::Client;
use crate::cli::DoctorArgs;
use crate::config::{ChainSection, Flags, Settings, table};
use crate::server::chains;
use crate::{file_limit, say};

#[derive(Default, Serialize)]
struct Report {
    is_well: bool,
    findings: Vec<Finding>,
    nodes: Vec<ChainNodes>,
}

/// The figures behind the findings.
#[derive(Serialize)]
struct ChainNodes {
    chain: String,
    nodes: Vec<rpc::NodeReport>,
}

pub fn run(args: &DoctorArgs) -> Result<ExitCode> {
    let report = run_async(async { Ok(examine(&Flags::from(args)).await) })?;
    if args.json {
        say(&serde_json::to_string_pretty(&report)?)?;
    } else {
        finding::lines(&report.findings).iter().try_for_each(|line| say(line))?;
    }
    Ok(if report.is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn examine(flags: &Flags) -> Report {
    let mut report = Report::default();
    match configuration(flags) {
        Ok((settings, table)) => {
            report.add(described(flags, &settings));
            machine(&settings, &mut report).await;
            chains(&settings, &table, &mut report).await;
        }
        Err(error) => {
            let mut notes = Notes::new("configuration");
            notes.wrong(
                "settings",
                crate::told(&error),
                "correct it; `headwater init` writes a good one",
            );
            report.add(notes);
        }
    }
    report.is_well = report.findings.iter().all(|finding| finding.state != State::Wrong);
    report
}

impl Report {
    fn add(&mut self, notes: Notes) {
        self.findings.extend(notes.findings);
    }
}

/// By the functions that a server calls when it starts.
fn configuration(flags: &Flags) -> Result<(Settings, ChainTable)> {
    let settings = Settings::load(flags)?;
    super::config::check(&settings)?;
    let table = table(&settings)?;
    Ok((settings, table))
}

fn described(flags: &Flags, settings: &Settings) -> Notes {
    let mut notes = Notes::new("configuration");
    match &flags.config {
        Some(path) => notes.good("settings", format!("{} is good", path.display())),
        None => notes.good("settings", "no file: defaults, variables and flags"),
    }
    let has_nodes = settings.chains.values().any(|section| !section.upstreams.is_empty());
    if !has_nodes {
        let todo = "name one: --rpc eth=http://127.0.0.1:8545, or `headwater init`";
        notes.warning("nodes", "no chain has a node: nothing new will be read", todo);
    }
    notes
}

async fn machine(settings: &Settings, report: &mut Report) {
    let is_running = matches!(Client::connect(&settings.store.path).await, Ok(Some(_)));
    report.add(machine::folder(settings, is_running));
    report.add(machine::ports(settings, is_running));
    report.add(machine::files(settings, file_limit::plan(settings.node_files())));
}

/// All nodes of all chains at once: one that hangs keeps nobody waiting but itself.
async fn chains(settings: &Settings, table: &ChainTable, report: &mut Report) {
    let with_nodes = settings.chains.iter().filter(|(_, section)| !section.upstreams.is_empty());
    let looks = with_nodes.map(|(name, section)| look(settings, table, name, section));
    for (notes, nodes) in join_all(looks).await {
        notes.into_iter().for_each(|notes| report.add(notes));
        report.nodes.extend(nodes);
    }
}

async fn look(
    settings: &Settings,
    table: &ChainTable,
    name: &str,
    section: &ChainSection,
) -> (Vec<Notes>, Option<ChainNodes>) {
    let inspected = async {
        let chain = chains::find(table, name)?;
        let options = chains::pool_options(chain, section, settings);
        let nodes = rpc::Pool::inspect(options).await?;
        anyhow::Ok((chain, nodes))
    };
    match inspected.await {
        Ok((chain, nodes)) => {
            let traces = settings.ingest.traces != ingest::TraceUse::Off;
            let wanted = nodes::Wanted { name, chain, section, traces, now: SystemTime::now() };
            let notes = nodes.iter().map(|node| nodes::notes(&wanted, node)).collect();
            (notes, Some(ChainNodes { chain: name.to_owned(), nodes }))
        }
        Err(error) => {
            let mut notes = Notes::new(format!("chain {name}"));
            notes.wrong("settings", crate::told(&error), "correct the chain's section");
            (vec![notes], None)
        }
    }
}
