//! A block whose traces are changed in one internal transfer: dropped, added or altered. As trees they stay
//! possible; only balances tell.

use alloy_primitives::{Address, U256};
use model::raw::{Block, Frame, FrameKind};

/// The changed block, and the two whose balances it no longer explains.
pub struct ChangedTransfer {
    pub what: String,
    pub block: Block,
    pub accounts: [Address; 2],
}

/// Every internal transfer of the block in turn, dropped and altered; and one added per transaction that
/// calls somebody.
pub fn changed_transfers(block: &Block) -> Vec<ChangedTransfer> {
    let mut all = Vec::new();
    for (i, frames) in block.traces.iter().flatten().enumerate() {
        for (k, frame) in frames.iter().enumerate() {
            let plain = matches!(frame.kind, FrameKind::Call) && !frame.path.is_empty();
            let Some(to) = frame.to.filter(|to| *to != frame.from && plain) else { continue };
            let both = [frame.from, to];
            let mut change = |what: &str, accounts: [Address; 2], edit: &dyn Fn(&mut Frame)| {
                let mut block = block.clone();
                edit(&mut block.traces.as_mut().unwrap()[i][k]);
                let what = format!("{what} {:?} of transaction {i}", frame.path);
                all.push(ChangedTransfer { what, block, accounts });
            };
            if frame.moves_value() {
                // Without value nothing is moved: the same to a balance as if it were not there.
                change("dropped", both, &|frame| frame.value = U256::ZERO);
                change("one wei more at", both, &|frame| frame.value += U256::from(1));
                change("failed", both, &|frame| frame.error = Some("made up".into()));
                let elsewhere = Address::repeat_byte(0x5a);
                let accounts = [to, elsewhere];
                change("to somebody else at", accounts, &|frame| frame.to = Some(elsewhere));
            } else if frame.error.is_none() && !frame.undone {
                change("added", both, &|frame| frame.value = U256::from(7));
            }
        }
    }
    all
}
