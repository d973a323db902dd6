//! Whole blocks and single transactions.

use std::collections::VecDeque;

use bytes::Bytes;
use model::chain::ChainId;
use model::proof::Proof;
use model::raw::{Block, Frame, Log, Receipt, TraceForm, Tx};

use super::{BROKEN_HEADER, View};
use crate::Error;
use crate::block::{BlockRef, StoredTx};
use crate::embedded::blocking::may_block;
use crate::embedded::codec::groups;
use crate::embedded::codec::rows::{
    TxPacker, TxRow, unpack_block_ref, unpack_frames, unpack_header, unpack_logs,
};
use crate::embedded::keys;
use crate::embedded::segments::{BodyReader, Kind};
use crate::embedded::whole_tx::whole_root;
use crate::query::Place;

const BROKEN_TXS: Error = Error::Broken { what: "group of transactions" };

/// How much of a block to read.
#[derive(Clone, Copy, PartialEq)]
pub enum BlockParts {
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
        self.transactions(chain).soon((number, index), |reader| reader.receipt(number, index))
    }

    fn read_block(
        &self,
        chain: ChainId,
        number: u64,
        parts: BlockParts,
    ) -> Result<Option<(Block, Proof)>, Error> {
        self.block_with_body((chain, number), self.body(chain, number)?, parts)
    }

    /// One whose body is at hand, or is known to be none.
    pub fn block_with_body(
        &self,
        (chain, number): (ChainId, u64),
        mut body: Option<BodyReader<'_>>,
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
        let mut packer = TxPacker::new(&summary.block_ref(), chain);
        if let Some(body) = &mut body {
            for group in 0..groups::count(summary.tx_count) {
                let row = body.group(Kind::Txs, group)?.ok_or(BROKEN_TXS)?;
                let mut rest = row.as_ref();
                unpack_block_ref(number, &mut rest).ok_or(BROKEN_TXS)?;
                while !rest.is_empty() {
                    let index = block.txs.len() as u32;
                    let part = groups::take(&mut rest).ok_or(BROKEN_TXS)?;
                    let row = packer.unpack(index, part).ok_or(BROKEN_TXS)?;
                    if parts != BlockParts::Transactions {
                        block.receipts.push(with_logs(body, index, &row)?);
                    }
                    block.txs.push(row.tx);
                }
            }
        }
        if block.txs.len() != summary.tx_count as usize {
            return Err(BROKEN_TXS);
        }
        if parts == BlockParts::Everything && summary.has_traces {
            let mut frames = |index| match &mut body {
                Some(body) => frames_of(body, index),
                None => Ok(Vec::new()),
            };
            let frames = (0..summary.tx_count).map(&mut frames);
            block.traces = Some(frames.collect::<Result<_, _>>()?);
            take_roots(&mut block, summary.proof);
        }
        Ok(Some((block, summary.proof)))
    }

    pub fn transaction(
        &self,
        chain: ChainId,
        number: u64,
        index: u32,
    ) -> Result<Option<StoredTx>, Error> {
        self.transactions(chain).soon((number, index), |reader| reader.read(number, index))
    }

    /// For reading several: neighbours are found where the last one was.
    pub fn transactions(&self, chain: ChainId) -> TxReader<'_> {
        TxReader { view: self, chain, body: None, ahead: VecDeque::new(), group: None }
    }
}

/// Roots stand apart from the frames below them.
fn take_roots(block: &mut Block, proof: Proof) {
    block.trace_form = TraceForm::of(proof);
    let parts = block.txs.iter().zip(&block.receipts).zip(block.traces.iter_mut().flatten());
    let roots = parts.filter_map(|((tx, receipt), frames)| {
        let slim = frames.first().is_some_and(|frame| frame.path.is_empty());
        slim.then(|| whole_root(frames.remove(0), tx, receipt.as_ref()))
    });
    block.trace_roots = roots.collect();
}

fn frames_of(body: &mut BodyReader, index: u32) -> Result<Vec<Frame>, Error> {
    let row = body.group(Kind::Traces, groups::of(index))?;
    match row.as_ref().and_then(|row| groups::part_of(row, index)).filter(|p| !p.is_empty()) {
        Some(part) => unpack_frames(part).ok_or(Error::Broken { what: "group of traces" }),
        None => Ok(Vec::new()),
    }
}

fn logs_of(body: &mut BodyReader, index: u32, tx: &Tx) -> Result<Vec<Log>, Error> {
    let row = body.group(Kind::Logs, groups::of(index))?;
    match row.as_ref().and_then(|row| groups::part_of(row, index)).filter(|p| !p.is_empty()) {
        Some(part) => unpack_logs(tx, part).ok_or(Error::Broken { what: "group of logs" }),
        None => Ok(Vec::new()),
    }
}

fn with_logs(body: &mut BodyReader, index: u32, row: &TxRow) -> Result<Option<Receipt>, Error> {
    let Some(mut receipt) = row.receipt.clone() else { return Ok(None) };
    let logs = logs_of(body, index, &row.tx)?;
    if row.marks.bloom_of_logs {
        receipt.logs_bloom = Some(model::bloom::of_logs(&logs));
    }
    if receipt.logs.is_none() && !logs.is_empty() {
        receipt.logs = Some(logs);
    }
    Ok(Some(receipt))
}

/// Reads transactions one by one and remembers where the last one was.
pub struct TxReader<'a> {
    view: &'a View,
    chain: ChainId,
    /// Of the block that was read last, by its number; none where that has none.
    body: Option<BodyOf<'a>>,
    /// Of blocks that will be read next, in this order.
    ahead: VecDeque<BodyOf<'a>>,
    group: Option<Group>,
}

type BodyOf<'a> = (u64, Option<BodyReader<'a>>);

