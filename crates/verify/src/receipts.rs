//! Receipts: root, blooms, gas, log numbering. What each says of its transaction is in `receipt_fields`.

use alloy_primitives::Bloom;
use model::bloom::BloomMaker;
use model::chain::Verification;
use model::raw::tx_rlp::is_deposit;
use model::raw::{Receipt, Tx};

use super::blank::Blank;
use super::checks::{Checks, Lie, Senders, show};
use super::receipt_encoding::encode_receipt;
use super::root::ordered_root;
use super::sender::is_unsigned;

/// Chains that are older than Byzantium, and the first block of it: before that a receipt has the state's root
/// after its transaction in the place of a status.
const BYZANTIUM: [(u64, u64); 1] = [(1, 4_370_000)];

impl Checks<'_> {
    /// True when all receipts are there and add up to the header's root.
    pub(super) fn receipts(&self) -> Result<bool, Lie> {
        if self.block.receipts.iter().all(Option::is_none) && !self.block.txs.is_empty() {
            return Ok(false);
        }
        let fields_hold = self.receipt_fields()?;
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
        Ok(self.blooms_and_root(modelled)? && fields_hold)
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
        let is_modelled = |tx: &Tx| match self.rules.verification {
            Verification::OpStack if is_deposit(tx) => true,
            _ => tx.kind.unwrap_or(0) <= 4 && !is_unsigned(tx),
        };
        self.knows_all_forms() || self.block.txs.iter().all(is_modelled)
    }

    fn gas_and_log_numbers(&self) -> Result<(), Lie> {
        let mut gas = 0u64;
        let mut next_log = 0u64;
        for (_, receipt) in self.all() {
            let cumulative = receipt.cumulative_gas_used.unwrap_or_default();
            let used = cumulative.wrapping_sub(gas);
            if cumulative < gas || receipt.gas_used.is_some_and(|g| g != used) {
                let got = format!("{:?}, cumulative {cumulative} after {gas}", receipt.gas_used);
                return Err(self.lie("gas used", used, got));
            }
            gas = cumulative;
            for log in receipt.logs.iter().flatten() {
                if log.log_index.is_some_and(|n| n != next_log) {
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

    /// Some nodes do not keep the roots of such receipts, and write a status instead: honest, and nothing that the
    /// header's root could be held against.
    fn is_without_roots(&self) -> bool {
        let chain = BYZANTIUM.iter().find(|(chain, _)| *chain == self.rules.chain_id);
        chain.is_some_and(|(_, first)| self.block.number < *first)
            // A dev chain that bears the chain's id has the newest fork from its first block on.
            && self.fork_fields == Some(0)
            && self.all().all(|(_, receipt)| receipt.root.is_blank() && receipt.status.is_some())
    }

    fn blooms_and_root(&self, modelled: bool) -> Result<bool, Lie> {
        let is_without_roots = self.is_without_roots();
        let mut maker = BloomMaker::default();
        let mut whole = Bloom::ZERO;
        let mut encoded = Vec::with_capacity(self.block.txs.len());
        for (tx, receipt) in self.all() {
            let bloom = match receipt.logs_bloom {
                // The root covers it: whoever changes a bloom changes the root as well.
                Some(given)
                    if modelled && !is_without_roots && self.rules.senders == Senders::Sample =>
                {
                    given
                }
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
            if encode_receipt(tx, receipt, &bloom, &mut bytes).is_none() {
                if self.knows_all_forms() {
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
        if self.block.header.logs_bloom.is_some_and(|b| b != whole) && is_without_roots {
            return Err(self.lie("logs bloom", "that of the receipts' logs", "another"));
        }
        let computed = ordered_root(&encoded);
        if is_without_roots && !encoded.is_empty() {
            return Ok(false);
        }
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
