//! What a receipt and its logs say beside what the receipts root covers: where they stand, what was paid,
//! what was made, and fields that belong to other types.

use alloy_primitives::{Address, U256};
use model::raw::tx_rlp::{DEPOSIT, is_deposit};
use model::raw::{Log, Receipt, Tx};

use super::blank::Blank;
use super::blob_price::is_blob_price;
use super::checks::{Checks, Lie};

const BLOB: u64 = 3;
/// Null in one of these means that the log is in no block yet.
const LOG_PLACE: [&str; 5] =
    ["blockHash", "blockNumber", "transactionHash", "transactionIndex", "logIndex"];
const GAS_PER_BLOB: u64 = 131_072;

impl Checks<'_> {
    /// True when every receipt that is there says what follows from its transaction and its block.
    pub(super) fn receipt_fields(&self) -> Result<bool, Lie> {
        let mut hold = true;
        for (i, (tx, receipt)) in self.block.txs.iter().zip(&self.block.receipts).enumerate() {
            let Some(receipt) = receipt else { continue };
            self.belonging(i, tx, receipt)?;
            hold &= self.readable_receipt(receipt)?
                && self.outcome(receipt)?
                && self.price_told(tx, receipt)?
                && self.created(tx, receipt)?
                && self.blob_fields(tx, receipt)?
                && self.deposit_fields(tx, receipt)?
                && self.logs(i, tx, receipt)?;
        }
        Ok(hold)
    }

    fn belonging(&self, i: usize, tx: &Tx, receipt: &Receipt) -> Result<(), Lie> {
        let block = self.block;
        let agrees = receipt.block_hash.is_none_or(|h| h == block.hash)
            && receipt.block_number.is_none_or(|n| n == block.number)
            && receipt.transaction_hash == tx.hash
            && receipt.transaction_index.is_none_or(|n| n == i as u64)
            && receipt.from.is_none_or(|f| Some(f) == tx.from)
            && (receipt.to == tx.to || receipt.to.is_none() && !receipt.is_null("to"))
            && receipt.kind.is_none_or(|k| k == tx.kind.unwrap_or(0));
        let names = ["blockHash", "blockNumber", "transactionIndex"];
        if agrees && !names.into_iter().any(|field| receipt.is_null(field)) {
            return Ok(());
        }
        let expected = format!("receipt {i}, of {}", tx.hash.unwrap_or_default());
        let got =
            format!("receipt {:?} of {:?}", receipt.transaction_index, receipt.transaction_hash);
        Err(self.lie("receipt's transaction", expected, got))
    }

    fn readable_receipt(&self, receipt: &Receipt) -> Result<bool, Lie> {
        let in_logs = receipt.logs.iter().flatten().find_map(|log| log.unreadable());
        match receipt.unreadable().or(in_logs) {
            Some(field) => self.unreadable("a receipt", field),
            None => Ok(true),
        }
    }

    /// A status since Byzantium, before it the state's root: never both.
    fn outcome(&self, receipt: &Receipt) -> Result<bool, Lie> {
        match receipt.status {
            Some(status @ 2..) => self.contradiction("receipt status", "0 or 1", status),
            Some(_) if !receipt.root.is_blank() => {
                let root = receipt.root.unwrap_or_default();
                self.contradiction("receipt root", "none beside a status", root)
            }
            _ => Ok(true),
        }
    }

    /// Chains with rules of their own price gas in their own ways.
    fn price_told(&self, tx: &Tx, receipt: &Receipt) -> Result<bool, Lie> {
        match (receipt.effective_gas_price, self.price(tx)) {
            (Some(got), Some(expected)) if got != expected && self.is_strict() => {
                Err(self.lie("effective gas price", expected, got))
            }
            _ => Ok(true),
        }
    }

    /// A contract's address is there exactly where one was to be made, and follows from the sender.
    fn created(&self, tx: &Tx, receipt: &Receipt) -> Result<bool, Lie> {
        let kind = tx.kind.unwrap_or(0);
        if kind > 4 && !is_deposit(tx) {
            return Ok(true);
        }
        let nonce = if is_deposit(tx) { receipt.deposit_nonce.or(tx.nonce) } else { tx.nonce };
        let expected: Option<Address> = match (tx.to, tx.from, nonce) {
            (None, Some(from), Some(nonce)) => Some(from.create(nonce)),
            _ => None,
        };
        let got = receipt.contract_address;
        if got == expected || expected.is_none() && got.is_blank() {
            return Ok(true);
        }
        let show =
            |address: Option<Address>| address.map_or("none".to_owned(), |it| it.to_string());
        self.contradiction("created contract", show(expected), show(got))
    }

    fn blob_fields(&self, tx: &Tx, receipt: &Receipt) -> Result<bool, Lie> {
        // A network may have another schedule than those we know: then the price is not proven.
        let forks = self.fork_fields.unwrap_or_default();
        let fits = |price| is_blob_price(&self.block.header, forks, price);
        if tx.kind != Some(BLOB) {
            // What blobs cost in the block, or the least that they can, as if somebody had paid it.
            let is_harmless = |price: U256| price == U256::ONE || fits(price);
            if receipt.blob_gas_used.is_blank()
                && (receipt.blob_gas_price.is_blank()
                    || receipt.blob_gas_price.is_some_and(is_harmless))
            {
                return Ok(true);
            }
            return self.contradiction("blob gas", "none without blobs", "some");
        }
        let blobs = tx.blob_versioned_hashes.as_ref().map_or(0, Vec::len) as u64;
        if receipt.blob_gas_used.is_some_and(|used| used != blobs * GAS_PER_BLOB) {
            let got = receipt.blob_gas_used.unwrap_or_default();
            return self.contradiction("blob gas used", blobs * GAS_PER_BLOB, got);
        }
        Ok(receipt.blob_gas_price.is_none_or(fits))
    }

    fn deposit_fields(&self, tx: &Tx, receipt: &Receipt) -> Result<bool, Lie> {
        let (nonce, version) = (receipt.deposit_nonce, receipt.deposit_receipt_version);
        let kind = tx.kind.unwrap_or(0);
        if kind <= 4 && !(nonce.is_blank() && version.is_blank()) {
            return self.contradiction("deposit fields", "none without a deposit", "some");
        }
        let differs = nonce.is_some() && tx.nonce.is_some() && nonce != tx.nonce;
        if kind == DEPOSIT && is_deposit(tx) && differs {
            let got = tx.nonce.unwrap_or_default();
            return self.contradiction("deposit nonce", nonce.unwrap_or_default(), got);
        }
        Ok(true)
    }

    /// Each log says where it stands; numbers within the block are counted elsewhere, where all are there.
    fn logs(&self, i: usize, tx: &Tx, receipt: &Receipt) -> Result<bool, Lie> {
        let block = self.block;
        let agrees = |log: &Log| {
            log.transaction_hash.is_none_or(|h| Some(h) == tx.hash)
                && log.transaction_index.is_none_or(|n| n == i as u64)
                && log.block_hash.is_none_or(|h| h == block.hash)
                && log.block_number.is_none_or(|n| n == block.number)
                && log.block_timestamp.is_none_or(|t| t == block.timestamp)
                && log.removed != Some(true)
                && !LOG_PLACE.into_iter().any(|field| log.is_null(field))
        };
        match receipt.logs.iter().flatten().find(|log| !agrees(log)) {
            Some(log) => {
                let expected = format!("a log of {}", tx.hash.unwrap_or_default());
                let got = format!("log {:?} of {:?}", log.log_index, log.transaction_hash);
                Err(self.lie("log place", expected, got))
            }
            None => Ok(true),
        }
    }
}
