//! Logs by address and topics. What is read grows with what is found, not with the range.
//!
//! Each part of a filter (the addresses, the topics of one position) has runs of rows, one for each block that holds
//! such a word. They are read side by side until the first one ends: the rarest leads. Only where it has rows are
//! the others asked, and only groups that have all of them are opened.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use model::chain::ChainId;
use model::raw::{Log, Tx};

use super::View;
use super::block::TxReader;
use crate::Error;
use crate::embedded::blocking::may_block;
use crate::embedded::codec::groups::{self, GROUP};
use crate::embedded::codec::rows::unpack_logs;
use crate::embedded::engine::Item;
use crate::embedded::keys;
use crate::embedded::log_words::{self, GroupSet, LogWord};
use crate::embedded::segments::Kind;
use crate::query::{LogsPage, LogsQuery};

const BROKEN_WORDS: Error = Error::Broken { what: "index of logs" };
const BROKEN_LOGS: Error = Error::Broken { what: "group of logs" };
/// Rows of one run that are held at once.
const ROWS_AT_ONCE: usize = 4096;
/// Of a part with more words than this, no row is looked up block by block: opening the group is cheaper.
const WORDS_LOOKED_UP_MAX: usize = 8;

impl View {
    pub fn logs(&self, query: &LogsQuery) -> Result<LogsPage, Error> {
        may_block(|| {
            let parts = parts_of(query);
            let mut search = Search::new(self, query);
            if parts.is_empty() { search.all() } else { search.by_words(&parts) }?;
            Ok(search.page)
        })
    }

    /// The oldest block of the range of which not all receipts are known.
    pub fn first_receiptless(
        &self,
        chain: ChainId,
        from: u64,
        to: u64,
    ) -> Result<Option<u64>, Error> {
        if from > to {
            return Ok(None);
        }
        let range = keys::block(chain, from)..=keys::block(chain, to);
        let first = self.snapshot.range(&self.tables.receiptless, range).next();
        let key = first.map(Item::key).transpose()?;
        Ok(key.and_then(|key| keys::last_number(&key)))
    }
}

/// The words of each part of the filter that says anything.
fn parts_of(query: &LogsQuery) -> Vec<Vec<LogWord>> {
    let addresses = query.addresses.iter().map(|address| log_words::of_address(*address)).collect();
    let topics = query.topics.iter().enumerate().map(|(position, topics)| {
        topics.iter().map(|topic| log_words::of_topic(position, *topic)).collect()
    });
    let parts = std::iter::once(addresses).chain(topics);
    parts.filter(|words: &Vec<LogWord>| !words.is_empty()).collect()
}

struct Search<'a> {
    view: &'a View,
    query: &'a LogsQuery,
    txs: TxReader<'a>,
    page: LogsPage,
    /// Stands for a transaction that is not worth reading yet.
    blank: Tx,
}

impl<'a> Search<'a> {
    fn new(view: &'a View, query: &'a LogsQuery) -> Self {
        let blank = Tx {
            block_number: Some(0),
            block_hash: Some(Default::default()),
            block_timestamp: Some(0),
            hash: Some(Default::default()),
            transaction_index: Some(0),
            ..Tx::default()
        };
        let txs = view.transactions(query.chain);
        Search { view, query, txs, page: LogsPage::default(), blank }
    }

    /// Whether the block that is now begun is one too many.
    fn is_full_before(&mut self, number: u64) -> bool {
        let is_full = self.page.logs.len() >= self.query.limit;
        if is_full {
            self.page.next_block = Some(number);
        }
        is_full
    }

    /// No part says anything: every group with logs is wanted.
    fn all(&mut self) -> Result<(), Error> {
        let q = self.query;
        if q.from_block > q.to_block {
            return Ok(());
        }
        let range = keys::block(q.chain, q.from_block)..=keys::block(q.chain, q.to_block);
        for item in self.view.snapshot.range(&self.view.tables.bodies, range) {
            let number = keys::last_number(&item.key()?).ok_or(BROKEN_LOGS)?;
            let Some(body) = self.view.body(q.chain, number)? else { return Err(BROKEN_LOGS) };
            let rows = body.rows(Kind::Logs)?;
            if !rows.is_empty() && self.is_full_before(number) {
                break;
            }
            for (key, row) in rows {
                let (_, group) = keys::place_of_group(&key).ok_or(BROKEN_LOGS)?;
                self.take_group(number, group, &row)?;
            }
        }
        Ok(())
    }

    fn by_words(&mut self, parts: &[Vec<LogWord>]) -> Result<(), Error> {
        let (mut from, to) = (self.query.from_block, self.query.to_block);
        while from <= to {
            let lead = self.lead(parts, from)?;
            for (number, found) in lead.rows {
                if self.is_full_before(number) {
                    return Ok(());
                }
                let found = self.common(parts, lead.part, number, found)?;
                for group in found.iter() {
                    if let Some(row) = self.txs.logs_row(number, group)? {
                        self.take_group(number, group, &row)?;
                    }
                }
            }
            match lead.end.checked_add(1) {
                Some(next) => from = next,
                None => break,
            }
        }
        Ok(())
    }

