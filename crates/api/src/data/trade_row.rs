//! One sale of NFTs as a row, in both profiles, for the list and for the lowest price.

use alloy_primitives::U256;
use model::facts::Trade;
use store::StoredTx;

use super::row::{Row, put_decimal};
use crate::profile::Profile;

/// Which operation the row is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Listed,
    /// The interface leaves three fields out of the lowest price. The SDKs cannot do without them,
    /// so the live profile has them there, too.
    Lowest,
}

pub struct TradeRow<'a> {
    pub trade: &'a Trade,
    /// In which it was sold.
    pub tx: &'a StoredTx,
    pub verified: bool,
}

impl TradeRow<'_> {
    pub fn write(&self, shape: Shape, profile: Profile, out: &mut Vec<u8>) {
        let (trade, block) = (self.trade, &self.tx.block);
        let whole = shape == Shape::Listed || profile == Profile::Live;
        let mut row = Row::begin(out, profile);
        row.hash("transaction_hash", self.tx.tx.hash);
        row.digits("transaction_index", U256::from(trade.tx_index));
        put_list(row.name("token_ids"), trade.tokens.iter().map(|(id, _)| *id));
        row.address("seller_address", Some(trade.seller));
        row.address("buyer_address", Some(trade.buyer));
        if whole {
            row.address("token_address", Some(trade.contract));
        }
        row.address("marketplace_address", Some(trade.marketplace));
        if whole {
            row.address("price_token_address", Some(trade.currency));
        }
        row.digits("price", trade.price);
        match profile {
            Profile::Spec => {
                let text = crate::date::iso_no_zone(block.timestamp);
                row.text("block_timestamp", Some(&text));
            }
            Profile::Live => row.time("block_timestamp", block.timestamp),
        }
        row.digits("block_number", U256::from(block.number));
        row.hash("block_hash", Some(block.hash));
        if whole {
            self.verified(&mut row, profile);
        }
        if profile == Profile::Live {
            self.ours(&mut row);
        }
        row.end();
    }

    fn verified(&self, row: &mut Row, profile: Profile) {
        match profile {
            Profile::Spec => {
                let text = if self.verified { "true" } else { "false" };
                row.text("verified_collection", Some(text));
            }
            Profile::Live => row.boolean("verified_collection", self.verified),
        }
    }

    /// What we know beyond the documented fields: how many of each token, and how far to trust it.
    fn ours(&self, row: &mut Row) {
        let trade = self.trade;
        row.text("marketplace", Some(trade.market.name()));
        put_list(row.name("token_quantities"), trade.tokens.iter().map(|(_, many)| *many));
        row.boolean("mixed_order", trade.mixed);
        row.boolean("reconciled", trade.reconciled);
    }
}

/// Decimal strings.
fn put_list(out: &mut Vec<u8>, numbers: impl Iterator<Item = U256>) {
    out.push(b'[');
    for (i, number) in numbers.enumerate() {
        out.extend_from_slice(if i > 0 { b",\"" } else { b"\"" });
        put_decimal(out, number);
        out.push(b'"');
    }
    out.push(b']');
}
