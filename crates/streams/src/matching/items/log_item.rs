//! A log of a webhook.

use alloy_primitives::{Address, B256, Bytes};
use model::raw::Log;

use super::{FieldValue, Item, Tokens, TriggerResults};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogItem {
    /// Of its transaction in the block.
    pub tx_place: usize,
    pub log_index: u64,
    pub transaction_hash: B256,
    pub address: Address,
    pub data: Bytes,
    pub topics: Vec<B256>,
    pub possible_spam: bool,
    pub triggered_by: Vec<Address>,
    pub triggers: TriggerResults,
}

impl LogItem {
    pub(super) fn new(log: &Log, log_index: u64) -> Self {
        Self {
            log_index: log.log_index.unwrap_or(log_index),
            address: log.address.unwrap_or_default(),
            data: log.data.clone().unwrap_or_default(),
            topics: log.topics.clone().unwrap_or_default(),
            ..Self::default()
        }
    }

    fn topic(&self, n: usize) -> FieldValue<'_> {
        self.topics.get(n).copied().into()
    }
}

impl Item for LogItem {
    const KEYS: &'static [&'static str] = &[
        "logIndex",
        "transactionHash",
        "address",
        "data",
        "topic0",
        "topic1",
        "topic2",
        "topic3",
        "triggered_by",
    ];

    fn value<'a>(&'a self, key: &str, _tokens: &'a Tokens) -> FieldValue<'a> {
        match key {
            "logIndex" => FieldValue::Small(self.log_index),
            "transactionHash" => FieldValue::Word(self.transaction_hash),
            "address" => FieldValue::Address(self.address),
            "data" => FieldValue::Bytes(&self.data),
            "topic0" => self.topic(0),
            "topic1" => self.topic(1),
            "topic2" => self.topic(2),
            "topic3" => self.topic(3),
            "triggered_by" => FieldValue::Addresses(&self.triggered_by),
            _ => FieldValue::Null,
        }
    }
}
