//! The rules of matching once more, in the plainest way: every stream against every item of the block. Shares
//! no code with the matcher but what a definition's events accept.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use alloy_primitives::{Address, B256};
use model::raw::{Block, Log};

use super::plans::CHAIN;
use crate::definition::LogView;
use crate::matching::{BlockMatch, Slot, StreamPlan};

pub struct NaiveStream {
    pub slot: Slot,
    pub plan: Arc<StreamPlan>,
    pub addresses: BTreeSet<Address>,
}

/// Transactions by hash, logs by number, internal transactions by hash, sender, receiver and value; each with
/// `triggered_by`.
#[derive(Debug, Default, PartialEq)]
pub struct NaiveItems {
    pub txs: Vec<(B256, Vec<Address>)>,
    pub logs: Vec<(u64, Vec<Address>)>,
    pub internals: Vec<(String, Vec<Address>)>,
}

impl NaiveItems {
    /// What a later delivery adds.
    pub fn append(&mut self, mut more: Self) {
        self.txs.append(&mut more.txs);
        self.logs.append(&mut more.logs);
        self.logs.sort();
        self.internals.append(&mut more.internals);
    }
}

pub fn naive_match(
    streams: &[NaiveStream],
    block: &Block,
    spam: &BTreeSet<Address>,
) -> BTreeMap<Slot, NaiveItems> {
    let mut found = BTreeMap::new();
    let logs = |place: usize| block.receipts[place].iter().flat_map(|it| it.logs.iter().flatten());
    let words: Vec<Vec<Vec<Address>>> =
        (0..block.txs.len()).map(|place| logs(place).map(words_of).collect()).collect();
    for stream in streams {
        let items = stream.items(block, &words, spam);
        if items != NaiveItems::default() {
            found.insert(stream.slot, items);
        }
    }
    found
}

impl NaiveStream {
    fn watched(&self, candidates: &[Address]) -> Vec<Address> {
        let mut list: Vec<Address> = Vec::new();
        for address in candidates {
            if self.addresses.contains(address) && !list.contains(address) {
                list.push(*address);
            }
        }
        list
    }

    fn drops(&self, spam: &BTreeSet<Address>, candidates: &[Address]) -> bool {
        self.plan.definition.filter_possible_spam_addresses
            && candidates.iter().any(|address| spam.contains(address))
    }

    /// `words` are the addresses that each log of each transaction mentions.
    fn items(
        &self,
        block: &Block,
        words: &[Vec<Vec<Address>>],
        spam: &BTreeSet<Address>,
    ) -> NaiveItems {
        let definition = &self.plan.definition;
        let mut items = NaiveItems::default();
        let mut log_number = 0;
        for (place, tx) in block.txs.iter().enumerate() {
            let receipt = block.receipts[place].as_ref();
            let mut parties = vec![tx.from.unwrap()];
            parties.extend(tx.to);
            if let Some(receipt) = receipt.filter(|receipt| receipt.status != Some(0)) {
                parties.extend(receipt.contract_address);
            }
            let by = self.watched(&parties);
            let mut wants_tx = definition.include_native_txs && !by.is_empty();
            let mut tx_by = if wants_tx { by } else { Vec::new() };
            let mut matched_logs = Vec::new();
            let mut matched = wants_tx && !self.drops(spam, &parties);
            let no_logs = Vec::new();
            let logs = receipt.and_then(|receipt| receipt.logs.as_ref()).unwrap_or(&no_logs);
            for (log, words) in logs.iter().zip(&words[place]) {
                let by = self.watched(words);
                let is_looked_at = definition.include_contract_logs
                    && (definition.all_addresses || !by.is_empty());
                let accepted = if is_looked_at { self.accepts(log, spam) } else { None };
                if let Some(with_tx) = accepted.filter(|_| !self.drops(spam, words)) {
                    matched = true;
                    if with_tx {
                        wants_tx = true;
                        for address in &by {
                            if !tx_by.contains(address) {
                                tx_by.push(*address);
                            }
                        }
                    }
                    matched_logs.push((log_number, by));
                } else if !self.drops(spam, words) {
                    matched_logs.push((log_number, vec![Address::repeat_byte(0xff)]));
                }
                log_number += 1;
            }
            if wants_tx && !self.drops(spam, &parties) {
                items.txs.push((tx.hash.unwrap(), tx_by));
            }
            matched |= self.internals(&mut items, block, place, spam);
            let is_extra = |by: &[Address]| by == [Address::repeat_byte(0xff)];
            for (number, by) in matched_logs {
                if !is_extra(&by) {
                    items.logs.push((number, by));
                } else if definition.include_all_tx_logs && matched {
                    items.logs.push((number, vec![]));
                }
            }
        }
        items
    }

    fn internals(
        &self,
        items: &mut NaiveItems,
        block: &Block,
        place: usize,
        spam: &BTreeSet<Address>,
    ) -> bool {
        let Some(traces) = &block.traces else { return false };
        let before = items.internals.len();
        for (number, frame) in traces[place].iter().enumerate() {
            let mut parties = vec![frame.from];
            parties.extend(frame.to);
            let by = self.watched(&parties);
            if self.plan.definition.include_internal_txs
                && number > 0
                && frame.moves_value()
                && !by.is_empty()
                && !self.drops(spam, &parties)
            {
                let hash = block.txs[place].hash.unwrap();
                let key = internal_key(hash, frame.from, frame.to, &frame.value.to_string());
                items.internals.push((key, by));
            }
        }
        items.internals.len() > before
    }

    /// Whether the transaction is wanted, too.
    fn accepts(&self, log: &Log, spam: &BTreeSet<Address>) -> Option<bool> {
        let rules = &self.plan.compiled.events;
        let view = LogView {
            chain: CHAIN,
            address: log.address.unwrap(),
            topics: log.topics.as_ref().unwrap(),
            data: log.data.as_ref().unwrap(),
            possible_spam: spam.contains(&log.address.unwrap()),
        };
        if rules.is_empty() {
            return Some(false);
        }
        let accepted: Vec<bool> =
            rules.iter().filter(|it| it.accepts(view)).map(|it| it.include_native_txs).collect();
        (!accepted.is_empty()).then(|| accepted.contains(&true))
    }
}

fn internal_key(hash: B256, from: Address, to: Option<Address>, value: &str) -> String {
    format!("{hash} {from} {to:?} {value}")
}

fn words_of(log: &Log) -> Vec<Address> {
    let mut found = vec![log.address.unwrap()];
    let mut words: Vec<Vec<u8>> =
        log.topics.as_ref().unwrap().iter().map(|topic| topic.to_vec()).collect();
    words.extend(log.data.as_ref().unwrap().chunks(32).map(<[u8]>::to_vec));
    for word in words {
        if word.len() == 32 && word[..12] == [0; 12] {
            found.push(Address::from_slice(&word[12..]));
        }
    }
    found
}

/// What the matcher found, in the same form.
pub fn told(found: &[BlockMatch]) -> BTreeMap<Slot, NaiveItems> {
    let one = |found: &BlockMatch| {
        let items = &found.items;
        NaiveItems {
            txs: items.txs.iter().map(|it| (it.hash, it.triggered_by.clone())).collect(),
            logs: items.logs.iter().map(|it| (it.log_index, it.triggered_by.clone())).collect(),
            internals: items
                .internals
                .iter()
                .map(|it| {
                    let value = it.value.to_string();
                    let key = internal_key(it.transaction_hash, it.from, it.to, &value);
                    (key, it.triggered_by.clone())
                })
                .collect(),
        }
    };
    found.iter().map(|found| (found.slot, one(found))).collect()
}
