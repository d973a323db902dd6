//! Walks through a block once and notes for each stream what concerns it.
//!
//! Streams are found by the addresses and events that are in the block (`StreamIndex`); those that nothing in
//! the block points to are never looked at.

use std::collections::HashMap;
use std::sync::Arc;

use alloy_primitives::Address;
use model::chain::ChainId;
use model::raw::{Block, Frame, Log, Receipt, Tx};

use super::items::{BlockContext, InternalPick, Items, LogPick, Picks};
use super::mentions::mentions;
use super::{Slot, SpamList, StreamIndex, StreamPlan};
use crate::definition::LogView;

#[derive(Clone, Copy)]
pub struct MatchQuery<'a> {
    pub index: &'a StreamIndex,
    pub chain: ChainId,
    pub block: &'a Block,
    pub spam: &'a SpamList,
    /// Which streams count.
    pub only: &'a dyn Fn(Slot) -> bool,
    pub parts: Parts,
}

/// What of a block is told. What comes later is told without `internals` first; then `internals` alone is
/// exactly what the traces add, so that both together are the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    pub txs: bool,
    pub logs: bool,
    pub internals: bool,
}

impl Parts {
    pub const ALL: Self = Self { txs: true, logs: true, internals: true };
    pub const WITHOUT_INTERNALS: Self = Self { txs: true, logs: true, internals: false };
    pub const INTERNALS_ONLY: Self = Self { txs: false, logs: false, internals: true };
}

#[derive(Clone, Debug)]
pub struct BlockMatch {
    pub slot: Slot,
    pub plan: Arc<StreamPlan>,
    pub items: Items,
}

/// Streams with a match, by slot.
pub fn match_block(query: MatchQuery<'_>) -> Vec<BlockMatch> {
    let mut walk = Walk::new(query);
    let mut logs_before = Vec::with_capacity(query.block.txs.len());
    let mut log_count = 0;
    for (place, tx) in query.block.txs.iter().enumerate() {
        let receipt = query.block.receipts.get(place).and_then(Option::as_ref);
        let logs = receipt.and_then(|receipt| receipt.logs.as_deref()).unwrap_or_default();
        logs_before.push(log_count);
        log_count += logs.len() as u64;
        walk.tx(place, tx, receipt);
        walk.logs(place, logs);
        let traces = query.block.traces.as_deref().filter(|_| query.parts.internals);
        let frames = traces.and_then(|traces| traces.get(place));
        walk.frames(place, frames.map(Vec::as_slice).unwrap_or_default());
        walk.end_tx(place, logs);
    }
    let MatchQuery { chain, block, spam, .. } = query;
    let context = BlockContext { chain, block, spam, logs_before: &logs_before };
    let drafts = walk.drafts.into_iter().filter(|draft| !draft.picks.is_empty());
    let mut found: Vec<BlockMatch> = drafts
        .map(|draft| BlockMatch {
            slot: draft.slot,
            items: context.items(draft.picks, &draft.plan.compiled),
            plan: draft.plan,
        })
        .collect();
    found.sort_unstable_by_key(|found| found.slot);
    found
}

/// What was found so far for one stream.
struct Draft {
    slot: Slot,
    plan: Arc<StreamPlan>,
    picks: Picks,
    /// The step (a transaction, log or frame) that last pointed to it, and the addresses by which it did.
    step: u64,
    by: Vec<Address>,
    /// Why the current transaction concerns it.
    reasons: Reasons,
    /// Where the current transaction's logs begin in the picks.
    logs_from: usize,
}

#[derive(Clone, Copy, Default)]
struct Reasons {
    tx_or_log: bool,
    internal: bool,
}

struct Walk<'a> {
    query: MatchQuery<'a>,
    drafts: Vec<Draft>,
    /// Slot → place in `drafts`; none for one that does not count.
    places: HashMap<Slot, Option<usize>>,
    /// Counts transactions, logs and frames.
    step: u64,
    /// Drafts that the current step points to.
    hits: Vec<usize>,
    /// Drafts that the current transaction concerns.
    touched: Vec<usize>,
    mentioned: Vec<Address>,
    /// Of the current transaction's logs, which touch spam; empty where there is no list.
    spam_logs: Vec<bool>,
    is_spam_tx: bool,
}

impl<'a> Walk<'a> {
    fn new(query: MatchQuery<'a>) -> Self {
        Self {
            query,
            drafts: Vec::new(),
            places: HashMap::new(),
            step: 0,
            hits: Vec::new(),
            touched: Vec::new(),
            mentioned: Vec::new(),
            spam_logs: Vec::new(),
            is_spam_tx: false,
        }
    }

