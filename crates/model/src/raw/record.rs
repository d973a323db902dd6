//! A whole block: header, transactions, receipts, traces, put together from what a node answered.

use alloy_primitives::B256;

use super::json_value::JsonValue;
use super::object::{Object, read_list};
use super::reader::{Reader, complaint};
use super::{BlockTraces, Frame, Header, Receipt, TraceForm, Tx};
use crate::printable;

/// A node or file sent something that is not what it should be.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("malformed {what}: {detail}")]
pub struct Malformed {
    pub what: &'static str,
    pub detail: String,
}

impl Malformed {
    /// Keeps at most a line of what was found: it ends in logs and in /status.
    pub fn new(what: &'static str, found: &str) -> Self {
        Malformed { what, detail: printable(found, 160) }
    }

    /// A text that could not be read as what it should be.
    pub fn text(what: &'static str, text: &[u8]) -> Self {
        Malformed::new(what, &complaint(text, what))
    }
}

#[derive(Clone, Debug, PartialEq, Default)]
pub struct Block {
    /// Its `transactions` are taken out, into `txs`.
    pub header: Header,
    pub number: u64,
    pub hash: B256,
    pub parent_hash: B256,
    pub timestamp: u64,
    pub txs: Vec<Tx>,
    /// One per transaction; none where the source had none.
    pub receipts: Vec<Option<Receipt>>,
    /// One list per transaction, root frame first; none where the source cannot trace.
    pub traces: Option<Vec<Vec<Frame>>>,
    /// In which form they can be written just as they were read.
    pub trace_form: Option<TraceForm>,
    /// Of a block from the store, whose traces have no roots: the roots that it takes for that, one per transaction.
    pub trace_roots: Vec<Frame>,
}

impl Block {
    /// `Ok(None)` for the JSON `null` with which a node says it has no such block.
    pub fn read(block_json: &[u8]) -> Result<Option<Block>, Malformed> {
        let header = read_whole(block_json, "block", read_header)?;
        header.map(Block::from_header).transpose()
    }

    pub fn from_header(mut header: Header) -> Result<Block, Malformed> {
        let missing = |what| move || Malformed::new("block", what);
        let txs = header.transactions.take().ok_or_else(missing("no transactions"))?;
        if let Some(i) = txs.iter().position(|tx| tx.hash.is_none() || tx.from.is_none()) {
            return Err(Malformed::new("block", &format!("transaction {i} has no hash or sender")));
        }
        Ok(Block {
            number: header.number.ok_or_else(missing("no number"))?,
            hash: header.hash.ok_or_else(missing("no hash"))?,
            parent_hash: header.parent_hash.ok_or_else(missing("no parentHash"))?,
            timestamp: header.timestamp.ok_or_else(missing("no timestamp"))?,
            receipts: vec![None; txs.len()],
            header,
            txs,
            traces: None,
            trace_form: None,
            trace_roots: Vec::new(),
        })
    }

    /// Receipts in any order, and not always all of them; each finds its transaction by hash.
    pub fn set_receipts(&mut self, receipts: Vec<Receipt>) -> Result<(), Malformed> {
        for receipt in receipts {
            let index = receipt.transaction_index.and_then(|i| usize::try_from(i).ok());
            let place = index
                .filter(|i| self.txs.get(*i).is_some_and(|tx| tx.hash == receipt.transaction_hash))
                .or_else(|| self.txs.iter().position(|tx| tx.hash == receipt.transaction_hash));
            let Some(slot) = place.and_then(|i| self.receipts.get_mut(i)) else {
                let hash = receipt.transaction_hash.unwrap_or_default();
                let detail = format!("no transaction {hash} in the block");
                return Err(Malformed::new("receipts", &detail));
            };
            *slot = Some(receipt);
        }
        Ok(())
    }

    pub fn set_traces(&mut self, traces: Option<BlockTraces>) {
        self.trace_roots = Vec::new();
        self.trace_form = traces.as_ref().and_then(|traces| traces.form);
        self.traces = traces.map(|traces| traces.frames);
    }

    pub fn has_all_receipts(&self) -> bool {
        self.receipts.iter().all(Option::is_some)
    }

    /// The block as `eth_getBlockBy…` gives it, with whole transactions or their hashes.
    pub fn write_json(&self, whole: bool, out: &mut Vec<u8>) {
        use super::json_value::write_list;
        out.push(b'{');
        let mut first = true;
        self.header.write_fields(out, &mut first);
        super::object::begin_field(out, &mut first, "transactions");
        write_list(&self.txs, out, |tx, out| match whole {
            true => tx.write_json(out),
            false => tx.hash.unwrap_or_default().write_json(out),
        });
        out.push(b'}');
    }
}

/// A block as a node gives it, transactions and all, out of a larger text.
pub fn read_header(reader: &mut Reader<'_>) -> Option<Header> {
    let mut header = Header::default();
    header.read_into(reader).map(|()| header)
}

/// A block with the hashes of its transactions in their place, and these hashes.
pub fn read_header_and_hashes(reader: &mut Reader<'_>) -> Option<(Header, Vec<B256>)> {
    let (mut rest, mut hashes) = (vec![b'{'], None);
    reader.expect(b'{')?;
    let mut is_first = true;
    while let Some(name) = reader.next_name(&mut is_first)? {
        if name.as_ref() == b"transactions" {
            // Said twice, one would be checked and the other told.
            if hashes.is_some() {
                return None;
            }
            hashes = Some(Vec::<B256>::read_json(reader.value()?)?.0);
            continue;
        }
        if rest.len() > 1 {
            rest.push(b',');
        }
        serde_json::to_writer(&mut rest, std::str::from_utf8(&name).ok()?).ok()?;
        rest.push(b':');
        rest.extend_from_slice(reader.value()?);
    }
    rest.push(b'}');
    Some((read_header(&mut Reader::new(&rest))?, hashes?))
}

pub fn read_receipt_list(reader: &mut Reader<'_>) -> Option<Vec<Receipt>> {
    read_list(reader)
}

/// `null` is no receipts at all, which a block without transactions may well say.
pub fn read_receipts(list_json: &[u8]) -> Result<Vec<Receipt>, Malformed> {
    Ok(read_whole(list_json, "receipts", read_receipt_list)?.unwrap_or_default())
}

/// `None` for JSON `null`.
fn read_whole<'a, T>(
    text: &'a [u8],
    what: &'static str,
    read: impl FnOnce(&mut Reader<'a>) -> Option<T>,
) -> Result<Option<T>, Malformed> {
    let mut reader = Reader::new(text);
    let value = match reader.peek() {
        Some(b'n') => reader.value().filter(|text| *text == b"null").map(|_| None),
        _ => read(&mut reader).map(Some),
    };
    value.filter(|_| reader.is_at_end()).ok_or_else(|| Malformed::new(what, &complaint(text, what)))
}
