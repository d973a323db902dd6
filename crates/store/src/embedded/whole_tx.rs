//! What of a transaction is kept apart from it, or not at all, because it follows from the rest. The same for every
//! engine.

use model::proof::Proof;
use model::raw::{Frame, Log, Receipt};

/// The root repeats the transaction and is not kept; a block read back from the store has none, so
/// nothing may depend on it.
pub fn below_root(frames: &[Frame]) -> &[Frame] {
    match frames {
        [root, below @ ..] if root.path.is_empty() => below,
        all => all,
    }
}

/// In a verified block a receipt's bloom is that of its logs, so it need not be kept.
pub fn leave_bloom_out(receipt: &mut Receipt, proof: Proof) -> bool {
    let has_logs = receipt.logs.as_ref().is_some_and(|logs| !logs.is_empty());
    // Chains that do not fill blooms in leave them empty beside logs.
    let of_logs = proof.has(Proof::RECEIPTS)
        && receipt.logs_bloom.is_some_and(|bloom| bloom.is_zero() != has_logs);
    if of_logs {
        receipt.logs_bloom = None;
    }
    of_logs
}

/// Logs are a row of their own; an empty list stays where it is.
pub fn take_logs(receipt: &mut Receipt) -> Option<Vec<Log>> {
    receipt.logs.take_if(|logs| !logs.is_empty())
}
