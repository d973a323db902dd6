//! Blocks as a node tells them: JSON text in the exact shapes of JSON-RPC, as geth gives them.
//!
//! In: a [`SimBlock`]. Out: bytes, kept beside the block where the configuration says so.
//! One file per shape; none of them computes anything about the chain.

mod block;
mod receipt;
mod trace_geth;
mod trace_parity;
mod transaction;
mod writer;

pub(crate) use receipt::log_json;
pub(crate) use writer::array;

use crate::chain::SimBlock;
use bytes::Bytes;
use std::sync::OnceLock;

/// The rendered forms of one block, each made on first use.
#[derive(Debug)]
pub(crate) struct Text {
    keep: bool,
    block_full: OnceLock<Bytes>,
    block_thin: OnceLock<Bytes>,
    receipts: OnceLock<Bytes>,
    traces_geth: OnceLock<Bytes>,
    traces_parity: OnceLock<Bytes>,
}

impl Text {
    pub fn new(keep: bool) -> Self {
        Self {
            keep,
            block_full: OnceLock::new(),
            block_thin: OnceLock::new(),
            receipts: OnceLock::new(),
            traces_geth: OnceLock::new(),
            traces_parity: OnceLock::new(),
        }
    }

    fn get(&self, place: &OnceLock<Bytes>, write: impl FnOnce(&mut Vec<u8>)) -> Bytes {
        let make = || rendered(write);
        if self.keep { place.get_or_init(make).clone() } else { make() }
    }
}

/// Runs a writer on an empty buffer.
pub(crate) fn rendered(write: impl FnOnce(&mut Vec<u8>)) -> Bytes {
    let mut out = Vec::with_capacity(4096);
    write(&mut out);
    out.into()
}

impl SimBlock {
    /// The block with whole transactions, or with their hashes only.
    pub fn block_json(&self, full: bool) -> Bytes {
        let place = if full { &self.text.block_full } else { &self.text.block_thin };
        self.text.get(place, |out| block::write(out, self, full))
    }

    /// The header alone, as `newHeads` subscribers get it.
    pub fn header_json(&self) -> Bytes {
        rendered(|out| block::write_header(out, self))
    }

    pub fn transaction_json(&self, index: usize) -> Option<Bytes> {
        let tx = self.txs.get(index)?;
        Some(rendered(|out| transaction::write(out, self, index, tx)))
    }

    pub fn receipts_json(&self) -> Bytes {
        self.text.get(&self.text.receipts, |out| {
            array(out, self.txs.iter().enumerate(), |out, (index, tx)| {
                receipt::write(out, self, index, tx);
            });
        })
    }

    pub fn receipt_json(&self, index: usize) -> Option<Bytes> {
        let tx = self.txs.get(index)?;
        Some(rendered(|out| receipt::write(out, self, index, tx)))
    }

    /// Makes what a follower asks for, all of it at once.
    pub(crate) fn render(&self) {
        self.block_json(true);
        self.receipts_json();
        self.traces_geth_json();
    }

    /// `debug_traceBlock…` with the call tracer: one tree per transaction.
    pub fn traces_geth_json(&self) -> Bytes {
        self.text.get(&self.text.traces_geth, |out| trace_geth::write(out, self))
    }

    /// `trace_block`: one flat list of frames.
    pub fn traces_parity_json(&self) -> Bytes {
        self.text.get(&self.text.traces_parity, |out| trace_parity::write(out, self))
    }
}
