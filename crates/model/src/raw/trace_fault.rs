//! Why a list of traces is of no use, and which transaction a trace belongs to; for both dialects.

use alloy_primitives::B256;

use super::Tx;
use super::record::Malformed;

/// What a node or a file gave instead of one trace per transaction.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TraceFault {
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The list is well-formed and has no trace of a transaction: it came too early, was cut short, or
    /// the tracer failed there. Nobody is wrong for that; the block is untraced.
    #[error("no trace of transaction {index}: {why}")]
    Missing { index: usize, why: String },
}

impl TraceFault {
    /// Keeps at most a line of what was found, as `Malformed` does.
    pub(super) fn missing(index: usize, why: &str) -> Self {
        TraceFault::Missing { index, why: why.chars().take(160).collect() }
    }
}

/// Where the transaction stands; mostly where the trace says or stands itself.
pub(super) fn place_of(txs: &[Tx], hash: B256, likely: usize) -> Option<usize> {
    let is_it = |tx: &Tx| tx.hash == Some(hash);
    if txs.get(likely).is_some_and(is_it) {
        return Some(likely);
    }
    txs.iter().position(is_it)
}