    fn tx(&mut self, place: usize, tx: &Tx, receipt: Option<&Receipt>) {
        // A creation that failed names the address it would have had.
        let made = receipt.filter(|receipt| receipt.status != Some(0));
        let created = made.and_then(|receipt| receipt.contract_address);
        let parties = [tx.from, tx.to, created];
        self.begin_step();
        self.is_spam_tx = parties.into_iter().flatten().any(|party| self.is_spam(party));
        for party in distinct(parties) {
            self.point(party, |plan| plan.definition.include_native_txs);
        }
        let hits = std::mem::take(&mut self.hits);
        hits.iter().for_each(|at| self.take_tx(*at, place));
        self.hits = hits;
    }

    fn logs(&mut self, place: usize, logs: &[Log]) {
        self.spam_logs.clear();
        for (number, log) in logs.iter().enumerate() {
            self.begin_step();
            let mut mentioned = std::mem::take(&mut self.mentioned);
            mentions(log, &mut mentioned);
            if !self.query.spam.is_empty() {
                let is_spam = mentioned.iter().any(|address| self.is_spam(*address));
                self.spam_logs.push(is_spam);
            }
            for address in &mentioned {
                self.point(*address, |plan| plan.definition.include_contract_logs);
            }
            self.mentioned = mentioned;
            let index = self.query.index;
            let topic = log.topics.as_deref().and_then(|topics| topics.first());
            for slot in topic.map(|topic| index.slots_of_topic(topic)).unwrap_or_default() {
                self.hit(*slot, None, |_| true);
            }
            let hits = std::mem::take(&mut self.hits);
            hits.iter().for_each(|at| self.take_log(*at, (place, number), log));
            self.hits = hits;
        }
    }

    fn frames(&mut self, place: usize, frames: &[Frame]) {
        let inner = frames.iter().enumerate().filter(|(_, frame)| !frame.path.is_empty());
        for (number, frame) in inner.filter(|(_, frame)| frame.moves_value()) {
            self.begin_step();
            let parties = [Some(frame.from), frame.to];
            let is_spam = parties.into_iter().flatten().any(|party| self.is_spam(party));
            for party in distinct(parties) {
                self.point(party, |plan| plan.definition.include_internal_txs);
            }
            let hits = std::mem::take(&mut self.hits);
            hits.iter().for_each(|at| self.take_frame(*at, (place, number), is_spam));
            self.hits = hits;
        }
    }

    fn take_frame(&mut self, at: usize, (place, number): (usize, usize), is_spam: bool) {
        let Some(draft) = self.drafts.get_mut(at) else { return };
        if is_spam && draft.plan.definition.filter_possible_spam_addresses {
            return;
        }
        let triggered_by = draft.by.clone();
        draft.picks.internals.push(InternalPick { tx: place, frame: number, triggered_by });
        draft.reasons.internal = true;
        self.touched.push(at);
    }

    fn take_tx(&mut self, at: usize, place: usize) {
        let Some(draft) = self.drafts.get_mut(at) else { return };
        if self.is_spam_tx && draft.plan.definition.filter_possible_spam_addresses {
            return;
        }
        draft.reasons.tx_or_log = true;
        self.touched.push(at);
        if self.query.parts.txs {
            draft.pick_tx(place);
        }
    }

    fn take_log(&mut self, at: usize, (place, number): (usize, usize), log: &Log) {
        let is_spam = self.spam_logs.get(number).copied().unwrap_or_default();
        let emitter = log.address.unwrap_or_default();
        let view = LogView {
            chain: self.query.chain,
            address: emitter,
            topics: log.topics.as_deref().unwrap_or_default(),
            data: log.data.as_ref().map_or(&[][..], |data| data),
            possible_spam: is_spam && self.is_spam(emitter),
        };
        let Some(draft) = self.drafts.get_mut(at) else { return };
        if is_spam && draft.plan.definition.filter_possible_spam_addresses {
            return;
        }
        let Some(Accepted { with_tx }) = accepts(&draft.plan, view) else { return };
        draft.reasons.tx_or_log = true;
        self.touched.push(at);
        if self.query.parts.logs {
            let triggered_by = draft.by.clone();
            draft.picks.logs.push(LogPick { tx: place, log: number, triggered_by });
        }
        if with_tx {
            self.take_tx(at, place);
        }
    }

