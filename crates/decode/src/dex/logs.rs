//! The logs of a block, transaction by transaction.

use model::raw::{Block, Log};

#[derive(Clone, Copy)]
pub struct Logs<'a> {
    pub list: &'a [Log],
    /// Where the first stands in its block, for sources that do not say.
    pub first_index: u64,
}

/// Each transaction that has logs, with its place.
pub fn transactions(block: &Block) -> impl Iterator<Item = (u32, Logs<'_>)> {
    let mut first_index = 0u64;
    block.receipts.iter().zip(0u32..).filter_map(move |(receipt, tx_index)| {
        let list = receipt.as_ref()?.logs.as_deref()?;
        let logs = Logs { list, first_index };
        first_index += list.len() as u64;
        Some((tx_index, logs))
    })
}
