//! Blocks whose traces the state contradicts: what they said to have moved is not believed again, whoever says it.
//!
//! In memory: the block itself is stored untraced. A process that starts anew takes whatever traces it gets, and
//! finds out again.

use std::collections::BTreeMap;
use std::sync::Mutex;

use alloy_primitives::{Address, B256, U256};
use model::raw::{Block, Frame};

use super::Difference;
use crate::lock::lock;
use crate::verify::{BALANCE, Lie};

/// Blocks remembered; the oldest are forgotten first.
const BLOCKS_MAX: usize = 1_024;

/// One internal transfer that stands: transaction, from, to, value.
type Transfer = (usize, Address, Option<Address>, U256);

#[derive(Default)]
pub(crate) struct Doubts {
    blocks: Mutex<BTreeMap<u64, Doubt>>,
}

struct Doubt {
    hash: B256,
    /// Whose balance tells.
    account: Address,
    why: Difference,
    /// Lists of transfers that do not explain it.
    refused: Vec<Vec<Transfer>>,
}

impl Doubts {
    /// The block as it is stored, with its traces.
    pub fn add(&self, block: &Block, account: Address, why: Difference) {
        let mut blocks = lock(&self.blocks);
        let doubt = blocks.entry(block.number).or_insert_with(|| Doubt {
            hash: block.hash,
            account,
            why,
            refused: Vec::new(),
        });
        if doubt.hash != block.hash {
            *doubt = Doubt { hash: block.hash, account, why, refused: Vec::new() };
        }
        (doubt.account, doubt.why) = (account, why);
        doubt.refused.push(transfers(block));
        while blocks.len() > BLOCKS_MAX {
            blocks.pop_first();
        }
    }

    /// Whether the block has traces again that are refused already.
    pub fn lie_about(&self, block: &Block) -> Option<Lie> {
        let blocks = lock(&self.blocks);
        let doubt = blocks.get(&block.number).filter(|doubt| doubt.hash == block.hash)?;
        block.traces.as_ref()?;
        doubt.refused.contains(&transfers(block)).then(|| Lie {
            block: block.number,
            check: BALANCE,
            expected: format!("transfers that explain {}", doubt.account),
            got: doubt.why.to_string(),
        })
    }

    /// Blocks that are to be looked at again, and whose balance tells.
    pub fn open(&self) -> Vec<(u64, Address)> {
        lock(&self.blocks).iter().map(|(number, doubt)| (*number, doubt.account)).collect()
    }

    /// Other traces came, and explain the balance; or the block is gone.
    pub fn settle(&self, number: u64) {
        lock(&self.blocks).remove(&number);
    }
}

/// With or without the roots, which move the transaction's own value.
fn transfers(block: &Block) -> Vec<Transfer> {
    let traces = block.traces.iter().flatten().enumerate();
    let of_tx = |(i, frames): (usize, &Vec<Frame>)| {
        let inner = frames.iter().filter(|frame| !frame.path.is_empty() && frame.moves_value());
        inner.map(|frame| (i, frame.from, frame.to, frame.value)).collect::<Vec<_>>()
    };
    traces.flat_map(of_tx).collect()
}
