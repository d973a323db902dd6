//! Whole blocks, put together from their rows.

use std::collections::HashMap;

use alloy_primitives::{Address, B256};
use model::chain::ChainId;
use model::proof::Proof;
use model::raw::{Block, Frame, Log, Receipt, TraceForm, Tx};
use tokio_postgres::Row;

use crate::Error;
use crate::block::BlockSummary;
use crate::embedded::codec::Packed;
use crate::embedded::codec::rows::{self, TxPacker, unpack_header};
use crate::embedded::whole_tx::whole_root;
use crate::postgres::connection::Connection;
use crate::postgres::numbers::{option_at, sql, u32_at, u64_at};
use crate::postgres::prepare::{LogForm, LogRow, StandardLog};

pub const BROKEN_HEADER: Error = Error::Broken { what: "header" };
pub const BROKEN_TX: Error = Error::Broken { what: "transaction" };
pub const BROKEN_LOG: Error = Error::Broken { what: "log" };
pub const BROKEN_FRAME: Error = Error::Broken { what: "internal transaction" };

const HEADERS: &str = "select number, packed, trace_roots from blocks where chain = $1 and number = any($2) order by number";
const TXS: &str = "select number, tx_index, packed from transactions \
     where chain = $1 and number = any($2) order by number, tx_index";
const LOGS: &str = "select number, tx_index, place, log_index, address, topic0, topic1, topic2, topic3, data, form, packed \
     from logs where chain = $1 and number = any($2) order by number, tx_index, place";
const FRAMES: &str = "select number, tx_index, packed from internal_transactions \
     where chain = $1 and number = any($2) order by number, tx_index, place";

/// How much of a block to read.
#[derive(Clone, Copy, PartialEq)]
pub enum BlockParts {
    Transactions,
    Receipts,
    Everything,
}

/// The rows of some blocks, by their numbers.
type ByBlock = HashMap<u64, Vec<Row>>;

/// Those that are stored, lowest first.
pub async fn read_blocks(
    connection: &Connection,
    chain: ChainId,
    numbers: &[u64],
    parts: BlockParts,
) -> Result<Vec<(Block, Proof)>, Error> {
    let (id, wanted) = (sql(chain.0), numbers.iter().map(|n| sql(*n)).collect::<Vec<i64>>());
    let params: [super::Param; 2] = [&id, &wanted];
    let nothing = async || Ok(Vec::new());
    let (headers, txs, logs, frames) = tokio::try_join!(
        connection.query(HEADERS, &params),
        connection.query(TXS, &params),
        async {
            if parts == BlockParts::Transactions {
                nothing().await
            } else {
                connection.query(LOGS, &params).await
            }
        },
        async {
            if parts == BlockParts::Everything {
                connection.query(FRAMES, &params).await
            } else {
                nothing().await
            }
        },
    )?;
    let (mut txs, mut logs, mut frames) = (by_block(txs), by_block(logs), by_block(frames));
    let mut blocks = Vec::with_capacity(headers.len());
    for row in headers {
        let number = u64_at(&row, 0);
        let take = |rows: &mut ByBlock| rows.remove(&number).unwrap_or_default();
        let rows =
            BlockRowsOf { txs: take(&mut txs), logs: take(&mut logs), frames: take(&mut frames) };
        blocks.push(rows.block(chain, &row, parts)?);
    }
    Ok(blocks)
}

fn by_block(rows: Vec<Row>) -> ByBlock {
    let mut all = ByBlock::new();
    for row in rows {
        all.entry(u64_at(&row, 0)).or_default().push(row);
    }
    all
}

struct BlockRowsOf {
    txs: Vec<Row>,
    logs: Vec<Row>,
    frames: Vec<Row>,
}

