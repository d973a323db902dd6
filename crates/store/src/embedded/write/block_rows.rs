//! A block as rows. Pure: the same block gives the same rows, for writing and for removing.

use alloy_primitives::Address;
use model::chain::ChainId;
use model::facts::Facts;
use model::proof::Proof;
use model::raw::Block;
use model::wallets::{Parties, parties};

use crate::block::{BlockHead, BlockSummary, VerifiedBlock};
use crate::embedded::codec::groups::{self, GROUP};
use crate::embedded::codec::rows::{
    TxHash, TxPacker, pack_block_ref, pack_frames, pack_header, pack_logs,
};
use crate::embedded::keys;
use crate::embedded::log_words::{self, FoundWords, WordRows};
use crate::embedded::segments::{BodyGroups, Dictionaries, FrameKind, PackedBody, by_group};
use crate::embedded::whole_tx::{below_root, leave_bloom_out, roots_to_keep, take_logs};

/// A block ready to be written or removed.
pub struct PackedBlock {
    pub head: BlockHead,
    pub rows: BlockRows,
}

pub struct BlockRows {
    pub(super) header: Vec<u8>,
    /// Transactions, logs and frames as long as they are not packed.
    pub(super) groups: BodyGroups,
    pub(super) body: Option<PackedBody>,
    pub(super) wallets: Vec<Party>,
    /// Index and beginning of the hash.
    pub(super) tx_hashes: Vec<(u32, [u8; 8])>,
    pub(super) log_words: WordRows,
    pub(super) facts: Facts,
}

pub(super) struct Party {
    pub address: Address,
    pub index: u32,
    pub direct: bool,
}

impl BlockRows {
    pub fn bytes(&self) -> usize {
        let rows = self.groups.iter().flatten().map(|(_, row)| row.len()).sum::<usize>();
        let body = self.body.as_ref().map_or(0, |body| body.bytes.len());
        let indexed =
            self.wallets.len() * 28 + self.tx_hashes.len() * 12 + self.log_words.len() * 32;
        rows + body + self.header.len() + indexed
    }

    pub fn has_body(&self) -> bool {
        self.body.is_some() || self.groups.iter().any(|rows| !rows.is_empty())
    }

    /// Who takes part in which transaction, and whether directly.
    pub fn parties(&self) -> impl Iterator<Item = (Address, u32, bool)> + use<'_> {
        self.wallets.iter().map(|party| (party.address, party.index, party.direct))
    }
}

pub fn prepare(chain: ChainId, verified: VerifiedBlock) -> PackedBlock {
    let VerifiedBlock { mut block, mut proof, facts } = verified;
    let roots = roots_to_keep(&block);
    if roots.is_none() {
        proof = proof.without(Proof::FORMS);
    }
    block.trace_roots = roots.unwrap_or_default();
    let summary = BlockSummary {
        number: block.number,
        hash: block.hash,
        timestamp: block.timestamp,
        proof,
        tx_count: block.txs.len() as u32,
        has_traces: block.traces.is_some(),
    };
    let mut rows = BlockRows {
        header: pack_header(&summary, &block.header),
        groups: BodyGroups::default(),
        body: None,
        wallets: Vec::with_capacity(block.txs.len() * 2),
        tx_hashes: Vec::with_capacity(block.txs.len()),
        log_words: WordRows::default(),
        facts,
    };
    let mut words = FoundWords::default();
    let receipt_count = block.receipts.iter().flatten().count() as u32;
    let mut packer = TxPacker::new(&summary.block_ref(), chain);
    for group in 0..groups::count(summary.tx_count) {
        rows.add_group(group, &mut block, &summary, (&mut packer, &mut words));
    }
    rows.log_words = WordRows::new(words);
    let head = BlockHead {
        number: block.number,
        hash: block.hash,
        parent_hash: block.parent_hash,
        proof,
        timestamp: block.timestamp,
        tx_count: summary.tx_count,
        receipt_count,
        has_traces: summary.has_traces,
    };
    PackedBlock { head, rows }
}

impl PackedBlock {
    /// Packs the body, which needs no other block: many workers do it at once.
    pub fn pack(&mut self, chain: ChainId, dictionaries: &Dictionaries) {
        if self.rows.body.is_none() {
            let groups = std::mem::take(&mut self.rows.groups);
            let body = PackedBody::pack((chain, self.head.number), &groups, dictionaries);
            self.rows.body = Some(body).filter(|body| !body.is_empty());
        }
    }
}

