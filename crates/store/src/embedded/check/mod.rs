//! Reads everything and says what holds: files, rows, and whether every index says what its blocks say.
//!
//! What should be there is made again from the blocks, as a write would make it, and compared with what
//! is there, as sums over rows: nothing is looked up one by one, so it takes about as long as reading.

mod blocks;
mod facts;
mod files;
mod journal;
mod pools;
mod streams;
mod sum;
mod wallets;

use std::collections::BTreeSet;

use model::chain::ChainId;
use model::token::Token;

use super::codec::Packed;
use super::engine::Table;
use super::open::Store;
use super::read::View;
use super::segments::check_files;
use crate::Error;
use crate::check::{CheckProgress, CheckReport, CheckedPart};
use sum::Sum;

pub type ProgressFn<'a> = &'a (dyn Fn(CheckProgress) + Send + Sync);

impl Store {
    pub fn check(&self, progress: ProgressFn) -> Result<CheckReport, Error> {
        let folded = self.fold();
        let view = self.view()?;
        let index = files::check_index(view.snapshot.files());
        let mut parts = vec![files::check_tables(&view.tables), check_files(&view), index];
        if let Err(error) = folded {
            let mut part = CheckedPart::new("new index rows");
            part.fault(error.to_string());
            parts.push(part);
        }
        let chains = chains_of(&view)?;
        let mut seen = blocks::Seen { progress, done: 0, total: 0 };
        for chain in &chains {
            let coverage = view.coverage(*chain);
            seen.total += coverage.map_or(0, |coverage| coverage.blocks());
        }
        for chain in chains {
            let mut check = ChainCheck { view: &view, chain, parts: Vec::new() };
            check.blocks(&mut seen);
            check.wallets();
            check.facts();
            check.journal();
            parts.append(&mut check.parts);
        }
        parts.append(&mut streams::check(&view));
        parts.push(small_rows(self, &view));
        Ok(CheckReport { parts })
    }
}

/// The parts of one chain, as they are looked at.
struct ChainCheck<'a> {
    view: &'a View,
    chain: ChainId,
    parts: Vec<CheckedPart>,
}

impl ChainCheck<'_> {
    fn part(&self, what: &str) -> CheckedPart {
        CheckedPart::new(format!("chain {}: {what}", self.chain.0))
    }

    /// Whether a table has exactly the rows that follow from another.
    fn compare(
        &mut self,
        what: &str,
        (table, prefix): (&Table, &[u8]),
        expected: Sum,
        of_value: impl Fn(&[u8]) -> Option<Vec<u8>>,
    ) {
        let mut part = self.part(what);
        match Sum::of_table(self.view, table, prefix, of_value) {
            Ok(found) => {
                part.count = found.rows;
                if found.rows != expected.rows {
                    part.fault(format!("{} rows, and {} should be", found.rows, expected.rows));
                } else if found != expected {
                    part.fault(format!("{} rows, and not the ones that should be", found.rows));
                }
            }
            Err(error) => part.fault(error.to_string()),
        }
        self.parts.push(part);
    }
}

/// Every chain of which there is any row.
fn chains_of(view: &View) -> Result<BTreeSet<ChainId>, Error> {
    let t = &view.tables;
    let mut chains = Vec::new();
    for table in [&t.coverage, &t.headers, &t.bodies, &t.wallet_txs, &t.wallet_counts, &t.journal] {
        view.chains_of(table, &mut chains)?;
    }
    Ok(chains.into_iter().collect())
}

/// What belongs to no block: tokens, keys of users, rows of readers, and what the store knows of itself.
fn small_rows(store: &Store, view: &View) -> CheckedPart {
    let mut part = CheckedPart::new("keys, tokens, readers, settings");
    let t = &view.tables;
    let tables = [
        ("tokens", &t.tokens),
        ("reader_rows", &t.reader_rows),
        ("stream_settings", &t.stream_settings),
        ("meta", &t.meta),
    ];
    for (name, table) in tables {
        for item in view.snapshot.iter(table) {
            part.count += 1;
            match item.into_inner() {
                Ok((_, value)) if name == "tokens" && Token::unpack(&mut &*value).is_none() => {
                    part.fault("a token cannot be read back");
                }
                Ok(_) => {}
                Err(error) => {
                    part.fault(error.to_string());
                    break;
                }
            }
        }
    }
    match store.api_keys() {
        Ok(keys) => part.count += keys.len() as u64,
        Err(error) => part.fault(error.to_string()),
    }
    part
}