    /// The part with the fewest rows from `from` on, with all its rows up to a block.
    fn lead(&mut self, parts: &[Vec<LogWord>], from: u64) -> Result<Lead, Error> {
        let mut runs: Vec<Run> = Vec::with_capacity(parts.len());
        for words in parts {
            runs.push(Run::open(self.view, self.query, words, from)?);
        }
        for _ in 0..ROWS_AT_ONCE {
            for (part, run) in runs.iter_mut().enumerate() {
                self.page.cost.words += 1;
                if !run.read_one()? {
                    let rows = std::mem::take(&mut run.rows);
                    return Ok(Lead { part, rows, end: self.query.to_block });
                }
            }
        }
        // All of them are long: the one that came furthest leads up to there.
        let reached = |run: &Run| run.rows.last().map_or(0, |(number, _)| *number);
        let furthest = runs.iter_mut().enumerate().max_by_key(|(_, run)| reached(run));
        let Some((part, run)) = furthest else { return Err(BROKEN_WORDS) };
        Ok(Lead { part, end: reached(run), rows: std::mem::take(&mut run.rows) })
    }

    /// The groups that hold a word of every part.
    fn common(
        &mut self,
        parts: &[Vec<LogWord>],
        lead: usize,
        number: u64,
        mut found: GroupSet,
    ) -> Result<GroupSet, Error> {
        for (part, words) in parts.iter().enumerate() {
            if part == lead || words.len() > WORDS_LOOKED_UP_MAX || found.is_empty() {
                continue;
            }
            let mut of_part = GroupSet::default();
            for word in words {
                self.page.cost.words += 1;
                let key = keys::log_word(self.query.chain, *word, number);
                if let Some(row) = self.view.snapshot.get(&self.view.tables.log_words, key)? {
                    of_part.add(&GroupSet::from_row(&row));
                }
            }
            found.keep_common(&of_part);
        }
        Ok(found)
    }

    fn take_group(&mut self, number: u64, group: u32, row: &[u8]) -> Result<(), Error> {
        self.page.cost.groups += 1;
        let mut rest = row;
        for index in (0..GROUP).map(|place| group.saturating_mul(GROUP).saturating_add(place)) {
            if rest.is_empty() {
                break;
            }
            let part = groups::take(&mut rest).ok_or(BROKEN_LOGS)?;
            if part.is_empty() {
                continue;
            }
            let logs = unpack_logs(&self.blank, part).ok_or(BROKEN_LOGS)?;
            if !logs.iter().any(|log| self.query.takes(log)) {
                continue;
            }
            let stored = self.txs.read(number, index)?.ok_or(BROKEN_LOGS)?;
            let logs: Vec<Log> = unpack_logs(&stored.tx, part).ok_or(BROKEN_LOGS)?;
            self.page.logs.extend(logs.into_iter().filter(|log| self.query.takes(log)));
        }
        Ok(())
    }
}

/// The rarest part.
struct Lead {
    part: usize,
    rows: Vec<(u64, GroupSet)>,
    /// Its rows are known up to this block.
    end: u64,
}

/// The rows of one part, several words merged, in the order of their blocks.
struct Run {
    words: Vec<Box<dyn Iterator<Item = Item>>>,
    /// The next row of each word.
    next: BinaryHeap<Reverse<(u64, usize, Vec<u8>)>>,
    rows: Vec<(u64, GroupSet)>,
}

impl Run {
    fn open(view: &View, query: &LogsQuery, words: &[LogWord], from: u64) -> Result<Self, Error> {
        let mut run = Run {
            words: Vec::with_capacity(words.len()),
            next: BinaryHeap::new(),
            rows: Vec::new(),
        };
        let chain: ChainId = query.chain;
        for (at, word) in words.iter().enumerate() {
            let range =
                keys::log_word(chain, *word, from)..=keys::log_word(chain, *word, query.to_block);
            run.words.push(Box::new(view.snapshot.range(&view.tables.log_words, range)));
            run.pull(at)?;
        }
        Ok(run)
    }

    fn pull(&mut self, at: usize) -> Result<(), Error> {
        let Some(item) = self.words.get_mut(at).and_then(Iterator::next) else { return Ok(()) };
        let (key, row) = item.into_inner()?;
        let number = keys::number_of_log_word(&key).ok_or(BROKEN_WORDS)?;
        self.next.push(Reverse((number, at, row.to_vec())));
        Ok(())
    }

    /// False at the end.
    fn read_one(&mut self) -> Result<bool, Error> {
        let Some(Reverse((number, at, row))) = self.next.pop() else { return Ok(false) };
        self.pull(at)?;
        let mut groups = GroupSet::from_row(&row);
        while let Some(Reverse((same, ..))) = self.next.peek()
            && *same == number
            && let Some(Reverse((_, at, row))) = self.next.pop()
        {
            groups.add(&GroupSet::from_row(&row));
            self.pull(at)?;
        }
        self.rows.push((number, groups));
        Ok(true)
    }
}
