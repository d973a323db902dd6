//! Objects that come alone, without the rest of their block: a header, a transaction, a block's receipts.
//!
//! Each says whether it was proven (`Ok(true)`), cannot be (`Ok(false)`: a form that is not modelled), or
//! contradicts itself or what was asked for.

use alloy_primitives::{B256, keccak256};
use model::bloom::BloomMaker;
use model::chain::Verification;
use model::raw::{Block, Header, Receipt, Tx};

use super::checks::{Checks, Lie, Rules};
use super::receipt_encoding::encode_receipt;
use super::root::ordered_root;
use super::sender::{Signer, is_unsigned, signer};
use super::tx_encoding::encode_signed;

/// A header as a node gives it with the hashes of its transactions, or with none.
pub fn verify_lone_header(mut header: Header, rules: &Rules) -> Result<bool, Lie> {
    // Hashes in the place of transactions are no field that the header's hash could cover.
    header.extras.retain(|(name, _)| name.as_ref() != "transactions");
    header.transactions = None;
    let (number, hash) = (header.number.unwrap_or_default(), header.hash.unwrap_or_default());
    let block = Block { number, hash, header, ..Block::default() };
    Checks::new(&block, rules).header()
}

/// The hash is that of its fields, and its sender signed it.
pub fn verify_transaction(tx: &Tx, rules: &Rules) -> Result<bool, Lie> {
    let lie = |check, expected: String, got: String| Lie {
        block: tx.block_number.unwrap_or_default(),
        check,
        expected,
        got,
    };
    let told = tx.hash.unwrap_or_default();
    let mut bytes = Vec::with_capacity(256);
    let knows_all_forms = rules.verification == Verification::Full;
    if encode_signed(tx, &mut bytes).is_none() || is_unsigned(tx) && !knows_all_forms {
        return Ok(false);
    }
    let hash = keccak256(&bytes);
    if hash != told {
        return Err(lie("transaction hash", told.to_string(), hash.to_string()));
    }
    match (signer(tx), tx.from) {
        (Signer::Is(signer), Some(from)) if signer != from => {
            // Chains with rules of their own may know other senders.
            if rules.verification == Verification::Lenient {
                return Ok(false);
            }
            Err(lie("sender", signer.to_string(), from.to_string()))
        }
        (Signer::Is(_), Some(_)) => Ok(true),
        _ => Ok(false),
    }
}

/// They add up to the root of a header that was proven.
pub fn verify_receipts(receipts: &[Receipt], header: &Header) -> Result<bool, Lie> {
    let Some(root) = header.receipts_root else { return Ok(false) };
    let is_modelled = |receipt: &Receipt| receipt.kind.is_some_and(|kind| kind <= 4);
    if !receipts.iter().all(is_modelled) {
        return Ok(false);
    }
    let (mut maker, tx) = (BloomMaker::default(), Tx::default());
    let mut encoded = Vec::with_capacity(receipts.len());
    for receipt in receipts {
        let bloom = maker.of_logs(receipt.logs.as_deref().unwrap_or_default());
        let mut bytes = Vec::with_capacity(512);
        // A status in the place of a root is honest where the node does not keep old roots.
        if receipt.root.is_none() && receipt.status.is_none()
            || encode_receipt(&tx, receipt, &bloom, &mut bytes).is_none()
        {
            return Ok(false);
        }
        encoded.push(bytes);
    }
    let computed: B256 = ordered_root(&encoded);
    // Before Byzantium a receipt has a state's root, which not every node keeps.
    let has_statuses = receipts.iter().all(|receipt| receipt.status.is_some());
    if computed == root {
        return Ok(true);
    }
    if has_statuses && header.base_fee_per_gas.is_none() {
        return Ok(false);
    }
    let block = header.number.unwrap_or_default();
    let (expected, got) = (root.to_string(), computed.to_string());
    Err(Lie { block, check: "receipts root", expected, got })
}
