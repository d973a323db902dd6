//! A block as rows of tables. Pure: the same block gives the same rows.
//!
//! What people ask for has columns of its own. Beside them stands the object as it was packed against its block, so
//! that it comes back field for field. A log that is like all others needs no packed form: its columns say all of it.

use alloy_primitives::{Address, B256, U256};
use model::chain::ChainId;
use model::facts::Facts;
use model::proof::Proof;
use model::raw::{Block, Frame, Log, Receipt, Tx};
use model::wallets::parties;

use crate::block::{BlockHead, BlockSummary, VerifiedBlock};
use crate::embedded::codec::Packed;
use crate::embedded::codec::rows::{
    TxHash, TxPacker, pack_frames, pack_header, pack_logs, unpack_logs,
};
use crate::embedded::whole_tx::{below_root, leave_bloom_out, roots_to_keep, take_logs};

pub struct PgBlock {
    pub head: BlockHead,
    pub header: HeaderRow,
    pub txs: Vec<TxRow>,
    pub logs: Vec<LogRow>,
    pub frames: Vec<FrameRow>,
    pub wallets: Vec<Party>,
    pub facts: Facts,
}

pub struct HeaderRow {
    pub parent_hash: Option<B256>,
    pub miner: Option<Address>,
    pub gas_limit: Option<u64>,
    pub gas_used: Option<u64>,
    pub base_fee: Option<U256>,
    pub packed: Vec<u8>,
    /// What is kept of the roots of its traces.
    pub trace_roots: Option<Vec<u8>>,
}

pub struct TxRow {
    pub index: u32,
    pub hash: Option<B256>,
    pub from: Option<Address>,
    pub to: Option<Address>,
    pub contract: Option<Address>,
    pub nonce: Option<u64>,
    pub value: Option<U256>,
    pub gas_price: Option<U256>,
    pub gas_used: Option<u64>,
    pub status: Option<u64>,
    pub kind: Option<u64>,
    pub method: Option<Vec<u8>>,
    pub packed: Vec<u8>,
}

pub struct LogRow {
    pub tx_index: u32,
    pub place: u32,
    pub log_index: Option<u64>,
    pub address: Option<Address>,
    pub topics: [Option<B256>; 4],
    pub data: Option<Vec<u8>>,
    pub form: LogForm,
    pub packed: Option<Vec<u8>>,
}

/// What must be known beside a log's columns to have it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogForm {
    Plain,
    /// With the time of its block.
    Timed,
    /// It is not like others, and packed as a whole.
    Odd,
}

impl LogForm {
    pub fn code(self) -> i16 {
        match self {
            LogForm::Plain => 0,
            LogForm::Timed => 1,
            LogForm::Odd => 2,
        }
    }
}

pub struct FrameRow {
    pub tx_index: u32,
    pub place: u32,
    pub kind: &'static str,
    pub depth: u32,
    pub from: Address,
    pub to: Option<Address>,
    pub value: U256,
    pub failed: bool,
    pub packed: Vec<u8>,
}

#[derive(Clone, Copy)]
pub struct Party {
    pub address: Address,
    pub index: u32,
    pub direct: bool,
}

impl PgBlock {
    /// Memory held, more or less.
    pub fn bytes(&self) -> usize {
        let txs: usize = self.txs.iter().map(|tx| tx.packed.len() + 200).sum();
        let data = |log: &LogRow| log.data.as_ref().map_or(0, Vec::len);
        let packed = |log: &LogRow| log.packed.as_ref().map_or(0, Vec::len);
        let logs: usize = self.logs.iter().map(|log| data(log) + packed(log) + 200).sum();
        let frames: usize = self.frames.iter().map(|frame| frame.packed.len() + 100).sum();
        txs + logs + frames + self.wallets.len() * 28 + self.header.packed.len()
    }
}

