//! Applying, reverting and amending blocks.
//!
//! `prepare` turns a block into rows: pure, and done by many workers at once. `Store::commit` writes
//! prepared blocks, removes others, and appends the journal, in one atomic batch. Reverting a block
//! prepares it again from what is stored and removes the same rows.

mod appended;
mod batch;
mod block_rows;
mod counting;
mod facts;
mod fold;
mod generation;
mod index_file;
mod index_rows;
mod pools;
mod prune;
mod runs_again;
mod sweep_indexes;

use std::time::Instant;

use model::chain::ChainId;
use model::facts::Facts;

pub use block_rows::{BodyRows, PackedBlock, body_groups, body_rows, prepare};
pub use fold::WAITING_FOLDS_MAX;
pub use index_rows::BlockIndex;
pub use runs_again::runs_again;

use super::engine::Durability;
use super::expected_heads::WAIT_MAX;
use super::open::Store;
use super::read::View;
use super::segments::{Bodies, Dictionaries, Dictionary, FREEZE_EVERY_BLOCKS, train};
use super::write_turn::Priority;
use crate::Error;
use crate::block::VerifiedBlock;
use crate::change::{ChangeOf, Committed};
use crate::fit::{self, StoredChain};
use crate::journal::Origin;
use batch::Batch;

impl Store {
    pub fn commit(
        &self,
        chain: ChainId,
        mut change: ChangeOf<PackedBlock>,
    ) -> Result<Committed, Error> {
        let is_head = change.origin == Origin::Head;
        if !is_head {
            self.room_for_history(chain)?;
        }
        let is_due = |block: &PackedBlock| block.head.number.is_multiple_of(FREEZE_EVERY_BLOCKS);
        let freezes = change.apply.iter().any(is_due);
        let priority = if is_head { Priority::Normal } else { Priority::Low };
        let amended = change.amend.iter().chain(&change.untrace).map(|block| block.head.number);
        let removed: Vec<_> = amended.chain(change.revert.iter().copied()).map(|n| n..=n).collect();
        let is_prepared = !is_head && removed.is_empty();
        let ChangeOf { amend, untrace, apply, .. } = &mut change;
        let blocks = amend.iter_mut().chain(untrace).chain(apply);
        blocks.for_each(|block| block.pack(chain, &Dictionaries::default()));
        let committed = if is_prepared {
            self.commit_prepared(chain, &change)?
        } else {
            let _turn = self.one_at_a_time_folded(chain, &removed, priority)?;
            self.batch_of(chain, &change)?.commit_ready()?
        };
        if is_head {
            self.inner.writing.heads.came(chain);
        }
        // It is stored, whatever comes of the rest.
        let trains = || self.inner.database().is_ok_and(|it| it.bodies.samples.is_full(chain));
        if is_head && (freezes || trains()) {
            self.inner.upkeep_due.add(chain);
        }
        Ok(committed)
    }

    pub fn ready_for_history(&self, chain: ChainId) -> Result<(), Error> {
        self.room_for_history(chain)?;
        self.inner.writing.heads.wait(None, Instant::now() + WAIT_MAX);
        Ok(())
    }

    fn room_for_history(&self, chain: ChainId) -> Result<(), Error> {
        self.train_dictionaries(chain)?;
        self.wait_for_folds()
    }

    /// A block at the head was fetched, and will be committed in a moment.
    pub fn expect_head(&self, chain: ChainId) {
        self.inner.writing.heads.expect(chain);
    }

    /// A block ready to be written, packed with what is known of its chain.
    pub fn prepare(&self, chain: ChainId, block: VerifiedBlock) -> PackedBlock {
        let mut block = prepare(chain, block);
        let Ok(open) = self.inner.database() else { return block };
        let dictionaries = open.bodies.newest_dictionaries(chain);
        let unlearned = Bodies::unlearned(&dictionaries);
        open.bodies.samples.add(chain, unlearned, &block.rows.groups);
        block.pack(chain, &dictionaries);
        block
    }

    /// Once enough of a chain was seen.
    pub fn train_dictionaries(&self, chain: ChainId) -> Result<(), Error> {
        let open = self.inner.database()?;
        for (kind, sample) in open.bodies.samples.take_full(chain) {
            let Some(bytes) = train(sample) else { continue };
            let _one_at_a_time = self.one_at_a_time();
            let id = open.bodies.next_dictionary_id();
            let row = Dictionary::pack_row((chain, kind), &bytes);
            let table = &open.tables.dictionaries;
            self.put(table, &id.to_be_bytes(), Some(row), Durability::Disk)?;
            // Bodies that lead to it may be on disk before a bulk load is.
            self.persist()?;
            open.bodies.add_dictionary(Dictionary::new(id, (chain, kind), &bytes));
        }
        Ok(())
    }

    /// Nobody waits while the write is computed and bodies go to disk: others have to for the engine's own write alone.
    fn commit_prepared(
        &self,
        chain: ChainId,
        change: &ChangeOf<PackedBlock>,
    ) -> Result<Committed, Error> {
        let preparing = self.inner.writing.prepare(chain);
        let mut prepared = self.batch_of(chain, change);
        if let Ok(batch) = &mut prepared {
            batch.append_bodies()?;
        }
        let (_turn, holds) = preparing.take();
        match prepared {
            Ok(batch) if holds && batch.is_of_open_engine() => batch.commit_ready(),
            // With the turn in hand it is certain what is stored.
            _ => self.batch_of(chain, change)?.commit_ready(),
        }
    }

    /// What the change comes to, ready to be written.
    fn batch_of(&self, chain: ChainId, change: &ChangeOf<PackedBlock>) -> Result<Batch<'_>, Error> {
        let view = self.view()?;
        let heads = change.heads(|block| block.head);
        let hash = |number| Ok(view.block_summary(chain, number)?.map(|block| block.hash));
        let stored =
            StoredChain { hash: &hash, parent_hash: &|number| view.parent_hash(chain, number) };
        fit::check_amends(&stored, &heads)?;
        let is_new = fit::blocks_to_write(&stored, &heads)?;
        let mut batch = Batch::new(self, chain, &view, change.origin)?;
        for number in change.revert.iter().copied() {
            batch.revert(as_stored(&view, chain, number)?, &view)?;
        }
        for block in &change.amend {
            let stored = as_stored(&view, chain, block.head.number)?;
            fit::check_loses_nothing(&stored.head, &block.head)?;
            batch.amend(stored, block, &view)?;
        }
        for block in &change.untrace {
            let stored = as_stored(&view, chain, block.head.number)?;
            fit::check_loses_traces_only(&stored.head, &block.head)?;
            batch.amend(stored, block, &view)?;
        }
        for (block, is_new) in change.apply.iter().zip(is_new) {
            if is_new {
                batch.apply(block);
            }
        }
        batch.get_ready(&view)?;
        Ok(batch)
    }
}

/// The rows that a stored block has. What it means is not asked again: its row of facts says what was
/// found in it.
fn as_stored(view: &View, chain: ChainId, number: u64) -> Result<PackedBlock, Error> {
    let stored = view.whole_block(chain, number)?;
    let (block, proof) = stored.ok_or(Error::NotStored { number })?;
    Ok(prepare(chain, VerifiedBlock { block, proof, facts: Facts::default() }))
}

#[cfg(test)]
#[path = "prepared_tests.rs"]
mod prepared_tests;
