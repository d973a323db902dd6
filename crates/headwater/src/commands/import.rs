//! `headwater import`: blocks from files into the store.

use std::process::ExitCode;
use std::sync::Mutex;

use anyhow::Result;
use ingest::import::{ImportEvent, Summary, import};

use super::run_async;
use crate::cli::ImportArgs;
use crate::config::{Flags, Settings, find_or_make, table};
use crate::open_store::open_store;
use crate::progress_bar::Bar;
use crate::{say, telemetry};

/// Refused records shown one by one; the rest is counted.
const SHOWN_MAX: usize = 20;

pub fn run(args: &ImportArgs) -> Result<ExitCode> {
    let settings = Settings::load(&Flags::from(&args.place))?;
    telemetry::logs(&settings.log)?;
    let (_, chain) = find_or_make(table(&settings)?, &args.chain)?;
    let bar = Bar::new("import", args.files.len() as u64);
    let shown = Mutex::new(0usize);
    let tell = |event: ImportEvent| match event {
        ImportEvent::FileDone(_) => {}
        ImportEvent::Blocks { blocks, transactions } => bar.add(blocks, transactions),
        ImportEvent::Refused(refusal) => {
            let mut shown = shown.lock().unwrap_or_else(|e| e.into_inner());
            *shown += 1;
            if *shown <= SHOWN_MAX {
                crate::progress_bar::suspended(|| eprintln!("refused: {refusal}"));
            }
        }
    };
    let summary = run_async(async {
        // Made durable once, at the end; an import cut off is simply run again.
        let store = open_store(&settings, false).await?;
        Ok(import(&store, &chain, &args.files, &tell).await?)
    })?;
    bar.finish();
    let refused = summary.refused.len();
    if refused > SHOWN_MAX {
        eprintln!("refused: {} more", refused - SHOWN_MAX);
    }
    say(&told(&summary, &chain.slug))?;
    Ok(if refused == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What came in, what was there before, and how far it can be relied on, in one line.
fn told(summary: &Summary, chain: &str) -> String {
    let mut line = format!(
        "imported {} blocks with {} transactions into {chain}, completed {}, already stored {}: {} verified, \
         {} partial, {} unverified; {} refused",
        summary.blocks,
        summary.transactions,
        summary.completed,
        summary.already_stored,
        summary.verified,
        summary.partial,
        summary.unverified,
        summary.refused.len(),
    );
    if summary.untraced > 0 {
        line += &format!("; {} without traces", summary.untraced);
    }
    line
}
