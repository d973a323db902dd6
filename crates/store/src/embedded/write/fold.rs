//! Writes runs of index rows into their tables, many at once, and counts what they add.
//!
//! Tables first, past the engine's log, while the runs still count; then, in one write for a few runs, the counts, the
//! removal of those runs, and up to where they are folded. Whatever comes between, a row is in its table or in a run
//! that counts, or in both, which is the same; and its wallet is counted once. Other writes go in between: a block at
//! the head does not wait for the counts of thousands of blocks.

use std::ops::RangeInclusive;
use std::sync::{Arc, MutexGuard, PoisonError};

use alloy_primitives::Address;
use model::chain::ChainId;

use super::batch::Batch;
use super::fold_counts::{CountChanges, FoldPart, PART_ROWS};
use crate::Error;
use crate::embedded::counts::Buckets;
use crate::embedded::engine::{Durability, Table};
use crate::embedded::keys;
use crate::embedded::open::Store;
use crate::embedded::runs::{Run, RunTable, merged_rows};
use crate::embedded::tables::Tables;
use crate::embedded::write_turn::{Priority, WriteTurn};
use crate::journal::Origin;

/// Wallets that begin to be counted in one write. Each has some hundred rows, and about as many counts.
const BEGUN_AT_ONCE: usize = 16;

/// A commit waits while runs take more than this many times what one fold is meant for.
pub const WAITING_FOLDS_MAX: u64 = 2;

impl Store {
    /// Whoever also needs `one_at_a_time` takes this one first.
    pub fn one_fold(&self) -> MutexGuard<'_, ()> {
        self.inner.folding.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything that is pending now is in its tables when this returns.
    pub fn fold(&self) -> Result<(), Error> {
        let _one_fold = self.one_fold();
        let pending = self.inner.database()?.runs.now();
        for chain in pending.chains() {
            self.fold_chain(chain, None)?;
        }
        Ok(())
    }

    /// `one_at_a_time`, with none of these blocks in a run: only rows that are in their tables can be removed.
    pub fn one_at_a_time_folded(
        &self,
        chain: ChainId,
        numbers: &[RangeInclusive<u64>],
        priority: Priority,
    ) -> Result<WriteTurn<'_>, Error> {
        let one_at_a_time = self.inner.writing.take(priority);
        if !self.inner.database()?.runs.now().holds_any(chain, numbers) {
            return Ok(one_at_a_time);
        }
        drop(one_at_a_time);
        let _one_fold = self.one_fold();
        let one_at_a_time = self.inner.writing.take(priority);
        self.fold_chain(chain, Some(&one_at_a_time))?;
        Ok(one_at_a_time)
    }

    /// A commit that adds to what is pending waits for the one who folds, where that falls behind.
    pub fn wait_for_folds(&self) -> Result<(), Error> {
        let max = WAITING_FOLDS_MAX * self.inner.options.memory().run;
        if self.inner.database()?.runs.now().bytes() > max { self.fold() } else { Ok(()) }
    }

    fn fold_chain(&self, chain: ChainId, held: Option<&WriteTurn<'_>>) -> Result<(), Error> {
        let open = self.inner.database()?;
        let runs = {
            // No run is taken whose commit is still being written, and from here on no wallet begins to be counted
            // by rows that are about to be counted below.
            let _one_at_a_time = held.is_none().then(|| self.inner.writing.take(Priority::Low));
            open.runs.begin_fold(chain)
        };
        if runs.is_empty() {
            return Ok(());
        }
        // What is in a table is on disk at once; the blocks that it leads to must not be lost after it.
        self.inner.may_write(Durability::Disk)?;
        self.persist()?;
        write_tables(&open.tables, chain, &runs)?;
        let CountChanges { parts, uncounted } =
            CountChanges::of(&open.tables, chain, (&runs, PART_ROWS))?;
        let turn = || held.is_none().then(|| self.inner.writing.take(Priority::Low));
        for part in parts {
            let _one_at_a_time = turn();
            self.fold_part(chain, part)?;
        }
        open.runs.end_fold(chain);
        for some in uncounted.chunks(BEGUN_AT_ONCE) {
            let _one_at_a_time = turn();
            self.begin_to_count(chain, some)?;
        }
        Ok(())
    }

    /// The rows are in their tables.
    fn fold_part(&self, chain: ChainId, part: FoldPart<'_>) -> Result<(), Error> {
        let Some(newest) = part.runs.last().map(|run| run.seq) else { return Ok(()) };
        let view = self.view()?;
        let mut batch = Batch::new(self, chain, &view, Origin::History)?;
        for (address, buckets) in part.counts {
            // Its rows may have become few meanwhile.
            if let Some(total) = batch.total_of(address)? {
                batch.change_counts(address, total, &buckets)?;
            }
        }
        let t = view.tables.clone();
        for run in part.runs {
            batch.drop_key(&t.index_runs, keys::block(chain, run.seq));
        }
        batch.put(&t.meta, keys::folded(chain), newest.to_be_bytes().to_vec());
        self.inner.write(batch.ops, Durability::Process, None)?;
        self.inner.database()?.runs.folded(chain, newest);
        Ok(())
    }

    /// Wallets that got many rows.
    fn begin_to_count(&self, chain: ChainId, wallets: &[Address]) -> Result<(), Error> {
        let view = self.view()?;
        let mut batch = Batch::new(self, chain, &view, Origin::History)?;
        for address in wallets {
            if batch.total_of(*address)?.is_none() {
                batch.begin_to_count(*address, Buckets::default())?;
            }
        }
        self.inner.write(batch.ops, Durability::Process, None)
    }
}

fn write_tables(tables: &Tables, chain: ChainId, runs: &[Arc<Run>]) -> Result<(), Error> {
    let t = tables;
    let all = [&t.wallet_txs, &t.wallet_internal, &t.tx_by_hash, &t.log_words];
    let in_runs = all.into_iter().filter_map(|table| Some((table, table.in_runs()?)));
    in_runs.into_iter().try_for_each(|table| write_table(table, chain, runs))
}

fn write_table(
    (table, of): (&Table, RunTable),
    chain: ChainId,
    runs: &[Arc<Run>],
) -> Result<(), Error> {
    if runs.iter().all(|run| run.rows(of) == 0) {
        return Ok(());
    }
    let mut rows = merged_rows(runs, of).peekable();
    let mut full_key = Vec::with_capacity(64);
    table.bulk_load(|put| {
        let Some((key, value)) = rows.next() else { return Ok(false) };
        // The engine wants rising keys; no two runs have the same, since no two have the same block.
        if rows.peek().is_some_and(|(next, _)| *next <= key) {
            return Err(Error::Broken { what: "run of index rows" });
        }
        full_key.clear();
        full_key.extend_from_slice(&keys::chain(chain));
        full_key.extend_from_slice(key);
        put(&full_key, value)?;
        Ok(true)
    })
}

#[cfg(test)]
#[path = "fold_tests.rs"]
mod tests;
