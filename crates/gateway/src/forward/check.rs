//! Whether an answer can be what was asked for. Pure.
//!
//! What can be recomputed is: a block's hash, its transactions and senders, a transaction's hash and sender, a
//! block's receipts against its transactions and its header. Of the rest only what contradicts the question is seen.

use alloy_primitives::{B256, Bytes as HexBytes, keccak256};
use bytes::Bytes;
use model::proof::Proof;
use model::raw::json_value::JsonValue;
use model::raw::object::Object;
use model::raw::reader::Reader;
use model::raw::{Block, Receipt, Tx, read_header, read_header_and_hashes, read_receipt_list};
use rpc::Evidence;
use serde_json::value::RawValue;
use verify::{Lie, Rules, Senders};

use super::about::About;

/// What is to be thought of an answer.
#[derive(Debug, PartialEq)]
pub enum Verdict {
    /// It was recomputed, and holds.
    Proven,
    /// Nothing speaks against it.
    Plausible,
    /// `null`, or an empty list of what must have members: the node may not have it yet, or no more.
    Absent,
    Wrong(Evidence),
}

/// How a method's answers can be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checked {
    Block,
    Transaction,
    /// Of one transaction: against its block where that is at hand.
    Receipt,
    /// All of a block, against its transactions and its header.
    Receipts,
    Logs,
    /// The bytes of a header or a transaction, whose hash was asked for.
    Raw,
    Not,
}

impl Checked {
    pub fn of(method: &str) -> Checked {
        match method {
            "eth_getBlockByHash" | "eth_getBlockByNumber" => Checked::Block,
            "eth_getHeaderByHash" | "eth_getHeaderByNumber" => Checked::Block,
            "eth_getTransactionByHash"
            | "eth_getTransactionByBlockHashAndIndex"
            | "eth_getTransactionByBlockNumberAndIndex" => Checked::Transaction,
            "eth_getTransactionReceipt" => Checked::Receipt,
            "eth_getBlockReceipts" => Checked::Receipts,
            "eth_getLogs" => Checked::Logs,
            "debug_getRawHeader" | "debug_getRawTransaction" | "eth_getRawTransactionByHash" => {
                Checked::Raw
            }
            _ => Checked::Not,
        }
    }

    /// Whether an answer that is wrong would be noticed: named by a hash, and recomputed.
    pub fn proves(self, about: About) -> bool {
        match self {
            Checked::Block | Checked::Receipts => matches!(about, About::Hash(_)),
            Checked::Transaction | Checked::Raw => {
                matches!(about, About::Transaction(_))
                    || self == Checked::Raw && matches!(about, About::Hash(_))
            }
            Checked::Receipt | Checked::Logs | Checked::Not => false,
        }
    }
}

/// What an answer is held against.
pub struct Question<'a> {
    pub checked: Checked,
    pub about: About,
    pub rules: &'a Rules,
    pub beside: Beside,
}

/// For receipts: what is at hand of their block, as it was told before.
#[derive(Clone, Default)]
pub struct Beside {
    /// With whole transactions.
    pub block: Option<Bytes>,
    pub receipts: Option<Bytes>,
}

impl Beside {
    pub fn bytes(&self) -> usize {
        [&self.block, &self.receipts].into_iter().flatten().map(Bytes::len).sum()
    }

    /// The block, if it is proven: nobody is measured by what is not.
    fn block(&self, rules: &Rules) -> Option<Block> {
        let block = Block::read(self.block.as_ref()?).ok()??;
        let proof = verify::verify(&block, rules).ok()?;
        (proof.has(Proof::HEADER) && proof.has(Proof::TRANSACTIONS)).then_some(block)
    }
}

pub fn check(question: &Question<'_>, answer: &[u8]) -> Verdict {
    if answer == b"null" {
        return Verdict::Absent;
    }
    let judged = match question.checked {
        Checked::Block => block(question, answer),
        Checked::Transaction => transaction(question, answer),
        Checked::Receipt => receipt(question, answer),
        Checked::Receipts => receipts(question, answer),
        Checked::Logs => logs(question, answer),
        Checked::Raw => raw(question, answer),
        Checked::Not => Ok(false),
    };
    match judged {
        Ok(true) => Verdict::Proven,
        Ok(false) => Verdict::Plausible,
        Err(Lie { block, check, expected, got }) => {
            Verdict::Wrong(Evidence { block, check: check.to_owned(), expected, got })
        }
    }
}

