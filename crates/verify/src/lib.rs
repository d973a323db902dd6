//! Recomputes what can be recomputed of a block before it is believed.
//!
//! In: a block as a node or file gave it. Out: a `Proof` of what held, or the `Lie` that was found.
//! Forms we do not model (L2 transaction types, AuRa seals, state-sync transactions) lower the proof
//! and are never a reason to refuse; a modelled form that does not add up always is.

mod alone;
mod blank;
mod blob_price;
mod checks;
mod header;
mod header_hash;
mod made_in_tx;
mod raw;
mod receipt_encoding;
mod receipt_fields;
mod receipts;
mod root;
mod sender;
mod senders;
mod size;
mod trace_tree;
mod traces;
mod transactions;
mod tx_fields;

use model::proof::Proof;
use model::raw::tx_rlp::encode_signed;
use model::raw::{Block, TraceForm};

pub use alone::{verify_lone_header, verify_receipts, verify_transaction};
use checks::Checks;
pub use checks::{Lie, Rules, Senders};
pub use header_hash::encode as encode_header;
pub use raw::{raw_block, raw_header, raw_receipts, raw_transaction};
pub use receipt_encoding::encode_receipt;
pub use sender::{Signer, signer_by_any_signature as signer};
pub use traces::{BALANCE, has_every_root, is_about_traces};

pub fn verify(block: &Block, rules: &Rules) -> Result<Proof, Lie> {
    let mut proof = Proof::default();
    let check = Checks::new(block, rules);
    let header = check.header()?;
    if header {
        proof.add(Proof::HEADER);
    }
    if check.transactions(header)? {
        proof.add(Proof::TRANSACTIONS);
    }
    if check.receipts()? {
        proof.add(Proof::RECEIPTS);
    }
    if check.withdrawals(header)? {
        proof.add(Proof::WITHDRAWALS);
    }
    if check.senders()? {
        proof.add(Proof::SENDERS);
    }
    if check.traces()? {
        proof.add(Proof::TRACES);
        proof.add(block.trace_form.map_or(Proof::default(), TraceForm::proof));
    }
    Ok(proof)
}

/// The header alone: true where its hash was recomputed, false where its form is not modelled.
pub fn verify_header(block: &Block, rules: &Rules) -> Result<bool, Lie> {
    Checks::new(block, rules).header()
}

/// The block in its own encoding, as far as it is modelled: for comparing sizes.
pub fn encoded(block: &Block) -> Vec<u8> {
    let mut out = header_hash::encode(&block.header).unwrap_or_default();
    for (tx, receipt) in block.txs.iter().zip(&block.receipts) {
        let _ = encode_signed(tx, &mut out);
        if let Some(receipt) = receipt {
            let bloom = receipt.logs_bloom.unwrap_or_default();
            let _ = receipt_encoding::encode_receipt(tx, receipt, &bloom, &mut out);
        }
    }
    out
}
