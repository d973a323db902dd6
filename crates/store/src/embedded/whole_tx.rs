//! What of a transaction is kept apart from it, or not at all, because it follows from the rest. The same for every
//! engine.

use alloy_primitives::{Address, Bytes, U256};
use model::proof::Proof;
use model::raw::{Block, Frame, Log, Receipt, Tx};

/// The root repeats the transaction and is not kept among the frames; those of a block read back from the store have none, so
/// nothing may depend on it.
pub fn below_root(frames: &[Frame]) -> &[Frame] {
    match frames {
        [root, below @ ..] if root.path.is_empty() => below,
        all => all,
    }
}

/// Of every root that which does not follow from its transaction: with it traces can be written as the node wrote them. None
/// where they cannot, or where a root does not repeat its transaction.
pub fn roots_to_keep(block: &Block) -> Option<Vec<Frame>> {
    block.trace_form?;
    let roots: Vec<&Frame> = match block.trace_roots.as_slice() {
        [] => block.traces.iter().flatten().map(|frames| frames.first()).collect::<Option<_>>()?,
        known => known.iter().collect(),
    };
    if roots.len() != block.txs.len() {
        return None;
    }
    let kept = block.txs.iter().zip(&block.receipts).zip(roots).map(|((tx, receipt), root)| {
        let own = (root.from, root.to, root.value, root.input.as_ref());
        (own == of_root(root.to.is_some(), tx, receipt.as_ref())).then(|| Frame {
            from: Address::ZERO,
            to: root.to.map(|_| Address::ZERO),
            value: U256::ZERO,
            input: Bytes::new(),
            ..root.clone()
        })
    });
    kept.collect()
}

/// The root of which that was kept.
pub fn whole_root(slim: Frame, tx: &Tx, receipt: Option<&Receipt>) -> Frame {
    let (from, to, value, _) = of_root(slim.to.is_some(), tx, receipt);
    Frame { from, to, value, input: tx.input.clone().unwrap_or_default(), ..slim }
}

/// What a root repeats of its transaction: from, to, value and input.
fn of_root<'a>(
    has_to: bool,
    tx: &'a Tx,
    receipt: Option<&Receipt>,
) -> (Address, Option<Address>, U256, &'a [u8]) {
    let made = receipt.and_then(|receipt| receipt.contract_address);
    let to = tx.to.or(made).filter(|_| has_to);
    let input = tx.input.as_ref().map_or(&[][..], |input| input);
    (tx.from.unwrap_or_default(), to, tx.value.unwrap_or_default(), input)
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