impl BlockRowsOf {
    fn block(self, chain: ChainId, row: &Row, parts: BlockParts) -> Result<(Block, Proof), Error> {
        let number = u64_at(row, 0);
        let (summary, header) = unpack_header(number, row.get(1)).ok_or(BROKEN_HEADER)?;
        let mut block = Block {
            number,
            hash: summary.hash,
            parent_hash: header.parent_hash.ok_or(BROKEN_HEADER)?,
            timestamp: summary.timestamp,
            header,
            ..Block::default()
        };
        let mut packer = TxPacker::new(&summary.block_ref(), chain);
        let mut logs = self.logs.into_iter().peekable();
        for (index, row) in (0..).zip(&self.txs) {
            let found = packer.unpack(index, row.get(2)).filter(|_| u32_at(row, 1) == index);
            let found = found.ok_or(BROKEN_TX)?;
            if parts != BlockParts::Transactions {
                let mut own = Vec::new();
                let standard = StandardLog::of(&summary, index, found.tx.hash);
                while let Some(row) = logs.next_if(|row| u32_at(row, 1) == index) {
                    own.push(standard.read(&log_row(&row, 1)).ok_or(BROKEN_LOG)?);
                }
                block.receipts.push(with_logs(&found, own));
            }
            block.txs.push(found.tx);
        }
        if block.txs.len() != summary.tx_count as usize {
            return Err(BROKEN_TX);
        }
        if parts == BlockParts::Everything && summary.has_traces {
            block.traces = Some(frames_by_tx(&self.frames, summary.tx_count)?);
            block.trace_form = TraceForm::of(summary.proof);
            block.trace_roots = roots(&block, row.get(2))?;
        }
        Ok((block, summary.proof))
    }
}

fn roots(block: &Block, packed: Option<&[u8]>) -> Result<Vec<Frame>, Error> {
    let Some(packed) = packed else { return Ok(Vec::new()) };
    let kept = rows::unpack_frames(packed).ok_or(BROKEN_FRAME)?.into_iter();
    let parts = block.txs.iter().zip(&block.receipts).zip(kept);
    Ok(parts.map(|((tx, receipt), slim)| whole_root(slim, tx, receipt.as_ref())).collect())
}

fn frames_by_tx(rows: &[Row], txs: u32) -> Result<Vec<Vec<Frame>>, Error> {
    let mut frames = vec![Vec::new(); txs as usize];
    for row in rows {
        let of_tx = frames.get_mut(u32_at(row, 1) as usize).ok_or(BROKEN_FRAME)?;
        of_tx.push(Frame::unpack(&mut row.get::<_, &[u8]>(2)).ok_or(BROKEN_FRAME)?);
    }
    Ok(frames)
}

/// The receipt of a row with its logs, which are not in it.
pub fn with_logs(row: &rows::TxRow, logs: Vec<Log>) -> Option<Receipt> {
    let mut receipt = row.receipt.clone()?;
    if row.marks.bloom_of_logs {
        receipt.logs_bloom = Some(model::bloom::of_logs(&logs));
    }
    if receipt.logs.is_none() && !logs.is_empty() {
        receipt.logs = Some(logs);
    }
    Some(receipt)
}

/// The columns of a log from `tx_index` on, in the order of the table.
pub fn log_row(row: &Row, at: usize) -> LogRow {
    let topic = |place: usize| row.get::<_, Option<&[u8]>>(at + 4 + place).map(hash32);
    LogRow {
        tx_index: u32_at(row, at),
        place: u32_at(row, at + 1),
        log_index: option_at(row, at + 2),
        address: row.get::<_, Option<&[u8]>>(at + 3).map(address),
        topics: [topic(0), topic(1), topic(2), topic(3)],
        data: row.get(at + 8),
        form: match row.get::<_, i16>(at + 9) {
            0 => LogForm::Plain,
            1 => LogForm::Timed,
            _ => LogForm::Odd,
        },
        packed: row.get(at + 10),
    }
}

fn hash32(bytes: &[u8]) -> B256 {
    B256::try_from(bytes).unwrap_or_default()
}

pub fn address(bytes: &[u8]) -> Address {
    Address::try_from(bytes).unwrap_or_default()
}

/// The one transaction whose logs are read by themselves.
pub fn logs_of_tx(summary: &BlockSummary, tx: &Tx, rows: &[Row]) -> Result<Vec<Log>, Error> {
    let read = |row: &Row| {
        let columns = log_row(row, 1);
        StandardLog::of(summary, columns.tx_index, tx.hash).read(&columns).ok_or(BROKEN_LOG)
    };
    rows.iter().map(read).collect()
}
