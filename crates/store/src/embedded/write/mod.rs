//! Applying, reverting and amending blocks.
//!
//! `prepare` turns a block into rows: pure, and done by many workers at once. `Store::commit` writes
//! prepared blocks, removes others, and appends the journal, in one atomic batch. Reverting a block
//! prepares it again from what is stored and removes the same rows.

mod batch;
mod block_rows;
mod counting;
mod facts;
mod fit;
mod generation;
mod index_rows;
mod pools;
mod prune;

use model::chain::ChainId;
use model::facts::Facts;

pub use block_rows::{PackedBlock, prepare};
pub use index_rows::BlockIndex;

use super::open::Store;
use super::read::View;
use crate::Error;
use crate::block::VerifiedBlock;
use crate::change::{ChangeOf, Committed};
use batch::Batch;

impl Store {
    pub fn commit(
        &self,
        chain: ChainId,
        change: ChangeOf<PackedBlock>,
    ) -> Result<Committed, Error> {
        let _one_at_a_time = self.one_at_a_time();
        self.write_change(chain, change)
    }

    fn write_change(
        &self,
        chain: ChainId,
        change: ChangeOf<PackedBlock>,
    ) -> Result<Committed, Error> {
        let view = self.view()?;
        fit::check_amends(&view, chain, &change)?;
        let is_new = fit::blocks_to_write(&view, chain, &change)?;
        let mut batch = Batch::new(self, chain, &view, change.origin)?;
        for number in change.revert {
            batch.revert(as_stored(&view, chain, number)?, &view)?;
        }
        for block in change.amend {
            let stored = as_stored(&view, chain, block.head.number)?;
            fit::check_loses_nothing(&stored, &block)?;
            batch.amend(stored, block, &view)?;
        }
        for block in change.untrace {
            let stored = as_stored(&view, chain, block.head.number)?;
            fit::check_loses_traces_only(&stored, &block)?;
            batch.amend(stored, block, &view)?;
        }
        for (block, is_new) in change.apply.into_iter().zip(is_new) {
            if is_new {
                batch.apply(block);
            }
        }
        batch.commit(&view)
    }
}

/// The rows that a stored block has. What it means is not asked again: its row of facts says what was
/// found in it.
fn as_stored(view: &View, chain: ChainId, number: u64) -> Result<PackedBlock, Error> {
    let stored = view.whole_block(chain, number)?;
    let (block, proof) = stored.ok_or(Error::NotStored { number })?;
    Ok(prepare(chain, VerifiedBlock { block, proof, facts: Facts::default() }))
}
