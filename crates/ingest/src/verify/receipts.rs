//! Receipts: root, blooms, gas, log numbering, and that each belongs to its transaction.

use alloy_primitives::{Bloom, U256};
use model::bloom::BloomMaker;
use model::raw::{Receipt, Tx};

use super::checks::{Checks, Lie, Senders, show};
use super::receipt_encoding::encode_receipt;
use super::root::ordered_root;
use super::sender::is_unsigned;

impl Checks<'_> {
    /// True when all receipts are there and add up to the header's root.
    pub(super) fn receipts(&self) -> Result<bool, Lie> {
        if self.block.receipts.iter().all(Option::is_none) && !self.block.txs.is_empty() {
            return Ok(false);
        }
        self.belonging()?;
        if !self.block.has_all_receipts() {
            return Ok(false);
        }
        let modelled = self.is_modelled();
        let numbering = self.gas_and_log_numbers();
        if modelled {
            numbering?;
        } else if numbering.is_err() {
            return Ok(false);
        }
        self.blooms_and_root(modelled)
    }

    fn all(&self) -> impl Iterator<Item = (&Tx, &Receipt)> {
        self.block
            .txs
            .iter()
            .zip(&self.block.receipts)
            .filter_map(|(tx, r)| Some((tx, r.as_ref()?)))
    }

    /// Whether every receipt is of a form whose encoding is known to be the common one.
    fn is_modelled(&self) -> bool {
        self.is_strict()
            || self.block.txs.iter().all(|tx| tx.kind.unwrap_or(0) <= 4 && !is_unsigned(tx))
    }

    fn belonging(&self) -> Result<(), Lie> {
        for (i, (tx, receipt)) in self.all().enumerate() {
            let block = self.block;
            let agrees = receipt.block_hash.is_none_or(|h| h == block.hash)
                && receipt.block_number.is_none_or(|n| n == block.number)
                && receipt.transaction_hash == tx.hash
                && receipt.from.is_none_or(|f| Some(f) == tx.from)
                && (receipt.to.is_none() || receipt.to == tx.to)
                && receipt.kind.is_none_or(|k| k == tx.kind.unwrap_or(0));
            if !agrees {
                let expected = format!("receipt of {}", tx.hash.unwrap_or_default());
                let got = format!("receipt {i} of {:?}", receipt.transaction_hash);
                return Err(self.lie("receipt's transaction", expected, got));
            }
            self.derived(tx, receipt)?;
        }
        Ok(())
    }

    /// What a receipt adds on its own account follows from the transaction; only on chains with
    /// Ethereum's own rules, since L2s price gas in their own ways.
    fn derived(&self, tx: &Tx, receipt: &Receipt) -> Result<(), Lie> {
        if !self.is_strict() {
            return Ok(());
        }
        if let (Some(got), Some(expected)) = (receipt.effective_gas_price, self.price(tx))
            && got != expected
        {
            return Err(self.lie("effective gas price", expected, got));
        }
        if let (Some(got), Some(expected)) = (tx.gas_price, self.price(tx))
            && got != expected
        {
            return Err(self.lie("transaction gas price", expected, got));
        }
        if let (Some(got), None, Some(from), Some(nonce)) =
            (receipt.contract_address, tx.to, tx.from, tx.nonce)
            && got != from.create(nonce)
        {
            return Err(self.lie("created contract", from.create(nonce), got));
        }
        Ok(())
    }

    /// What a unit of gas cost the sender.
    fn price(&self, tx: &Tx) -> Option<U256> {
        if tx.kind.unwrap_or(0) < 2 {
            return tx.gas_price;
        }
        let base = self.block.header.base_fee_per_gas?;
        let offered = base.checked_add(tx.max_priority_fee_per_gas?)?;
        Some(offered.min(tx.max_fee_per_gas?))
    }

    fn gas_and_log_numbers(&self) -> Result<(), Lie> {
        let mut gas = 0u64;
        let mut next_log = 0u64;
        for (i, (tx, receipt)) in self.all().enumerate() {
            if receipt.transaction_index.is_some_and(|n| n != i as u64) {
                return Err(self.lie(
                    "receipt index",
                    i,
                    format!("{:?}", receipt.transaction_index),
                ));
            }
            let cumulative = receipt.cumulative_gas_used.unwrap_or_default();
            let used = cumulative.wrapping_sub(gas);
            if cumulative < gas || receipt.gas_used.is_some_and(|g| g != used) {
                let got = format!("{:?}, cumulative {cumulative} after {gas}", receipt.gas_used);
                return Err(self.lie("gas used", used, got));
            }
            gas = cumulative;
            for log in receipt.logs.iter().flatten() {
                let agrees = log.log_index.is_none_or(|n| n == next_log)
                    && log.transaction_hash.is_none_or(|h| Some(h) == tx.hash)
                    && log.transaction_index.is_none_or(|n| n == i as u64)
                    && log.block_hash.is_none_or(|h| h == self.block.hash)
                    && log.block_number.is_none_or(|n| n == self.block.number)
                    && log.removed != Some(true);
                if !agrees {
                    let got = format!("log {:?} of {:?}", log.log_index, log.transaction_hash);
                    return Err(self.lie("log place", format!("log {next_log}"), got));
                }
                next_log += 1;
            }
        }
        match self.block.header.gas_used {
            Some(total) if total != gas => Err(self.lie("block gas used", total, gas)),
            _ => Ok(()),
        }
    }

    fn blooms_and_root(&self, modelled: bool) -> Result<bool, Lie> {
        let mut maker = BloomMaker::default();
        let mut whole = Bloom::ZERO;
        let mut encoded = Vec::with_capacity(self.block.txs.len());
        for (tx, receipt) in self.all() {
            let bloom = match receipt.logs_bloom {
                // The root covers it: whoever changes a bloom changes the root as well.
                Some(given) if modelled && self.rules.senders == Senders::Sample => given,
                _ => maker.of_logs(receipt.logs.as_deref().unwrap_or_default()),
            };
            if receipt.logs_bloom.is_some_and(|b| b != bloom) {
                let expected = format!("that of its logs ({})", tx.hash.unwrap_or_default());
                if modelled {
                    return Err(self.lie("receipt's logs bloom", expected, "another"));
                }
                // The store makes a proven receipt's bloom from its logs again.
                return Ok(false);
            }
            whole.accrue_bloom(&bloom);
            let mut bytes = Vec::with_capacity(512);
            if encode_receipt(receipt, &bloom, &mut bytes).is_none() {
                if self.is_strict() {
                    return Err(self.lie(
                        "receipt",
                        "status or root, gas and logs",
                        "fields missing",
                    ));
                }
                return Ok(false);
            }
            encoded.push(bytes);
        }
        let computed = ordered_root(&encoded);
        if self.block.header.receipts_root != Some(computed) {
            if modelled {
                let told = show(self.block.header.receipts_root);
                return Err(self.lie("receipts root", told, computed));
            }
            return Ok(false);
        }
        if self.block.header.logs_bloom.is_some_and(|b| b != whole) && modelled {
            return Err(self.lie("logs bloom", "that of the receipts' logs", "another"));
        }
        Ok(true)
    }
}
