//! A block as rows. Pure: the same block gives the same rows, for writing and for taking back.

use alloy_primitives::{Address, B256};
use model::chain::ChainId;
use model::proof::Proof;
use model::raw::{Block, Frame, Receipt};
use model::wallets::{Parties, parties};

use crate::rows::{Stamp, pack_frames, pack_header, pack_logs, pack_tx};

/// A block as rows, ready to be written or removed.
pub struct Prepared {
    pub number: u64,
    pub hash: B256,
    pub parent_hash: B256,
    pub timestamp: u64,
    pub tx_count: u32,
    pub(super) header: Vec<u8>,
    pub(super) txs: Vec<Vec<u8>>,
    pub(super) logs: Vec<(u32, Vec<u8>)>,
    pub(super) traces: Vec<(u32, Vec<u8>)>,
    pub(super) wallets: Vec<Party>,
}

pub(super) struct Party {
    pub address: Address,
    pub index: u32,
    pub direct: bool,
}

impl Prepared {
    /// Memory held, for those who keep many waiting.
    pub fn bytes(&self) -> usize {
        let rows = self.txs.iter().chain(self.logs.iter().map(|(_, row)| row));
        let rows = rows.chain(self.traces.iter().map(|(_, row)| row));
        rows.map(Vec::len).sum::<usize>() + self.header.len() + self.wallets.len() * 28
    }
}

pub fn prepare(chain: ChainId, block: &Block, proof: Proof) -> Prepared {
    let stamp = Stamp {
        number: block.number,
        hash: block.hash,
        timestamp: block.timestamp,
        proof,
        tx_count: block.txs.len() as u32,
        has_traces: block.traces.is_some(),
    };
    let mut prepared = Prepared {
        number: block.number,
        hash: block.hash,
        parent_hash: block.parent_hash,
        timestamp: block.timestamp,
        tx_count: stamp.tx_count,
        header: pack_header(&stamp, &block.header),
        txs: Vec::with_capacity(block.txs.len()),
        logs: Vec::new(),
        traces: Vec::new(),
        wallets: Vec::with_capacity(block.txs.len() * 2),
    };
    for (i, tx) in block.txs.iter().enumerate() {
        let index = i as u32;
        let receipt = block.receipts.get(i).and_then(Option::as_ref);
        let frames = block.traces.as_ref().and_then(|all| all.get(i));
        let frames = below_root(frames.map_or(&[], Vec::as_slice));
        prepared.add_parties(index, &parties(tx, receipt, frames));
        let bare = receipt.map(|r| without_logs(r, proof));
        let bare = bare.as_ref().map(|(receipt, of_logs)| (receipt, *of_logs));
        prepared.txs.push(pack_tx(&stamp, chain, index, tx, bare));
        if let Some(logs) = receipt.and_then(|r| r.logs.as_ref()).filter(|l| !l.is_empty()) {
            prepared.logs.push((index, pack_logs(tx, logs)));
        }
        if !frames.is_empty() {
            prepared.traces.push((index, pack_frames(frames)));
        }
    }
    prepared
}

/// The root repeats the transaction and is not kept; a block read back from the store has none, so
/// nothing may depend on it.
fn below_root(frames: &[Frame]) -> &[Frame] {
    match frames {
        [root, below @ ..] if root.path.is_empty() => below,
        all => all,
    }
}

/// In a verified block a receipt's bloom is that of its logs, so it need not be kept.
fn without_logs(receipt: &Receipt, proof: Proof) -> (Receipt, bool) {
    let mut bare = Receipt { logs: None, ..receipt.clone() };
    if receipt.logs.as_ref().is_some_and(Vec::is_empty) {
        bare.logs = Some(Vec::new());
    }
    let has_logs = receipt.logs.as_ref().is_some_and(|logs| !logs.is_empty());
    // Chains that do not fill blooms in leave them empty beside logs.
    let of_logs = proof.has(Proof::RECEIPTS)
        && bare.logs_bloom.is_some_and(|bloom| bloom.is_zero() != has_logs);
    if of_logs {
        bare.logs_bloom = None;
    }
    (bare, of_logs)
}

impl Prepared {
    fn add_parties(&mut self, index: u32, parties: &Parties) {
        let direct = parties.direct.iter().map(|a| (*a, true));
        let internal = parties.internal.iter().map(|a| (*a, false));
        for (address, direct) in direct.chain(internal) {
            self.wallets.push(Party { address, index, direct });
        }
    }
}