pub fn prepare(chain: ChainId, verified: VerifiedBlock) -> PgBlock {
    let VerifiedBlock { mut block, mut proof, facts } = verified;
    let trace_roots = roots_to_keep(&block).map(|roots| {
        let mut packed = Vec::new();
        pack_frames(None, &roots, &mut packed);
        packed
    });
    if trace_roots.is_none() {
        proof = proof.without(Proof::FORMS);
    }
    let summary = BlockSummary {
        number: block.number,
        hash: block.hash,
        timestamp: block.timestamp,
        proof,
        tx_count: block.txs.len() as u32,
        has_traces: block.traces.is_some(),
    };
    let header = HeaderRow {
        parent_hash: block.header.parent_hash,
        miner: block.header.miner,
        gas_limit: block.header.gas_limit,
        gas_used: block.header.gas_used,
        base_fee: block.header.base_fee_per_gas,
        packed: pack_header(&summary, &block.header),
        trace_roots,
    };
    let head = BlockHead {
        number: block.number,
        hash: block.hash,
        parent_hash: block.parent_hash,
        proof,
        timestamp: block.timestamp,
        tx_count: summary.tx_count,
        receipt_count: block.receipts.iter().flatten().count() as u32,
        has_traces: summary.has_traces,
    };
    let mut rows = PgBlock {
        head,
        header,
        txs: Vec::with_capacity(block.txs.len()),
        logs: Vec::new(),
        frames: Vec::new(),
        wallets: Vec::with_capacity(block.txs.len() * 2),
        facts,
    };
    let mut packer = TxPacker::new(&summary.block_ref(), chain);
    for index in 0..summary.tx_count {
        rows.add_tx(index, &mut block, &summary, &mut packer);
    }
    rows
}

impl PgBlock {
    fn add_tx(
        &mut self,
        index: u32,
        block: &mut Block,
        summary: &BlockSummary,
        packer: &mut TxPacker,
    ) {
        let at = index as usize;
        let Some(tx) = block.txs.get(at) else { return };
        let mut receipt = block.receipts.get_mut(at).and_then(Option::as_mut);
        let frames = block.traces.as_ref().and_then(|all| all.get(at));
        let frames = below_root(frames.map_or(&[], Vec::as_slice));
        self.add_parties(index, tx, receipt.as_deref(), frames);
        let of_logs = receipt.as_deref_mut().is_some_and(|r| leave_bloom_out(r, summary.proof));
        let logs = receipt.as_deref_mut().and_then(take_logs).unwrap_or_default();
        let mut packed = Vec::with_capacity(256);
        let with_bloom = receipt.as_deref().map(|r| (r, of_logs));
        packer.pack((index, TxHash::Kept), tx, with_bloom, &mut packed);
        self.txs.push(tx_row(index, tx, receipt.as_deref(), packed));
        let standard = StandardLog::of(summary, index, tx.hash);
        for (place, log) in (0..).zip(logs) {
            self.logs.push(standard.row(index, place, log));
        }
        for (place, frame) in (0..).zip(frames) {
            self.frames.push(frame_row(index, place, frame));
        }
    }

    fn add_parties(&mut self, index: u32, tx: &Tx, receipt: Option<&Receipt>, frames: &[Frame]) {
        let found = parties(tx, receipt, frames);
        let direct = found.direct.iter().map(|address| (*address, true));
        let internal = found.internal.iter().map(|address| (*address, false));
        let party = |(address, direct)| Party { address, index, direct };
        self.wallets.extend(direct.chain(internal).map(party));
    }
}

fn tx_row(index: u32, tx: &Tx, receipt: Option<&Receipt>, packed: Vec<u8>) -> TxRow {
    TxRow {
        index,
        hash: tx.hash,
        from: tx.from,
        to: tx.to,
        contract: receipt.and_then(|receipt| receipt.contract_address),
        nonce: tx.nonce,
        value: tx.value,
        gas_price: receipt.and_then(|receipt| receipt.effective_gas_price).or(tx.gas_price),
        gas_used: receipt.and_then(|receipt| receipt.gas_used),
        status: receipt.and_then(|receipt| receipt.status),
        kind: tx.kind,
        method: tx.input.as_ref().and_then(|input| input.get(..4)).map(<[u8]>::to_vec),
        packed,
    }
}

