//! One native transaction as a row of the wallet operation, in both profiles.

use alloy_primitives::{Address, U256};
use model::chain::Coin;
use model::raw::{Frame, Receipt, Tx};
use store::BlockRef;

use super::row::{Row, scaled};
use crate::labels::Labels;
use crate::profile::Profile;

/// What a frame below a failed one is marked with: it ran well, and was rolled back.
const UNDONE: &str = "undone: an enclosing call failed";

/// The fields that name an address: its label, and whose it is.
const FROM: [&str; 3] = ["from_address_label", "from_address_entity", "from_address_entity_logo"];
const TO: [&str; 3] = ["to_address_label", "to_address_entity", "to_address_entity_logo"];

pub struct WalletRow<'a> {
    pub block: &'a BlockRef,
    pub tx: &'a Tx,
    pub receipt: Option<&'a Receipt>,
    /// Present exactly when internal transactions were asked for.
    pub frames: Option<&'a [Frame]>,
    pub labels: &'a Labels,
    pub coin: &'a Coin,
}

impl WalletRow<'_> {
    pub fn write(&self, profile: Profile, out: &mut Vec<u8>) {
        let (tx, receipt) = (self.tx, self.receipt);
        let mut row = Row::begin(out, profile);
        row.hash("hash", tx.hash);
        row.number("nonce", tx.nonce);
        row.number("transaction_index", tx.transaction_index);
        row.address("from_address", tx.from);
        row.address("to_address", tx.to);
        self.names(&mut row, profile);
        row.amount("value", tx.value);
        row.number("gas", tx.gas);
        row.amount("gas_price", self.gas_price());
        row.data("input", tx.input.as_ref().map_or(&[][..], |input| input));
        row.number("receipt_cumulative_gas_used", receipt.and_then(|r| r.cumulative_gas_used));
        row.number("receipt_gas_used", receipt.and_then(|r| r.gas_used));
        row.address("receipt_contract_address", receipt.and_then(|r| r.contract_address));
        row.hash("receipt_root", receipt.and_then(|r| r.root));
        row.number("receipt_status", receipt.and_then(|r| r.status));
        if profile == Profile::Live {
            row.text("transaction_fee", self.fee().as_deref());
            row.null("method_label");
        }
        row.time("block_timestamp", self.block.timestamp);
        row.number("block_number", Some(self.block.number));
        row.hash("block_hash", Some(self.block.hash));
        if let Some(frames) = self.frames {
            let out = row.name("internal_transactions");
            model::raw::json_value::write_list(frames, out, |frame, out| {
                self.internal(frame, profile, out)
            });
        }
        row.end();
    }

    fn names(&self, row: &mut Row, profile: Profile) {
        for ([label, entity, logo], address) in [(FROM, self.tx.from), (TO, self.tx.to)] {
            let known = address.and_then(|a: Address| self.labels.get(&a));
            row.text(label, known.and_then(|l| l.label.as_deref()));
            if profile == Profile::Live {
                row.text(entity, known.and_then(|l| l.entity.as_deref()));
                row.text(logo, known.and_then(|l| l.logo.as_deref()));
            }
        }
    }

    /// What was paid; for a node that leaves it out, what the sender offered.
    fn gas_price(&self) -> Option<U256> {
        let paid = self.receipt.and_then(|r| r.effective_gas_price);
        self.tx.gas_price.or(paid).or(self.tx.max_fee_per_gas)
    }

    fn fee(&self) -> Option<String> {
        let receipt = self.receipt?;
        let price = receipt.effective_gas_price.or(self.tx.gas_price)?;
        let fee = price.checked_mul(U256::from(receipt.gas_used?))?;
        Some(scaled(fee, self.coin.decimals))
    }

    fn internal(&self, frame: &Frame, profile: Profile, out: &mut Vec<u8>) {
        let mut row = Row::begin(out, profile);
        row.hash("transaction_hash", self.tx.hash);
        row.integer("block_number", self.block.number);
        row.hash("block_hash", Some(self.block.hash));
        row.text("type", Some(frame.kind.name()));
        row.address("from", Some(frame.from));
        // A failed creation made no address, and SDKs cannot read a null here.
        row.address("to", Some(frame.to.unwrap_or_default()));
        row.digits("value", frame.value);
        row.digits("gas", U256::from(frame.gas));
        row.digits("gas_used", U256::from(frame.gas_used));
        row.data("input", &frame.input);
        row.data("output", &frame.output);
        match &frame.error {
            Some(error) => row.text("error", Some(error)),
            None if frame.undone => row.text("error", Some(UNDONE)),
            None => {}
        }
        row.end();
    }
}
