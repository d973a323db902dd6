//! Whole blocks and single transactions.

use fjall::{Readable, Slice};
use model::chain::ChainId;
use model::proof::Proof;
use model::raw::{Block, Frame, Log};

use super::View;
use crate::Error;
use crate::embedded::codec::groups;
use crate::embedded::codec::rows::{
    Anchor, TxPacker, TxRow, unpack_frames, unpack_header, unpack_logs,
};
use crate::embedded::keys;

/// How much of a block to read.
#[derive(Clone, Copy, PartialEq)]
enum Parts {
    Transactions,
    Everything,
}

impl View {
    /// Header and transactions, as the node RPC gives them.
    pub fn block(&self, chain: ChainId, number: u64) -> Result<Option<Block>, Error> {
        Ok(self.read_block(chain, number, Parts::Transactions)?.map(|(block, _)| block))
    }

    /// Receipts with logs, frames (without roots) and all: what taking it back or reading it anew
    /// with another decoder needs.
    pub fn whole_block(
        &self,
        chain: ChainId,
        number: u64,
    ) -> Result<Option<(Block, Proof)>, Error> {
        self.read_block(chain, number, Parts::Everything)
    }

    fn read_block(
        &self,
        chain: ChainId,
        number: u64,
        parts: Parts,
    ) -> Result<Option<(Block, Proof)>, Error> {
        let Some(row) = self.snapshot.get(&self.tables.headers, keys::block(chain, number))? else {
            return Ok(None);
        };
        let broken = |table| Error::BrokenRow { table };
        let (stamp, header) = unpack_header(number, &row).ok_or(broken("headers"))?;
        let mut block = Block {
            number,
            hash: stamp.hash,
            parent_hash: header.parent_hash.ok_or(broken("headers"))?,
            timestamp: stamp.timestamp,
            header,
            ..Block::default()
        };
        let range = keys::in_block(chain, number, 0)..=keys::in_block(chain, number, u32::MAX);
        let mut packer = TxPacker::new(&stamp.anchor(), chain);
        for item in self.snapshot.range(&self.tables.txs, range) {
            let group = item.value()?;
            let mut rest = group.as_ref();
            Anchor::unpack(number, &mut rest).ok_or(broken("txs"))?;
            while !rest.is_empty() {
                let index = block.txs.len() as u32;
                let part = groups::take(&mut rest).ok_or(broken("txs"))?;
                let row = packer.unpack(index, part).ok_or(broken("txs"))?;
                if parts == Parts::Everything {
                    block.receipts.push(self.with_logs(chain, number, index, &row)?);
                }
                block.txs.push(row.tx);
            }
        }
        if block.txs.len() != stamp.tx_count as usize {
            return Err(broken("txs"));
        }
        if parts == Parts::Everything && stamp.has_traces {
            let frames = (0..stamp.tx_count).map(|i| self.frames(chain, number, i));
            block.traces = Some(frames.collect::<Result<_, _>>()?);
        }
        Ok(Some((block, stamp.proof)))
    }

    fn with_logs(
        &self,
        chain: ChainId,
        number: u64,
        index: u32,
        row: &TxRow,
    ) -> Result<Option<model::raw::Receipt>, Error> {
        let Some(mut receipt) = row.receipt.clone() else { return Ok(None) };
        let logs = self.logs(chain, number, index, &row.tx)?;
        if row.bloom_of_logs {
            receipt.logs_bloom = Some(model::bloom::of_logs(&logs));
        }
        if receipt.logs.is_none() && !logs.is_empty() {
            receipt.logs = Some(logs);
        }
        Ok(Some(receipt))
    }

    /// One transaction with its receipt (without logs), and what it must know of its block.
    pub fn transaction(
        &self,
        chain: ChainId,
        number: u64,
        index: u32,
    ) -> Result<Option<(Anchor, TxRow)>, Error> {
        self.transactions(chain).read(number, index)
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
            Some(part) => unpack_frames(part).ok_or(Error::BrokenRow { table: "traces" }),
            None => Ok(Vec::new()),
        }
    }

    fn logs(
        &self,
        chain: ChainId,
        number: u64,
        index: u32,
        tx: &model::raw::Tx,
    ) -> Result<Vec<Log>, Error> {
        let key = keys::in_block(chain, number, groups::of(index));
        let row = self.snapshot.get(&self.tables.logs, key)?;
        match row.as_ref().and_then(|row| groups::part_of(row, index)).filter(|p| !p.is_empty()) {
            Some(part) => unpack_logs(tx, part).ok_or(Error::BrokenRow { table: "logs" }),
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
    anchor: Anchor,
    packer: TxPacker,
    row: Slice,
}

impl TxReader<'_> {
    pub fn read(&mut self, number: u64, index: u32) -> Result<Option<(Anchor, TxRow)>, Error> {
        let place = (number, groups::of(index));
        let broken = || Error::BrokenRow { table: "txs" };
        if self.last.as_ref().is_none_or(|group| group.place != place) {
            let key = keys::in_block(self.chain, number, place.1);
            let Some(row) = self.view.snapshot.get(&self.view.tables.txs, key)? else {
                return Ok(None);
            };
            let anchor = Anchor::unpack(number, &mut &*row).ok_or_else(broken)?;
            let packer = TxPacker::new(&anchor, self.chain);
            self.last = Some(Group { place, anchor, packer, row });
        }
        let Some(group) = &mut self.last else { return Ok(None) };
        let mut rest = group.row.as_ref();
        Anchor::unpack(number, &mut rest).ok_or_else(broken)?;
        let Some(part) = groups::part_of(rest, index) else { return Ok(None) };
        let row = group.packer.unpack(index, part).ok_or_else(broken)?;
        Ok(Some((group.anchor, row)))
    }
}