/// The groups of a block's body by kind, before they are packed.
pub fn body_groups(chain: ChainId, verified: VerifiedBlock) -> BodyGroups {
    prepare(chain, verified).rows.groups
}

/// The rows of a block's body before they are packed. For measuring.
pub struct BodyRows {
    /// Transactions, logs, traces.
    pub by_kind: [Vec<Vec<u8>>; 3],
    /// Transactions with their logs, as they lie in frames.
    pub txs_and_logs: Vec<Vec<u8>>,
}

pub fn body_rows(chain: ChainId, verified: VerifiedBlock) -> BodyRows {
    let groups = prepare(chain, verified).rows.groups;
    let together = by_group(FrameKind::TxsAndLogs, &groups);
    let txs_and_logs = together.map(|(_, rows)| rows.concat()).collect();
    let by_kind = groups.map(|rows| rows.into_iter().map(|(_, row)| row).collect());
    BodyRows { by_kind, txs_and_logs }
}

impl BlockRows {
    fn add_group(
        &mut self,
        group: u32,
        block: &mut Block,
        summary: &BlockSummary,
        (packer, words): (&mut TxPacker, &mut FoundWords),
    ) {
        let mut txs = Vec::with_capacity(4096);
        pack_block_ref(&summary.block_ref(), &mut txs);
        let (mut logs, mut traces) = (OptionalGroup::default(), OptionalGroup::default());
        let mut part = Vec::with_capacity(1024);
        let is_proven = summary.proof.has(Proof::TRANSACTIONS);
        let hash = if is_proven { TxHash::LeftOut } else { TxHash::Kept };
        let first = group * GROUP;
        for (index, tx) in (first..).zip(block.txs.iter().skip(first as usize)).take(GROUP as usize)
        {
            let mut receipt = block.receipts.get_mut(index as usize).and_then(Option::as_mut);
            let frames = block.traces.as_ref().and_then(|all| all.get(index as usize));
            let frames = below_root(frames.map_or(&[], Vec::as_slice));
            self.tx_hashes.extend(tx.hash.map(|hash| (index, keys::start_of_hash(hash))));
            self.add_parties(index, &parties(tx, receipt.as_deref(), frames));
            let of_logs = receipt.as_deref_mut().is_some_and(|r| leave_bloom_out(r, summary.proof));
            let own_logs = receipt.as_deref_mut().and_then(take_logs);
            let of_logs_words = own_logs.iter().flatten().flat_map(log_words::of_log);
            of_logs_words.for_each(|word| words.add(word, group));
            part.clear();
            let receipt = receipt.as_deref().map(|r| (r, of_logs));
            packer.pack((index, hash), tx, receipt, &mut part);
            groups::put(&mut txs, &part);
            logs.add(|out| {
                if let Some(logs) = &own_logs {
                    pack_logs(tx, logs, out);
                }
            });
            let root = block.trace_roots.get(index as usize);
            traces.add(|out| {
                if root.is_some() || !frames.is_empty() {
                    pack_frames(root, frames, out);
                }
            });
        }
        let [of_txs, of_logs, of_traces] = &mut self.groups;
        of_txs.push((group, txs));
        of_logs.extend(logs.row().map(|row| (group, row)));
        of_traces.extend(traces.row().map(|row| (group, row)));
    }

    fn add_parties(&mut self, index: u32, parties: &Parties) {
        let direct = parties.direct.iter().map(|a| (*a, true));
        let internal = parties.internal.iter().map(|a| (*a, false));
        for (address, direct) in direct.chain(internal) {
            self.wallets.push(Party { address, index, direct });
        }
    }
}

/// A group that is written only if any of its parts holds something.
#[derive(Default)]
struct OptionalGroup {
    row: Vec<u8>,
    part: Vec<u8>,
    is_needed: bool,
}

impl OptionalGroup {
    fn add(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.part.clear();
        write(&mut self.part);
        self.is_needed |= !self.part.is_empty();
        groups::put(&mut self.row, &self.part);
    }

    fn row(self) -> Option<Vec<u8>> {
        self.is_needed.then_some(self.row)
    }
}