    /// Adds all logs of the transaction for those streams that want them, and makes ready for the next one.
    fn end_tx(&mut self, place: usize, logs: &[Log]) {
        for at in std::mem::take(&mut self.touched) {
            let Some(draft) = self.drafts.get_mut(at) else { continue };
            let reasons = std::mem::take(&mut draft.reasons);
            let is_told = if self.query.parts.logs {
                reasons.tx_or_log || reasons.internal
            } else {
                // The rest was told before the traces came.
                reasons.internal && !reasons.tx_or_log
            };
            if is_told && draft.plan.definition.include_all_tx_logs {
                draft.pick_all_logs(place, logs.len(), &self.spam_logs);
            }
            draft.logs_from = draft.picks.logs.len();
        }
    }

    fn begin_step(&mut self) {
        self.step += 1;
        self.hits.clear();
    }

    fn is_spam(&self, address: Address) -> bool {
        self.query.spam.contains(self.query.chain, address)
    }

    /// The step concerns all who watch this address; called once for each address of a step.
    fn point(&mut self, address: Address, wants: impl Fn(&StreamPlan) -> bool) {
        let index = self.query.index;
        for slot in index.slots_of(&address) {
            self.hit(*slot, Some(address), &wants);
        }
    }

    fn hit(&mut self, slot: Slot, by: Option<Address>, wants: impl Fn(&StreamPlan) -> bool) {
        let Some(at) = self.place_of(slot) else { return };
        let Some(draft) = self.drafts.get_mut(at).filter(|draft| wants(&draft.plan)) else {
            return;
        };
        if draft.step != self.step {
            draft.step = self.step;
            draft.by.clear();
            self.hits.push(at);
        }
        draft.by.extend(by);
    }

    fn place_of(&mut self, slot: Slot) -> Option<usize> {
        if let Some(place) = self.places.get(&slot) {
            return *place;
        }
        let plan = self.query.index.plan(slot);
        let plan = plan.filter(|plan| plan.chains.contains(&self.query.chain));
        let place = plan.filter(|_| (self.query.only)(slot)).map(|plan| {
            self.drafts.push(Draft::new(slot, plan.clone()));
            self.drafts.len() - 1
        });
        self.places.insert(slot, place);
        place
    }
}

impl Draft {
    fn new(slot: Slot, plan: Arc<StreamPlan>) -> Self {
        Self {
            slot,
            plan,
            picks: Picks::default(),
            step: 0,
            by: Vec::new(),
            reasons: Reasons::default(),
            logs_from: 0,
        }
    }

    /// Once, however many of its logs bring it in; all of their addresses count.
    fn pick_tx(&mut self, place: usize) {
        match self.picks.txs.last_mut() {
            Some((last, by)) if *last == place => {
                for address in &self.by {
                    if !by.contains(address) {
                        by.push(*address);
                    }
                }
            }
            _ => self.picks.txs.push((place, self.by.clone())),
        }
    }

    fn pick_all_logs(&mut self, place: usize, count: usize, spam_logs: &[bool]) {
        let matched = self.picks.logs.split_off(self.logs_from.min(self.picks.logs.len()));
        let mut matched = matched.into_iter().peekable();
        let filters_spam = self.plan.definition.filter_possible_spam_addresses;
        for number in 0..count {
            let is_spam = spam_logs.get(number).copied().unwrap_or_default();
            if let Some(pick) = matched.next_if(|pick| pick.log == number) {
                self.picks.logs.push(pick);
            } else if !(is_spam && filters_spam) {
                self.picks.logs.push(LogPick { tx: place, log: number, triggered_by: Vec::new() });
            }
        }
    }
}

/// Those that are there, each once.
fn distinct<const N: usize>(parties: [Option<Address>; N]) -> impl Iterator<Item = Address> {
    let places = (0..N).filter(move |place| {
        let party = parties.get(*place);
        !parties.iter().take(*place).any(|earlier| Some(earlier) == party)
    });
    places.filter_map(move |place| parties.get(place).copied().flatten())
}

struct Accepted {
    /// The transaction is wanted as well.
    with_tx: bool,
}

/// Whether one of the stream's rules accepts a log; without rules all are.
fn accepts(plan: &StreamPlan, log: LogView<'_>) -> Option<Accepted> {
    if plan.compiled.events.is_empty() {
        return Some(Accepted { with_tx: false });
    }
    let topic = log.topics.first()?;
    let rules = plan.compiled.events.iter().filter(|rule| rule.topic0 == *topic);
    let mut accepted = None;
    for rule in rules {
        let with_tx = rule.include_native_txs;
        if (accepted.is_none() || with_tx) && rule.accepts(log) {
            accepted = Some(Accepted { with_tx });
            if with_tx {
                break;
            }
        }
    }
    accepted
}
