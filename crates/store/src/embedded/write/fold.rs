//! Writes runs of index rows into a file, many at once.
//!
//! The file first, while the runs count; then one write takes the runs away and makes the file count. Cut off before that
//! write, nothing leads to the file, and it is removed at the next start. A block at the head waits for that write only.

use std::ops::RangeInclusive;
use std::sync::{MutexGuard, PoisonError};

use model::chain::ChainId;

use super::index_file::{remove_unless_written, write_file};
use crate::Error;
use crate::embedded::engine::{Durability, Op, Slice};
use crate::embedded::keys;
use crate::embedded::open::Store;
use crate::embedded::write_turn::{Priority, WriteTurn};

/// A commit waits while runs take more than this many times what one fold is meant for.
pub const WAITING_FOLDS_MAX: u64 = 2;

impl Store {
    /// Whoever also needs `one_at_a_time` takes this one first.
    pub fn one_fold(&self) -> MutexGuard<'_, ()> {
        self.inner.folding.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything that is pending now is in files when this returns.
    pub fn fold(&self) -> Result<(), Error> {
        let _one_fold = self.one_fold();
        let pending = self.inner.database()?.runs.now();
        for chain in pending.chains() {
            self.fold_chain(chain, None)?;
        }
        Ok(())
    }

    /// `one_at_a_time`, with none of these blocks in a run: only rows that are in a table or a file can be removed.
    pub fn one_at_a_time_folded(
        &self,
        chain: ChainId,
        numbers: &[RangeInclusive<u64>],
        priority: Priority,
    ) -> Result<WriteTurn<'_>, Error> {
        let one_at_a_time = self.inner.writing.take_for(Some(chain), priority);
        if !self.inner.database()?.runs.now().holds_any(chain, numbers) {
            return Ok(one_at_a_time);
        }
        drop(one_at_a_time);
        let _one_fold = self.one_fold();
        let one_at_a_time = self.inner.writing.take_for(Some(chain), priority);
        self.fold_chain(chain, Some(&one_at_a_time))?;
        Ok(one_at_a_time)
    }

    /// A commit that adds to what is pending waits for the one who folds, where that falls behind.
    pub fn wait_for_folds(&self) -> Result<(), Error> {
        let max = WAITING_FOLDS_MAX * self.inner.options.memory().run;
        if self.inner.database()?.runs.now().bytes() > max { self.fold() } else { Ok(()) }
    }

    fn fold_chain(&self, chain: ChainId, held: Option<&WriteTurn<'_>>) -> Result<(), Error> {
        let turn = || held.is_none().then(|| self.inner.writing.take(Priority::Low));
        let open = self.inner.database()?;
        let runs = {
            // No run is taken whose commit is still being written.
            let _one_at_a_time = turn();
            open.runs.now().of_chain(chain)
        };
        let Some(newest) = runs.last().map(|run| run.seq) else { return Ok(()) };
        self.inner.may_write(Durability::Disk)?;
        let Some(file) = write_file(&open.files, chain, &runs)? else { return Ok(()) };
        let path = file.file.path().to_owned();
        let mut ops: Vec<Op> = runs
            .iter()
            .map(|run| {
                let key = Slice::from(keys::block(chain, run.seq));
                Op { table: open.tables.index_runs.clone(), key, value: None }
            })
            .collect();
        let (key, value) = (Slice::from(keys::folded(chain)), Slice::from(newest.to_be_bytes()));
        ops.push(Op { table: open.tables.meta.clone(), key, value: Some(value) });
        let _one_at_a_time = turn();
        let change = open.files.with(file);
        let write = |ops| self.inner.write(ops, Durability::Process, None);
        open.write_files(ops, &change, write)
            .inspect_err(|error| remove_unless_written(&path, error))?;
        open.runs.folded(chain, newest);
        Ok(())
    }
}

#[cfg(test)]
#[path = "fold_tests.rs"]
mod tests;
