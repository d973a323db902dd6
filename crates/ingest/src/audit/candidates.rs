//! Which accounts of a block can be asked about: all that it names, not only those whose balance it says to
//! have moved. A transfer that was left out belongs to somebody whose balance seems to stand still.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use alloy_primitives::Address;
use model::raw::Block;

/// Drawn with a secret of this process, anew each time: a node cannot know whom it will be asked about.
pub fn draw(block: &Block, count: Option<usize>) -> (Vec<Address>, usize) {
    let secret = RandomState::new();
    let mut all: Vec<Address> = accounts(block).into_iter().collect();
    let total = all.len();
    all.sort_by_cached_key(|address| secret.hash_one(address));
    all.truncate(count.unwrap_or(usize::MAX));
    (all, total)
}

pub fn accounts(block: &Block) -> HashSet<Address> {
    let mut all = HashSet::new();
    all.extend(block.header.miner);
    let withdrawals = block.header.withdrawals.iter().flatten();
    all.extend(withdrawals.filter_map(|withdrawal| withdrawal.address));
    for tx in &block.txs {
        all.extend([tx.from, tx.to].into_iter().flatten());
    }
    for receipt in block.receipts.iter().flatten() {
        all.extend(receipt.contract_address);
        all.extend(receipt.logs.iter().flatten().filter_map(|log| log.address));
    }
    for frame in block.traces.iter().flatten().flatten() {
        all.insert(frame.from);
        all.extend(frame.to);
    }
    all
}