fn lie(check: &'static str, expected: impl ToString, got: impl ToString) -> Lie {
    Lie { block: 0, check, expected: expected.to_string(), got: got.to_string() }
}

fn unreadable(what: &'static str) -> Lie {
    lie("form", what, "something else")
}

fn read<T>(answer: &[u8], read: impl FnOnce(&mut Reader<'_>) -> Option<T>) -> Option<T> {
    let mut reader = Reader::new(answer);
    read(&mut reader).filter(|_| reader.is_at_end())
}

/// What was asked for by number or hash must be what came.
fn is_asked(about: About, number: Option<u64>, hash: Option<B256>) -> Result<(), Lie> {
    match about {
        About::Hash(asked) if hash != Some(asked) => {
            Err(lie("block hash", asked, hash.unwrap_or_default()))
        }
        About::Blocks { from, to } if from == to && number != Some(from) => {
            Err(lie("block number", from, number.map_or("none".to_owned(), |it| it.to_string())))
        }
        _ => Ok(()),
    }
}

fn block(question: &Question<'_>, answer: &[u8]) -> Result<bool, Lie> {
    let Some(header) = read(answer, read_header) else { return block_of_hashes(question, answer) };
    is_asked(question.about, header.number, header.hash)?;
    // A pending block has no hash yet.
    if header.hash.is_none() {
        return Ok(false);
    }
    if header.transactions.is_some()
        && let Ok(block) = Block::from_header(header.clone())
    {
        let proof = verify::verify(&block, question.rules)?;
        return Ok(proof.has(Proof::HEADER) && proof.has(Proof::TRANSACTIONS));
    }
    verify::verify_lone_header(header, question.rules)
}

/// Its header is proven. No root covers the hashes; only whether there are any is known.
fn block_of_hashes(question: &Question<'_>, answer: &[u8]) -> Result<bool, Lie> {
    let found = read(answer, read_header_and_hashes);
    let (header, hashes) = found.ok_or_else(|| unreadable("a block"))?;
    is_asked(question.about, header.number, header.hash)?;
    if header.hash.is_none() {
        return Ok(false);
    }
    // The root of nothing: of an empty string in RLP.
    let is_empty = header.transactions_root == Some(keccak256([0x80]));
    verify::verify_lone_header(header, question.rules)?;
    if is_empty && !hashes.is_empty() {
        return Err(lie("transactions root", "no transactions", hashes.len()));
    }
    Ok(false)
}

/// The same block with the hashes of its transactions in their place. None of what is no block.
pub fn with_hashes(answer: &[u8]) -> Option<Vec<u8>> {
    let block = Block::read(answer).ok()??;
    let mut out = Vec::with_capacity(2048 + 70 * block.txs.len());
    block.write_json(false, &mut out);
    Some(out)
}

fn transaction(question: &Question<'_>, answer: &[u8]) -> Result<bool, Lie> {
    let tx: Tx = object(answer).ok_or_else(|| unreadable("a transaction"))?;
    if let About::Transaction(asked) = question.about
        && tx.hash != Some(asked)
    {
        return Err(lie("transaction hash", asked, tx.hash.unwrap_or_default()));
    }
    is_asked(question.about, tx.block_number, tx.block_hash)?;
    verify::verify_transaction(&tx, question.rules)
}

fn object<T: Object>(answer: &[u8]) -> Option<T> {
    read(answer, |reader| {
        let mut found = T::default();
        found.read_into(reader).map(|()| found)
    })
}

/// Which block a receipt says it is of.
pub fn block_of_receipt(answer: &[u8]) -> Option<B256> {
    object::<Receipt>(answer)?.block_hash
}

/// Senders were recovered when the block came.
fn rules_of_receipts(rules: &Rules) -> Rules {
    let Rules { verification, chain_id, genesis, .. } = *rules;
    Rules { verification, chain_id, genesis, senders: Senders::Sample }
}

fn receipt(question: &Question<'_>, answer: &[u8]) -> Result<bool, Lie> {
    let receipt: Receipt = object(answer).ok_or_else(|| unreadable("a receipt"))?;
    if let About::Transaction(asked) = question.about
        && receipt.transaction_hash != Some(asked)
    {
        let got = receipt.transaction_hash.unwrap_or_default();
        return Err(lie("transaction hash", asked, got));
    }
    let rules = rules_of_receipts(question.rules);
    let block = question.beside.block(&rules);
    let Some(mut block) = block.filter(|block| receipt.block_hash == Some(block.hash)) else {
        return Ok(false);
    };
    // Its neighbours make the root; this one takes the place of what was told of it before.
    let neighbours = question.beside.receipts.as_deref();
    let list = neighbours.and_then(|text| read(text, read_receipt_list)).unwrap_or_default();
    if set_receipts(&mut block, list).is_ok() && block.has_all_receipts() {
        let before = verify::verify_receipts(&block, &rules);
        if before.is_ok_and(|is_proven| is_proven) {
            set_receipts(&mut block, vec![receipt])?;
            return verify::verify_receipts(&block, &rules);
        }
    }
    block.receipts.fill(None);
    set_receipts(&mut block, vec![receipt])?;
    verify::verify_receipts(&block, &rules)
}

fn set_receipts(block: &mut Block, receipts: Vec<Receipt>) -> Result<(), Lie> {
    let told = block.set_receipts(receipts);
    told.map_err(|error| lie("receipt's transaction", "one of the block", error))
}

fn receipts(question: &Question<'_>, answer: &[u8]) -> Result<bool, Lie> {
    let list = read(answer, read_receipt_list).ok_or_else(|| unreadable("receipts"))?;
    for receipt in &list {
        is_asked(question.about, receipt.block_number, receipt.block_hash)?;
    }
    let rules = rules_of_receipts(question.rules);
    let Some(mut block) = question.beside.block(&rules) else { return Ok(false) };
    if list.len() != block.txs.len() {
        return Err(lie("number of receipts", block.txs.len(), list.len()));
    }
    set_receipts(&mut block, list)?;
    verify::verify_receipts(&block, &rules)
}

/// Each log must be of a block that was asked for.
fn logs(question: &Question<'_>, answer: &[u8]) -> Result<bool, Lie> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Place<'a> {
        #[serde(borrow, default)]
        block_number: Option<&'a RawValue>,
        #[serde(borrow, default)]
        block_hash: Option<&'a RawValue>,
    }
    let list: Vec<Place> =
        serde_json::from_slice(answer).map_err(|_| unreadable("a list of logs"))?;
    for log in &list {
        let number = log.block_number.and_then(|raw| u64::read_json(raw.get().as_bytes()));
        let hash = log.block_hash.and_then(|raw| B256::read_json(raw.get().as_bytes()));
        match question.about {
            About::Hash(asked) if hash.is_some_and(|(hash, _)| hash != asked) => {
                return Err(lie("block hash of a log", asked, "another"));
            }
            About::Blocks { from, to }
                if number.is_some_and(|(number, _)| !(from..=to).contains(&number)) =>
            {
                return Err(lie("block of a log", format!("{from} to {to}"), "another"));
            }
            _ => {}
        }
    }
    Ok(false)
}

fn raw(question: &Question<'_>, answer: &[u8]) -> Result<bool, Lie> {
    let (About::Hash(asked) | About::Transaction(asked)) = question.about else { return Ok(false) };
    let (bytes, _) = HexBytes::read_json(answer).ok_or_else(|| unreadable("bytes"))?;
    if bytes.is_empty() {
        return Ok(false);
    }
    let hash = keccak256(&bytes);
    if hash == asked {
        return Ok(true);
    }
    // With its blobs, which its hash does not cover.
    if bytes.first() == Some(&3) { Ok(false) } else { Err(lie("hash of the bytes", asked, hash)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::chain::ChainTable;
    use verify::Senders;

    #[test]
    fn hashes_in_the_place_of_transactions_leave_the_header_to_be_checked() {
        let table = ChainTable::builtin().unwrap();
        let rules = Rules::of(table.find("eth").unwrap(), Senders::All);
        let hash = B256::repeat_byte(1);
        let judge = |number: u64, text: &str| {
            let about = About::Blocks { from: number, to: number };
            let (checked, beside) = (Checked::Block, Beside::default());
            let question = Question { checked, about, rules: &rules, beside };
            check(&question, text.as_bytes())
        };
        let pending = format!(r#"{{"number":"0x5","hash":null,"transactions":["{hash}"]}}"#);
        assert_eq!(judge(5, &pending), Verdict::Plausible);
        for (number, text) in [
            (6, pending.clone()),
            (5, pending.replace("null", &format!("\"{hash}\""))),
            (5, pending.replace("\"number\"", "\"transactions\":[],\"number\"")),
            (5, format!("{pending} x")),
            (5, r#"{"number":"0x5","transactions":[7]}"#.to_owned()),
            (5, "[]".to_owned()),
        ] {
            assert!(matches!(judge(number, &text), Verdict::Wrong(_)), "{text}");
        }
    }
}
