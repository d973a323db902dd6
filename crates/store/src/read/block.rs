//! Whole blocks and single transactions.

use fjall::Readable;
use model::chain::ChainId;
use model::proof::Proof;
use model::raw::{Block, Frame, Log};

use super::View;
use crate::rows::{Stamp, TxRow, unpack_frames, unpack_header, unpack_logs, unpack_tx};
use crate::{Error, keys};

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
        for (i, item) in self.snapshot.range(&self.tables.txs, range).enumerate() {
            let row = item.value()?;
            let row = unpack_tx(&stamp, chain, i as u32, &row).ok_or(broken("txs"))?;
            if parts == Parts::Everything {
                block.receipts.push(self.with_logs(chain, &stamp, i as u32, &row)?);
            }
            block.txs.push(row.tx);
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
        stamp: &Stamp,
        index: u32,
        row: &TxRow,
    ) -> Result<Option<model::raw::Receipt>, Error> {
        let Some(mut receipt) = row.receipt.clone() else { return Ok(None) };
        let logs = self.logs(chain, stamp.number, index, &row.tx)?;
        if row.bloom_of_logs {
            receipt.logs_bloom = Some(model::bloom::of_logs(&logs));
        }
        if receipt.logs.is_none() && !logs.is_empty() {
            receipt.logs = Some(logs);
        }
        Ok(Some(receipt))
    }

    /// One transaction with its receipt (without logs).
    pub fn transaction(
        &self,
        chain: ChainId,
        stamp: &Stamp,
        index: u32,
    ) -> Result<Option<TxRow>, Error> {
        let key = keys::in_block(chain, stamp.number, index);
        match self.snapshot.get(&self.tables.txs, key)? {
            Some(row) => unpack_tx(stamp, chain, index, &row)
                .map(Some)
                .ok_or(Error::BrokenRow { table: "txs" }),
            None => Ok(None),
        }
    }

    /// Frames below the root, in the order they were entered.
    pub fn frames(&self, chain: ChainId, number: u64, index: u32) -> Result<Vec<Frame>, Error> {
        match self.snapshot.get(&self.tables.traces, keys::in_block(chain, number, index))? {
            Some(row) => unpack_frames(&row).ok_or(Error::BrokenRow { table: "traces" }),
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
        match self.snapshot.get(&self.tables.logs, keys::in_block(chain, number, index))? {
            Some(row) => unpack_logs(tx, &row).ok_or(Error::BrokenRow { table: "logs" }),
            None => Ok(Vec::new()),
        }
    }
}
