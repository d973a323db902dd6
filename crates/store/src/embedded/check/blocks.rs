//! Blocks: each can be read whole, they hang together, and their indexes lead to them and to no others.

use alloy_primitives::B256;
use model::facts::Facts;

use super::sum::Sum;
use super::{ChainCheck, ProgressFn};
use crate::Error;
use crate::block::VerifiedBlock;
use crate::check::{CheckProgress, CheckedPart};
use crate::coverage::Coverage;
use crate::embedded::keys;
use crate::embedded::write::{BlockIndex, PackedBlock, prepare};

/// How far the check of all chains is.
pub struct Seen<'a> {
    pub progress: ProgressFn<'a>,
    pub done: u64,
    pub total: u64,
}

/// Rows that follow from the blocks, by table.
#[derive(Default)]
struct Expected {
    by_hash: Sum,
    by_time: Sum,
    bodies: Sum,
    wallet_txs: Sum,
    wallet_internal: Sum,
    untraced: Sum,
    /// As in `BlockIndex::ALL`.
    indexes: [Sum; 3],
    coverage: Coverage,
}

impl ChainCheck<'_> {
    pub fn blocks(&mut self, seen: &mut Seen) {
        let mut part = self.part("blocks");
        let mut expected = Expected::default();
        if let Err(error) = self.walk_blocks(&mut part, &mut expected, seen) {
            part.fault(error.to_string());
        }
        match self.view.coverage(self.chain) {
            Ok(coverage) if coverage == expected.coverage => {}
            Ok(coverage) => part.fault(format!(
                "the coverage says {coverage}, and stored are {}",
                expected.coverage
            )),
            Err(error) => part.fault(error.to_string()),
        }
        self.parts.push(part);
        self.compare_indexes(&expected);
    }

    fn walk_blocks(
        &self,
        part: &mut CheckedPart,
        expected: &mut Expected,
        seen: &mut Seen,
    ) -> Result<(), Error> {
        let mut below: Option<(u64, B256)> = None;
        for item in self.view.snapshot.prefix(&self.view.tables.headers, keys::chain(self.chain)) {
            let key = item.key()?;
            let Some(number) = keys::last_number(&key) else { continue };
            part.count += 1;
            seen.done += 1;
            if seen.done.is_multiple_of(64) {
                let (blocks_done, blocks_total) = (seen.done, seen.total.max(seen.done));
                (seen.progress)(CheckProgress { blocks_done, blocks_total });
            }
            match self.view.whole_block(self.chain, number) {
                Ok(Some((block, proof))) => {
                    if below.is_some_and(|(n, hash)| n + 1 == number && hash != block.parent_hash) {
                        part.fault(format!("block {number} is not the child of the one below it"));
                    }
                    below = Some((number, block.hash));
                    let verified = VerifiedBlock { block, proof, facts: Facts::default() };
                    expected.add(self.chain, &prepare(self.chain, verified));
                }
                Ok(None) => part.fault(format!("block {number} is listed and not there")),
                Err(error) => part.fault(format!("block {number}: {error}")),
            }
        }
        Ok(())
    }

    fn compare_indexes(&mut self, expected: &Expected) {
        let t = self.view.tables.clone();
        let prefix = keys::chain(self.chain);
        let keys_only = |_: &[u8]| None;
        self.compare("bodies of blocks", (&t.bodies, &prefix), expected.bodies, keys_only);
        let whole = |value: &[u8]| Some(value.to_vec());
        self.compare("blocks by hash", (&t.block_by_hash, &prefix), expected.by_hash, whole);
        self.compare("blocks by time", (&t.block_by_time, &prefix), expected.by_time, whole);
        self.compare("queue of untraced blocks", (&t.untraced, &prefix), expected.untraced, whole);
        for (index, sum) in BlockIndex::ALL.into_iter().zip(expected.indexes) {
            let what = match index {
                BlockIndex::TxByHash => "transactions by hash",
                BlockIndex::LogWords => "logs by address and topic",
                BlockIndex::Receiptless => "list of blocks without receipts",
            };
            self.compare(what, (index.table(&t), &prefix), sum, whole);
        }
        let wallets = (&t.wallet_txs, prefix.as_slice());
        self.compare("transactions of wallets", wallets, expected.wallet_txs, whole);
        let wallets = (&t.wallet_internal, prefix.as_slice());
        self.compare("internal transactions of wallets", wallets, expected.wallet_internal, whole);
    }
}

impl Expected {
    fn add(&mut self, chain: model::chain::ChainId, block: &PackedBlock) {
        let head = &block.head;
        let number = head.number;
        self.coverage.insert(number);
        self.by_hash.add(&keys::by_hash(chain, head.hash), &number.to_be_bytes());
        self.by_time.add(&keys::by_time(chain, head.timestamp, number), &[]);
        if head.is_untraced() {
            self.untraced.add(&keys::newest_first(chain, number), &[]);
        }
        block.for_each_index_row(chain, |index, key, value| {
            if let Some(sum) = self.indexes.get_mut(index as usize) {
                sum.add(key, value);
            }
        });
        if block.rows.has_body() {
            self.bodies.add(&keys::block(chain, number), &[]);
        }
        for (address, index, direct) in block.rows.parties() {
            let sum = if direct { &mut self.wallet_txs } else { &mut self.wallet_internal };
            sum.add(&keys::wallet(chain, address, number, index), &[]);
        }
    }
}
