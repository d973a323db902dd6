//! An internal transaction of a webhook: a call inside a transaction that moved native coin.

use alloy_primitives::{Address, B256, U256};
use model::raw::Frame;

use super::{FieldValue, Item, Tokens, TriggerResults};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct InternalItem {
    /// Of its transaction in the block.
    pub tx_place: usize,
    pub from: Address,
    pub to: Option<Address>,
    pub value: U256,
    pub gas: u64,
    pub transaction_hash: B256,
    pub triggered_by: Vec<Address>,
    pub triggers: TriggerResults,
}

impl InternalItem {
    pub(super) fn new(frame: &Frame) -> Self {
        Self {
            from: frame.from,
            to: frame.to,
            value: frame.value,
            gas: frame.gas,
            ..Self::default()
        }
    }
}

impl Item for InternalItem {
    const KEYS: &'static [&'static str] =
        &["from", "to", "value", "gas", "transactionHash", "triggered_by"];

    fn value<'a>(&'a self, key: &str, _tokens: &'a Tokens) -> FieldValue<'a> {
        match key {
            "from" => FieldValue::Address(self.from),
            "to" => self.to.into(),
            "value" => FieldValue::Large(self.value),
            "gas" => FieldValue::Small(self.gas),
            "transactionHash" => FieldValue::Word(self.transaction_hash),
            "triggered_by" => FieldValue::Addresses(&self.triggered_by),
            _ => FieldValue::Null,
        }
    }
}
