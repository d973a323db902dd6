//! `debug_traceBlockBy…` with callTracer (geth dialect) → frames per transaction.

use alloy_primitives::B256;

use super::Tx;
use super::call_tree::CallTree;
use super::frame::Frame;
use super::json_value::JsonValue;
use super::member_order::MemberOrder;
use super::reader::Reader;
use super::record::Malformed;
use super::trace_fault::{TraceFault, place_of};
use super::trace_form::{BlockTraces, TraceForm};

/// What a list has for one transaction.
#[derive(Default)]
struct Entry {
    hash: Option<B256>,
    result: Option<Result<CallTree, Malformed>>,
    error: Option<String>,
    /// Whether it is spelled as we would, its calls aside.
    is_canonical: bool,
}

/// Each entry finds its transaction by hash; where no entry has one, by its place in the list. Entries of
/// transactions that are not in the block (bor names its state-sync transaction as it likes) are passed
/// over.
pub fn read_geth_traces(reader: &mut Reader<'_>, txs: &[Tx]) -> Result<BlockTraces, TraceFault> {
    let text = reader.rest();
    let entries = read_entries(reader).ok_or_else(|| Malformed::text("debug_trace", text))?;
    let count = entries.len();
    let is_by_hash = entries.iter().any(|entry| entry.hash.is_some());
    let mut is_canonical = !txs.is_empty() && count == txs.len();
    let mut by_tx: Vec<Option<Entry>> = Vec::new();
    by_tx.resize_with(txs.len(), || None);
    for (i, entry) in entries.into_iter().enumerate() {
        let place =
            if is_by_hash { entry.hash.and_then(|hash| place_of(txs, hash, i)) } else { Some(i) };
        is_canonical &= entry.is_canonical && place == Some(i);
        if let Some(slot) = place.and_then(|place| by_tx.get_mut(place))
            && slot.replace(entry).is_some()
        {
            return Err(TraceFault::missing(i, "two traces are of one transaction"));
        }
    }
    let told = || format!("{count} traces for {} transactions", txs.len());
    if !is_by_hash && count > txs.len() {
        return Err(TraceFault::missing(txs.len(), &told()));
    }
    let mut frames: Vec<Vec<Frame>> = Vec::with_capacity(txs.len());
    for (index, entry) in by_tx.into_iter().enumerate() {
        let entry = entry.ok_or_else(|| TraceFault::missing(index, &told()))?;
        let tree = entry.into_tree(index)?;
        is_canonical &= tree.is_canonical;
        frames.push(tree.frames);
    }
    Ok(BlockTraces { frames, form: is_canonical.then_some(TraceForm::CallTracer) })
}

/// None where the text is no such list.
fn read_entries(reader: &mut Reader<'_>) -> Option<Vec<Entry>> {
    let (mut entries, mut is_first) = (Vec::new(), true);
    let mut order = MemberOrder::default();
    reader.expect(b'[')?;
    while reader.next_item(b']', &mut is_first)? {
        entries.push(Entry::read(reader, &mut order)?);
    }
    Some(entries)
}

impl Entry {
    /// `order`: of the members of calls before it.
    fn read(reader: &mut Reader<'_>, order: &mut MemberOrder) -> Option<Entry> {
        let mut entry = Entry { is_canonical: true, ..Entry::default() };
        let (mut hashes, mut results, mut errors) = (0, 0, 0);
        let mut is_first = true;
        reader.expect(b'{')?;
        while let Some(name) = reader.next_name(&mut is_first)? {
            entry.is_canonical &= matches!(name, std::borrow::Cow::Borrowed(_));
            match name.as_ref() {
                b"txHash" => {
                    hashes += 1;
                    entry.read_hash(reader)?;
                }
                b"result" => {
                    results += 1;
                    entry.result = read_result(reader, order)?;
                }
                b"error" => {
                    errors += 1;
                    entry.error = serde_json::from_slice(reader.value()?).ok()?;
                }
                other => {
                    std::str::from_utf8(other).ok()?;
                    reader.checked()?;
                    entry.is_canonical = false;
                }
            }
        }
        entry.is_canonical &= (hashes, results, errors) == (1, 1, 0);
        (hashes <= 1 && results <= 1 && errors <= 1).then_some(entry)
    }

    /// One that cannot be read is none.
    fn read_hash(&mut self, reader: &mut Reader<'_>) -> Option<()> {
        let mut usual = *reader;
        if let Some(hash) = B256::next_usual(&mut usual) {
            *reader = usual;
            self.hash = Some(hash);
            return Some(());
        }
        let text: Option<String> = serde_json::from_slice(reader.value()?).ok()?;
        self.hash = text.and_then(|text| text.parse().ok());
        self.is_canonical = false;
        Some(())
    }

    fn into_tree(self, index: usize) -> Result<CallTree, TraceFault> {
        match (self.result, self.error) {
            (_, Some(error)) => Err(TraceFault::missing(index, &error)),
            (Some(result), None) => Ok(result?),
            (None, None) => Err(TraceFault::missing(index, "its trace is empty")),
        }
    }
}

/// None inside where it says nothing. One that is no tree of calls may be of a transaction that is not ours.
fn read_result(
    reader: &mut Reader<'_>,
    order: &mut MemberOrder,
) -> Option<Option<Result<CallTree, Malformed>>> {
    let before = *reader;
    match CallTree::read(reader, order) {
        Ok(tree) => Some(tree.map(Ok)),
        Err(fault) => {
            *reader = before;
            let text = reader.checked()?;
            Some((text != "null").then_some(Err(fault)))
        }
    }
}
