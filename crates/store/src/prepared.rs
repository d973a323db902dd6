//! A block in the form in which its engine writes it.

use std::ops::Deref;

use crate::block::BlockHead;
use crate::change::ChangeOf;
use crate::{embedded, postgres};

/// Made by `Store::prepare`. Preparing needs no other block, so many workers do it at once.
pub struct PreparedBlock {
    pub(crate) block: EngineBlock,
}

pub(crate) enum EngineBlock {
    Embedded(embedded::PackedBlock),
    Postgres(postgres::PgBlock),
}

/// What one commit does.
pub type Change = ChangeOf<PreparedBlock>;

impl PreparedBlock {
    /// Memory held, for those who keep many waiting.
    pub fn bytes(&self) -> usize {
        match &self.block {
            EngineBlock::Embedded(block) => block.rows.bytes(),
            EngineBlock::Postgres(block) => block.bytes(),
        }
    }

    /// A block is written by the engine that prepared it.
    pub(crate) fn into_embedded(self) -> Option<embedded::PackedBlock> {
        match self.block {
            EngineBlock::Embedded(block) => Some(block),
            EngineBlock::Postgres(_) => None,
        }
    }

    pub(crate) fn into_postgres(self) -> Option<postgres::PgBlock> {
        match self.block {
            EngineBlock::Embedded(_) => None,
            EngineBlock::Postgres(block) => Some(block),
        }
    }
}

impl Deref for PreparedBlock {
    type Target = BlockHead;

    fn deref(&self) -> &BlockHead {
        match &self.block {
            EngineBlock::Embedded(block) => &block.head,
            EngineBlock::Postgres(block) => &block.head,
        }
    }
}
