//! Writes runs of index rows into their tables, many at once, and counts what they add.
//!
//! Tables first, past the engine's log, while the runs still count; then, in one write, the counts, the removal of the
//! runs, and up to where they are folded. Whatever comes between, a row is in its table or in a run that counts, or in
//! both, which is the same; and its wallet is counted once.

use std::ops::RangeInclusive;
use std::sync::{Arc, MutexGuard, PoisonError};

use alloy_primitives::Address;
use alloy_primitives::map::HashMap;
use model::chain::ChainId;

use super::batch::Batch;
use crate::Error;
use crate::embedded::counts::{Buckets, Delta, MANY_AT_ONCE, TOTAL};
use crate::embedded::engine::{Durability, Table};
use crate::embedded::keys;
use crate::embedded::open::Store;
use crate::embedded::runs::{Run, RunTable, merged_rows};
use crate::embedded::tables::Tables;
use crate::journal::Origin;

/// A commit waits while runs take more than this many times what one fold is meant for.
pub const WAITING_FOLDS_MAX: u64 = 2;

/// Rows of wallets that are counted, or are to be.
#[derive(Default)]
struct CountChanges(HashMap<Address, (Buckets, usize)>);

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
    ) -> Result<MutexGuard<'_, ()>, Error> {
        let one_at_a_time = self.one_at_a_time();
        if !self.inner.database()?.runs.now().holds_any(chain, numbers) {
            return Ok(one_at_a_time);
        }
        drop(one_at_a_time);
        let _one_fold = self.one_fold();
        let one_at_a_time = self.one_at_a_time();
        self.fold_chain(chain, Some(&one_at_a_time))?;
        Ok(one_at_a_time)
    }

    /// A commit that adds to what is pending waits for the one who folds, where that falls behind.
    pub fn wait_for_folds(&self) -> Result<(), Error> {
        let max = WAITING_FOLDS_MAX * self.inner.options.memory().run;
        if self.inner.database()?.runs.now().bytes() > max { self.fold() } else { Ok(()) }
    }

    fn fold_chain(&self, chain: ChainId, held: Option<&MutexGuard<'_, ()>>) -> Result<(), Error> {
        let open = self.inner.database()?;
        let runs = {
            // No run is taken whose commit is still being written, and from here on no wallet begins to be counted
            // by rows that are about to be counted below.
            let _one_at_a_time = held.is_none().then(|| self.one_at_a_time());
            open.runs.begin_fold(chain)
        };
        let Some(newest) = runs.last().map(|run| run.seq) else { return Ok(()) };
        // What is in a table is on disk at once; the blocks that it leads to must not be lost after it.
        self.inner.may_write(Durability::Disk)?;
        self.persist()?;
        let changes = write_tables(&open.tables, chain, &runs)?;
        let _one_at_a_time = held.is_none().then(|| self.one_at_a_time());
        let view = self.view()?;
        let mut batch = Batch::new(self, chain, &view, Origin::History)?;
        batch.fold_counts(changes)?;
        let t = open.tables.clone();
        for run in &runs {
            batch.drop_key(&t.index_runs, keys::block(chain, run.seq));
        }
        batch.put(&t.meta, keys::folded(chain), newest.to_be_bytes().to_vec());
        self.inner.write(batch.ops, Durability::Process, None)?;
        open.runs.end_fold(chain, newest);
        Ok(())
    }
}

impl Batch<'_> {
    /// The rows are in their tables.
    fn fold_counts(&mut self, changes: CountChanges) -> Result<(), Error> {
        let mut changes: Vec<_> = changes.0.into_iter().collect();
        changes.sort_by_key(|(address, _)| *address);
        for (address, (buckets, rows)) in changes {
            if let Some(total) = self.total_of(address)? {
                self.change_counts(address, total, &buckets)?;
            } else if rows >= MANY_AT_ONCE {
                self.begin_to_count(address, Buckets::default())?;
            }
        }
        Ok(())
    }
}

fn write_tables(tables: &Tables, chain: ChainId, runs: &[Arc<Run>]) -> Result<CountChanges, Error> {
    let mut changes = CountChanges::default();
    let t = tables;
    let all = [&t.wallet_txs, &t.wallet_internal, &t.tx_by_hash, &t.log_words];
    for table in all {
        let Some(of) = table.in_runs() else { continue };
        write_table((table, of), chain, runs)?;
        if matches!(of, RunTable::WalletTxs | RunTable::WalletInternal) {
            changes.add(tables, chain, (runs, of))?;
        }
    }
    Ok(changes)
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

impl CountChanges {
    fn add(
        &mut self,
        tables: &Tables,
        chain: ChainId,
        (runs, of): (&[Arc<Run>], RunTable),
    ) -> Result<(), Error> {
        let is_direct = of == RunTable::WalletTxs;
        let mut rows = merged_rows(runs, of).filter_map(|(key, _)| wallet_row(key)).peekable();
        while let Some((address, number)) = rows.next() {
            let mut numbers = vec![number];
            while let Some((_, number)) = rows.next_if(|(next, _)| *next == address) {
                numbers.push(number);
            }
            let is_many = numbers.len() >= MANY_AT_ONCE;
            let key = keys::count(chain, address, TOTAL, 0);
            if !is_many && tables.wallet_counts.get(key)?.is_none() {
                continue;
            }
            let (buckets, rows_of_wallet) = self.0.entry(address).or_default();
            *rows_of_wallet += numbers.len();
            numbers.iter().for_each(|number| buckets.add(*number, Delta::of(is_direct, 1)));
        }
        Ok(())
    }
}

/// Of a key without its chain.
fn wallet_row(key: &[u8]) -> Option<(Address, u64)> {
    let address = key.first_chunk::<20>()?;
    Some((Address::from(*address), keys::place_at_end(key)?.0))
}

#[cfg(test)]
#[path = "fold_tests.rs"]
mod tests;
