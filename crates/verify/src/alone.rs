//! Objects that come alone: a header or a transaction without the rest of its block, receipts after it.
//!
//! Each says whether it was proven (`Ok(true)`), cannot be (`Ok(false)`: a form that is not modelled), or
//! contradicts itself or what was asked for.

use model::chain::Verification;
use model::raw::tx_rlp::hash_of;
use model::raw::{Block, Header, Tx};

use super::checks::{Checks, Lie, Rules};
use super::sender::{Signer, is_unsigned, signer};

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
    let knows_all_forms = rules.verification == Verification::Full;
    let Some(hash) = hash_of(tx).filter(|_| knows_all_forms || !is_unsigned(tx)) else {
        return Ok(false);
    };
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

/// The receipts that the block has been given, against its transactions and its root; the block itself must have been
/// proven. `Ok(true)` where all of them are there and add up.
pub fn verify_receipts(block: &Block, rules: &Rules) -> Result<bool, Lie> {
    Checks::new(block, rules).receipts()
}