fn frame_row(tx_index: u32, place: u32, frame: &Frame) -> FrameRow {
    let mut packed = Vec::with_capacity(128);
    frame.pack(&mut packed);
    FrameRow {
        tx_index,
        place,
        kind: frame.kind.name(),
        depth: frame.path.len() as u32,
        from: frame.from,
        to: frame.to,
        value: frame.value,
        failed: frame.error.is_some() || frame.undone,
        packed,
    }
}

/// A log as nearly all are: what it repeats of its block and transaction is right.
pub struct StandardLog {
    plain: Log,
    timestamp: u64,
}

impl StandardLog {
    pub fn of(block: &BlockSummary, tx_index: u32, tx_hash: Option<B256>) -> Self {
        let plain = Log {
            block_number: Some(block.number),
            block_hash: Some(block.hash),
            transaction_hash: tx_hash,
            transaction_index: Some(u64::from(tx_index)),
            removed: Some(false),
            ..Log::default()
        };
        StandardLog { plain, timestamp: block.timestamp }
    }

    /// The log of these columns, in one of the two usual forms.
    fn log(&self, row: &LogRow) -> Log {
        Log {
            address: row.address,
            topics: Some(row.topics.iter().map_while(|topic| *topic).collect()),
            data: row.data.clone().map(Into::into),
            log_index: row.log_index,
            block_timestamp: (row.form == LogForm::Timed).then_some(self.timestamp),
            ..self.plain.clone()
        }
    }

    fn row(&self, tx_index: u32, place: u32, log: Log) -> LogRow {
        let mut topics = [None; 4];
        topics.iter_mut().zip(log.topics.iter().flatten()).for_each(|(to, it)| *to = Some(*it));
        let form = if log.block_timestamp.is_some() { LogForm::Timed } else { LogForm::Plain };
        let mut row = LogRow {
            tx_index,
            place,
            log_index: log.log_index,
            address: log.address,
            topics,
            data: log.data.as_ref().map(|data| data.to_vec()),
            form,
            packed: None,
        };
        if self.log(&row) != log || row.log_index.is_some_and(|index| i64::try_from(index).is_err())
        {
            let mut packed = Vec::with_capacity(128);
            pack_logs(&Tx::default(), std::slice::from_ref(&log), &mut packed);
            (row.form, row.packed) = (LogForm::Odd, Some(packed));
        }
        row
    }

    /// `None` means that the row is not what `row` made.
    pub fn read(&self, row: &LogRow) -> Option<Log> {
        match &row.packed {
            Some(packed) => unpack_logs(&Tx::default(), packed)?.pop(),
            None => Some(self.log(row)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_logs_need_no_packed_form_and_all_come_back() {
        let summary = BlockSummary {
            number: 7,
            hash: B256::repeat_byte(1),
            timestamp: 84,
            proof: Default::default(),
            tx_count: 3,
            has_traces: false,
        };
        let standard = StandardLog::of(&summary, 2, Some(B256::repeat_byte(2)));
        let plain = Log {
            address: Some(Address::repeat_byte(3)),
            topics: Some(vec![B256::repeat_byte(4); 3]),
            data: Some(vec![1, 2].into()),
            log_index: Some(5),
            ..standard.plain.clone()
        };
        let timed = Log { block_timestamp: Some(84), ..plain.clone() };
        for (log, form) in [
            (plain.clone(), LogForm::Plain),
            (timed.clone(), LogForm::Timed),
            (Log { block_timestamp: Some(85), ..timed.clone() }, LogForm::Odd),
            (Log { topics: Some(vec![B256::ZERO; 5]), ..plain.clone() }, LogForm::Odd),
            (Log { topics: None, ..plain.clone() }, LogForm::Odd),
            (Log { log_index: Some(u64::MAX), ..plain.clone() }, LogForm::Odd),
            (Log { data: None, log_index: None, ..plain }, LogForm::Plain),
        ] {
            let row = standard.row(2, 0, log.clone());
            assert_eq!(row.form, form, "{log:?}");
            assert_eq!(standard.read(&row), Some(log));
        }
    }
}
