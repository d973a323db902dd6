//! Applying and reverting blocks.
//!
//! `prepare` turns a block into rows: pure, and done by many workers at once. `Store::commit` writes
//! prepared blocks, takes others back, and appends the journal, in one atomic batch. Taking a block
//! back prepares it again from what is stored and removes the same rows.

mod batch;
mod counting;
mod facts;
mod fitting;
mod generation;
mod prepared;

use model::chain::ChainId;
use model::facts::Facts;

pub use generation::Decoded;
pub use prepared::{Prepared, prepare};

use crate::Error;
use crate::coverage::Coverage;
use crate::embedded::journal::Entry;
use crate::embedded::open::Store;
use batch::Batch;

/// What one commit does: first take back, newest first, then apply.
#[derive(Default)]
pub struct Change {
    pub revert: Vec<u64>,
    pub apply: Vec<Prepared>,
}

/// What a commit did, told after it is durable.
#[derive(Debug, Clone, PartialEq)]
pub struct Committed {
    pub entries: Vec<Entry>,
    pub coverage: Coverage,
}

impl Store {
    /// Blocks that are stored already with the same hash are passed over. Every block must fit its
    /// neighbours, stored or in the same change; nothing is written otherwise.
    pub fn commit(&self, chain: ChainId, change: Change) -> Result<Committed, Error> {
        let _one_at_a_time = self.one_at_a_time();
        let view = self.view();
        let fresh = fitting::fresh(&view, chain, &change)?;
        let mut batch = Batch::new(self, chain, &view)?;
        for number in change.revert {
            let block = view.whole_block(chain, number)?;
            let (block, proof) = block.ok_or(Error::NotStored { number })?;
            // What it means is not asked again: the rows themselves say what was found in it.
            batch.remove(&prepare(chain, block, proof, Facts::default()), &view)?;
        }
        for (block, is_fresh) in change.apply.into_iter().zip(fresh) {
            if is_fresh {
                batch.insert(block);
            }
        }
        batch.commit()
    }
}
