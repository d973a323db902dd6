//! A block on its way into the store, and what the store says of blocks and transactions it holds.

use alloy_primitives::B256;
use model::facts::Facts;
use model::proof::Proof;
use model::raw::{Block, Frame, Receipt, Tx};

/// What ingest hands over: a block, what was proven of it, and what decoders found in it.
#[derive(Clone, Debug)]
pub struct VerifiedBlock {
    pub block: Block,
    pub proof: Proof,
    pub facts: Facts,
}

/// What is known of a block before it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockHead {
    pub number: u64,
    pub hash: B256,
    pub parent_hash: B256,
    pub proof: Proof,
    pub timestamp: u64,
    pub tx_count: u32,
    /// How many of its transactions have a receipt.
    pub receipt_count: u32,
    pub has_traces: bool,
}

impl BlockHead {
    /// A block without transactions has nothing to trace.
    pub(crate) fn is_untraced(&self) -> bool {
        !self.has_traces && self.tx_count > 0
    }
}

/// What most questions need of a block, without its header.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockSummary {
    pub number: u64,
    pub hash: B256,
    pub timestamp: u64,
    pub proof: Proof,
    pub tx_count: u32,
    /// False where the source could not trace: internal transactions are then unknown.
    pub has_traces: bool,
}

/// What a transaction must know of its block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockRef {
    pub number: u64,
    pub hash: B256,
    pub timestamp: u64,
    /// False where the source could not trace.
    pub has_traces: bool,
}

/// One stored transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredTx {
    pub block: BlockRef,
    pub index: u32,
    pub tx: Tx,
    /// Without logs and their bloom.
    pub receipt: Option<Receipt>,
    /// Frames below the root, in the order they were entered; only where they were asked for.
    pub frames: Option<Vec<Frame>>,
}

impl BlockSummary {
    pub fn block_ref(&self) -> BlockRef {
        let BlockSummary { number, hash, timestamp, has_traces, .. } = *self;
        BlockRef { number, hash, timestamp, has_traces }
    }
}
