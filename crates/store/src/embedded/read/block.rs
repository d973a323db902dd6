//! Whole blocks and single transactions.

use model::chain::ChainId;
use model::proof::Proof;
use model::raw::{Block, Frame, Log, Receipt};

use super::{BROKEN_HEADER, View};
use crate::Error;
use crate::block::{BlockRef, StoredTx};
use crate::embedded::blocking::may_block;
use crate::embedded::codec::groups;
use crate::embedded::codec::rows::{
    TxPacker, TxRow, unpack_block_ref, unpack_frames, unpack_header, unpack_logs,
};
use crate::embedded::engine::Slice;
use crate::embedded::keys;

const BROKEN_TXS: Error = Error::Broken { what: "group of transactions" };

/// How much of a block to read.
#[derive(Clone, Copy, PartialEq)]
enum BlockParts {
    Transactions,
    Receipts,
    Everything,
}

impl View {
    pub fn block(&self, chain: ChainId, number: u64) -> Result<Option<Block>, Error> {
        let read = may_block(|| self.read_block(chain, number, BlockParts::Transactions))?;
        Ok(read.map(|(block, _)| block))
    }

    pub fn whole_block(
        &self,
        chain: ChainId,
        number: u64,
    ) -> Result<Option<(Block, Proof)>, Error> {
        may_block(|| self.read_block(chain, number, BlockParts::Everything))
    }

    pub fn block_with_receipts(&self, chain: ChainId, number: u64) -> Result<Option<Block>, Error> {
        let read = may_block(|| self.read_block(chain, number, BlockParts::Receipts))?;
        Ok(read.map(|(block, _)| block))
    }

    pub fn receipt(
        &self,
        chain: ChainId,
        number: u64,
        index: u32,
    ) -> Result<Option<Receipt>, Error> {
        may_block(|| {
            let Some(row) = self.transactions(chain).row(number, index)? else { return Ok(None) };
            self.with_logs(chain, number, index, &row)
        })
    }

    fn read_block(
        &self,
        chain: ChainId,
        number: u64,
        parts: BlockParts,
    ) -> Result<Option<(Block, Proof)>, Error> {
        let Some(row) = self.snapshot.get(&self.tables.headers, keys::block(chain, number))? else {
            return Ok(None);
        };
        let (summary, header) = unpack_header(number, &row).ok_or(BROKEN_HEADER)?;
        let mut block = Block {
            number,
            hash: summary.hash,
            parent_hash: header.parent_hash.ok_or(BROKEN_HEADER)?,
            timestamp: summary.timestamp,
            header,
            ..Block::default()
        };
        let range = keys::in_block(chain, number, 0)..=keys::in_block(chain, number, u32::MAX);
        let mut packer = TxPacker::new(&summary.block_ref(), chain);
        for item in self.snapshot.range(&self.tables.txs, range) {
            let group = item.value()?;
            let mut rest = group.as_ref();
            unpack_block_ref(number, &mut rest).ok_or(BROKEN_TXS)?;
            while !rest.is_empty() {
                let index = block.txs.len() as u32;
                let part = groups::take(&mut rest).ok_or(BROKEN_TXS)?;
                let row = packer.unpack(index, part).ok_or(BROKEN_TXS)?;
                if parts != BlockParts::Transactions {
                    block.receipts.push(self.with_logs(chain, number, index, &row)?);
                }
                block.txs.push(row.tx);
            }
        }
        if block.txs.len() != summary.tx_count as usize {
            return Err(BROKEN_TXS);
        }
        if parts == BlockParts::Everything && summary.has_traces {
            let frames = (0..summary.tx_count).map(|i| self.frames(chain, number, i));
            block.traces = Some(frames.collect::<Result<_, _>>()?);
        }
        Ok(Some((block, summary.proof)))
    }

    fn with_logs(
        &self,
        chain: ChainId,
        number: u64,
        index: u32,
        row: &TxRow,
    ) -> Result<Option<Receipt>, Error> {
        let Some(mut receipt) = row.receipt.clone() else { return Ok(None) };
        let logs = self.logs_of_tx(chain, number, index, &row.tx)?;
        if row.bloom_of_logs {
            receipt.logs_bloom = Some(model::bloom::of_logs(&logs));
        }
        if receipt.logs.is_none() && !logs.is_empty() {
            receipt.logs = Some(logs);
        }
        Ok(Some(receipt))
    }

    pub fn transaction(
        &self,
        chain: ChainId,
        number: u64,
        index: u32,
    ) -> Result<Option<StoredTx>, Error> {
        may_block(|| self.transactions(chain).read(number, index))
    }

    /// For reading several: neighbours are found where the last one was.
    pub fn transactions(&self, chain: ChainId) -> TxReader<'_> {
        TxReader { view: self, chain, last: None }
    }

    /// Frames below the root, in the order they were entered.
    pub fn frames(&self, chain: ChainId, number: u64, index: u32) -> Result<Vec<Frame>, Error> {
        let key = keys::in_block(chain, number, groups::of(index));
        let row = self.snapshot.get(&self.tables.traces, key)?;
        match row.as_ref().and_then(|row| groups::part_of(row, index)).filter(|p| !p.is_empty()) {
            Some(part) => unpack_frames(part).ok_or(Error::Broken { what: "group of traces" }),
            None => Ok(Vec::new()),
        }
    }

    fn logs_of_tx(
        &self,
        chain: ChainId,
        number: u64,
        index: u32,
        tx: &model::raw::Tx,
    ) -> Result<Vec<Log>, Error> {
        let key = keys::in_block(chain, number, groups::of(index));
        let row = self.snapshot.get(&self.tables.logs, key)?;
        match row.as_ref().and_then(|row| groups::part_of(row, index)).filter(|p| !p.is_empty()) {
            Some(part) => unpack_logs(tx, part).ok_or(Error::Broken { what: "group of logs" }),
            None => Ok(Vec::new()),
        }
    }
}

/// Reads transactions one by one and remembers the row of the last.
pub struct TxReader<'a> {
    view: &'a View,
    chain: ChainId,
    last: Option<Group>,
}

struct Group {
    /// Block number and group.
    place: (u64, u32),
    block: BlockRef,
    packer: TxPacker,
    row: Slice,
}

impl TxReader<'_> {
    pub fn read(&mut self, number: u64, index: u32) -> Result<Option<StoredTx>, Error> {
        let Some(TxRow { tx, receipt, .. }) = self.row(number, index)? else { return Ok(None) };
        let Some(Group { block, .. }) = &self.last else { return Ok(None) };
        Ok(Some(StoredTx { block: *block, index, tx, receipt, frames: None }))
    }

    fn row(&mut self, number: u64, index: u32) -> Result<Option<TxRow>, Error> {
        let place = (number, groups::of(index));
        if self.last.as_ref().is_none_or(|group| group.place != place) {
            let key = keys::in_block(self.chain, number, place.1);
            let Some(row) = self.view.snapshot.get(&self.view.tables.txs, key)? else {
                return Ok(None);
            };
            let block = unpack_block_ref(number, &mut &*row).ok_or(BROKEN_TXS)?;
            let packer = TxPacker::new(&block, self.chain);
            self.last = Some(Group { place, block, packer, row });
        }
        let Some(group) = &mut self.last else { return Ok(None) };
        let mut rest = group.row.as_ref();
        unpack_block_ref(number, &mut rest).ok_or(BROKEN_TXS)?;
        let Some(part) = groups::part_of(rest, index) else { return Ok(None) };
        group.packer.unpack(index, part).map(Some).ok_or(BROKEN_TXS)
    }
}
