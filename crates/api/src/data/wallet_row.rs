//! One native transaction as a row of the wallet operation, in both profiles.

use alloy_primitives::{Address, U256};
use model::chain::Coin;
use model::raw::json_value::JsonValue;
use model::raw::{Frame, Receipt, Tx};
use store::BlockRef;

use super::frame_gas::gas_used;
use super::page_labels::PageLabels;
use super::row::{Row, scaled};
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
    pub labels: &'a PageLabels<'a>,
    pub coin: &'a Coin,
}

impl WalletRow<'_> {
    pub fn write(&self, profile: Profile, out: &mut Vec<u8>) {
        let (tx, receipt) = (self.tx, self.receipt);
        // The SDKs throw where gas is null. No transaction uses none, so a reader can tell; a header says it, too.
        let unknown = (profile == Profile::Live).then_some(U256::ZERO);
        let mut row = Row::begin(out, profile);
        row.hash("hash", tx.hash);
        row.number("nonce", tx.nonce);
        row.number("transaction_index", tx.transaction_index);
        row.address("from_address", tx.from);
        row.address("to_address", tx.to);
        self.names(&mut row, profile);
        row.amount("value", tx.value);
        row.number("gas", tx.gas);
        row.amount("gas_price", self.gas_price().or(unknown));
        row.data("input", tx.input.as_ref().map_or(&[][..], |input| input));
        let cumulative = receipt.and_then(|r| r.cumulative_gas_used).map(U256::from);
        row.amount("receipt_cumulative_gas_used", cumulative.or(unknown));
        let gas_used = receipt.and_then(|r| r.gas_used).map(U256::from);
        row.amount("receipt_gas_used", gas_used.or(unknown));
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
            let known = address.and_then(|a: Address| self.labels.of_operator(&a));
            row.text(label, address.and_then(|a| self.labels.label(&a)));
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

    /// All that the sender paid: for gas, for blobs, and for the data on the chain below.
    fn fee(&self) -> Option<String> {
        let receipt = self.receipt?;
        let price = receipt.effective_gas_price.or(self.tx.gas_price)?;
        let gas = price.checked_mul(U256::from(receipt.gas_used?))?;
        let blobs = match (receipt.blob_gas_price, receipt.blob_gas_used) {
            (Some(price), Some(used)) => price.checked_mul(U256::from(used))?,
            _ => U256::ZERO,
        };
        let fee = gas.checked_add(blobs)?.checked_add(l1_fee(receipt).unwrap_or_default())?;
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
        row.digits("gas_used", U256::from(gas_used(frame)));
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

/// Of an OP-stack receipt, in wei.
fn l1_fee(receipt: &Receipt) -> Option<U256> {
    let (_, text) = receipt.extras.iter().find(|(name, _)| &**name == "l1Fee")?;
    U256::read_json(text.as_bytes()).map(|(fee, _)| fee)
}
