//! Who takes part in a transaction.
//!
//! In: a transaction with its receipt and frames. Out: the wallets under which it is listed, each
//! once. Pure, and the same for writing a block and for taking it back.

use alloy_primitives::Address;

use crate::raw::{Frame, Receipt, Tx};

#[derive(Debug, Default, PartialEq)]
pub struct Parties {
    /// Sender, receiver, and the contract the transaction itself created.
    pub direct: Vec<Address>,
    /// Those to whom or from whom value moved inside, and who are not direct parties.
    pub internal: Vec<Address>,
}

/// `frames` is the transaction's whole trace, root first, or what is stored of it; the root moves
/// value between direct parties only, so it makes no difference.
pub fn parties(tx: &Tx, receipt: Option<&Receipt>, frames: &[Frame]) -> Parties {
    // A creation that failed names the address it would have had.
    let made = receipt.filter(|r| r.status != Some(0));
    let created = made.and_then(|r| r.contract_address);
    let mut parties = Parties::default();
    for address in [tx.from, tx.to, created].into_iter().flatten() {
        push_new(&mut parties.direct, address);
    }
    for frame in frames.iter().filter(|f| f.moves_value()) {
        for address in [Some(frame.from), frame.to].into_iter().flatten() {
            if !parties.direct.contains(&address) {
                push_new(&mut parties.internal, address);
            }
        }
    }
    parties
}

fn push_new(list: &mut Vec<Address>, address: Address) {
    if !list.contains(&address) {
        list.push(address);
    }
}