struct Group {
    /// Block number and group.
    place: (u64, u32),
    block: BlockRef,
    packer: TxPacker,
    /// Behind what it says of its block.
    parts: Bytes,
}

type Part<'a> = (BlockRef, &'a mut TxPacker, &'a [u8]);

impl<'a> TxReader<'a> {
    /// Has a transaction with its logs, and with its frames if they are wanted, in memory if that takes no waiting for the
    /// disk, and says whether it is there.
    pub fn fetch_now(&mut self, (number, index): Place, with_frames: bool) -> bool {
        let group = groups::of(index);
        match self.body(number) {
            Ok(Some(body)) => {
                body.fetch_now(Kind::Txs, group)
                    && body.fetch_now(Kind::Logs, group)
                    && (!with_frames || body.fetch_now(Kind::Traces, group))
            }
            // Whoever reads it learns why there is none.
            Ok(None) | Err(_) => true,
        }
    }

    /// Whether a transaction is in memory as it is read, so that reading it takes next to nothing.
    pub fn is_unpacked(&mut self, (number, index): Place) -> bool {
        let body = self.body(number).ok().flatten();
        body.is_some_and(|body| body.is_unpacked(Kind::Txs, groups::of(index)))
    }

    /// Has all of these fetched at once; they are read next, in this order.
    pub fn will_need(&mut self, places: &[Place], with_frames: bool) -> Result<(), Error> {
        for (number, index) in places {
            if self.ahead.back().is_none_or(|(last, _)| last != number) {
                self.ahead.push_back((*number, self.view.body(self.chain, *number)?));
            }
            if let Some((_, Some(body))) = self.ahead.back() {
                body.will_need(Kind::Txs, groups::of(*index));
                if with_frames {
                    body.will_need(Kind::Traces, groups::of(*index));
                }
            }
        }
        Ok(())
    }

    /// Reads one transaction with its logs, and steps aside where that waits for the disk.
    pub fn soon<T>(&mut self, place: Place, read: impl FnOnce(&mut Self) -> T) -> T {
        if self.fetch_now(place, false) { read(self) } else { may_block(|| read(self)) }
    }

    pub fn read(&mut self, number: u64, index: u32) -> Result<Option<StoredTx>, Error> {
        let mut found = Vec::with_capacity(1);
        self.read_into(number, index, &mut found)?;
        Ok(found.pop())
    }

    /// Behind others, where it stays: it is large. Says whether there is one.
    pub fn read_into(
        &mut self,
        number: u64,
        index: u32,
        found: &mut Vec<StoredTx>,
    ) -> Result<bool, Error> {
        let Some((block, packer, part)) = self.part(number, index)? else { return Ok(false) };
        let (tx, receipt) = (Tx::default(), None);
        found.push(StoredTx { block, index, tx, receipt, frames: None });
        if let Some(StoredTx { tx, receipt, .. }) = found.last_mut() {
            packer.unpack_to((index, part), tx, receipt).ok_or(BROKEN_TXS)?;
        }
        Ok(true)
    }

    /// With its logs.
    pub fn receipt(&mut self, number: u64, index: u32) -> Result<Option<Receipt>, Error> {
        let Some(row) = self.row(number, index)? else { return Ok(None) };
        match self.body(number)? {
            Some(body) => with_logs(body, index, &row),
            None => Ok(None),
        }
    }

    /// Frames below the root of a transaction, in the order they were entered.
    pub fn frames(&mut self, number: u64, index: u32) -> Result<Vec<Frame>, Error> {
        match self.body(number)? {
            Some(body) => {
                let mut frames = frames_of(body, index)?;
                frames.retain(|frame| !frame.path.is_empty());
                Ok(frames)
            }
            None => Ok(Vec::new()),
        }
    }

    /// The logs of a group, packed.
    pub fn logs_row(&mut self, number: u64, group: u32) -> Result<Option<Bytes>, Error> {
        match self.body(number)? {
            Some(body) => body.group(Kind::Logs, group),
            None => Ok(None),
        }
    }

    fn body(&mut self, number: u64) -> Result<Option<&mut BodyReader<'a>>, Error> {
        if self.body.as_ref().is_none_or(|(known, _)| *known != number) {
            let ahead = self.ahead.iter().position(|(next, _)| *next == number);
            let found = ahead.and_then(|at| self.ahead.drain(..=at).next_back());
            self.body = match found {
                Some(body) => Some(body),
                None => Some((number, self.view.body(self.chain, number)?)),
            };
        }
        Ok(self.body.as_mut().and_then(|(_, body)| body.as_mut()))
    }

    fn row(&mut self, number: u64, index: u32) -> Result<Option<TxRow>, Error> {
        let Some((_, packer, part)) = self.part(number, index)? else { return Ok(None) };
        packer.unpack(index, part).map(Some).ok_or(BROKEN_TXS)
    }

    /// A transaction as it lies in its group, with its block and what unpacks it.
    fn part(&mut self, number: u64, index: u32) -> Result<Option<Part<'_>>, Error> {
        let place = (number, groups::of(index));
        if self.group.as_ref().is_none_or(|group| group.place != place) {
            let Some(body) = self.body(number)? else { return Ok(None) };
            let Some(row) = body.group(Kind::Txs, place.1)? else { return Ok(None) };
            let mut rest = row.as_ref();
            let block = unpack_block_ref(number, &mut rest).ok_or(BROKEN_TXS)?;
            let (packer, parts) = (TxPacker::new(&block, self.chain), row.slice_ref(rest));
            self.group = Some(Group { place, block, packer, parts });
        }
        let Some(Group { block, packer, parts, .. }) = &mut self.group else { return Ok(None) };
        Ok(groups::part_of(parts, index).map(|part| (*block, packer, part)))
    }
}
