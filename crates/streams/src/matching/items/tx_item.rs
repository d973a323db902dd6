//! A native transaction of a webhook.

use alloy_primitives::{Address, B256, Bytes, U256};
use model::raw::{Receipt, Tx};

use super::{FieldValue, Item, Tokens, TriggerResults};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct TxItem {
    /// Its place in the block.
    pub place: usize,
    pub hash: B256,
    pub gas: Option<u64>,
    pub gas_price: Option<U256>,
    pub nonce: Option<u64>,
    pub input: Option<Bytes>,
    pub from: Address,
    pub to: Option<Address>,
    pub value: Option<U256>,
    pub kind: u64,
    /// v, r and s.
    pub signature: [Option<U256>; 3],
    pub receipt: TxReceipt,
    pub triggered_by: Vec<Address>,
    pub triggers: TriggerResults,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct TxReceipt {
    pub cumulative_gas_used: Option<u64>,
    pub gas_used: Option<u64>,
    pub contract_address: Option<Address>,
    pub root: Option<B256>,
    pub status: Option<u64>,
}

impl TxItem {
    pub(super) fn new(
        place: usize,
        tx: &Tx,
        receipt: Option<&Receipt>,
        triggered_by: Vec<Address>,
    ) -> Self {
        Self {
            place,
            hash: tx.hash.unwrap_or_default(),
            gas: tx.gas,
            gas_price: tx.gas_price.or(receipt.and_then(|receipt| receipt.effective_gas_price)),
            nonce: tx.nonce,
            input: tx.input.clone(),
            from: tx.from.unwrap_or_default(),
            to: tx.to,
            value: tx.value,
            // Nodes of old times did not say it.
            kind: tx.kind.unwrap_or_default(),
            signature: [tx.v, tx.r, tx.s],
            receipt: receipt.map(TxReceipt::new).unwrap_or_default(),
            triggered_by,
            triggers: TriggerResults::default(),
        }
    }
}

impl TxReceipt {
    fn new(receipt: &Receipt) -> Self {
        Self {
            cumulative_gas_used: receipt.cumulative_gas_used,
            gas_used: receipt.gas_used,
            contract_address: receipt.contract_address,
            root: receipt.root,
            status: receipt.status,
        }
    }
}

impl Item for TxItem {
    const KEYS: &'static [&'static str] = &[
        "hash",
        "gas",
        "gasPrice",
        "nonce",
        "input",
        "transactionIndex",
        "fromAddress",
        "toAddress",
        "value",
        "type",
        "v",
        "r",
        "s",
        "receiptCumulativeGasUsed",
        "receiptGasUsed",
        "receiptContractAddress",
        "receiptRoot",
        "receiptStatus",
        "triggered_by",
    ];

    fn value<'a>(&'a self, key: &str, _tokens: &'a Tokens) -> FieldValue<'a> {
        let [v, r, s] = self.signature;
        match key {
            "hash" => FieldValue::Word(self.hash),
            "gas" => self.gas.into(),
            "gasPrice" => self.gas_price.into(),
            "nonce" => self.nonce.into(),
            "input" => self.input.as_ref().map_or(FieldValue::Null, |it| FieldValue::Bytes(it)),
            "transactionIndex" => FieldValue::Small(self.place as u64),
            "fromAddress" => FieldValue::Address(self.from),
            "toAddress" => self.to.into(),
            "value" => self.value.into(),
            "type" => FieldValue::Small(self.kind),
            "v" => v.into(),
            "r" => r.into(),
            "s" => s.into(),
            "receiptCumulativeGasUsed" => self.receipt.cumulative_gas_used.into(),
            "receiptGasUsed" => self.receipt.gas_used.into(),
            "receiptContractAddress" => self.receipt.contract_address.into(),
            "receiptRoot" => self.receipt.root.into(),
            "receiptStatus" => self.receipt.status.into(),
            "triggered_by" => FieldValue::Addresses(&self.triggered_by),
            _ => FieldValue::Null,
        }
    }
}
