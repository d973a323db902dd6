//! Contracts that a transaction makes, and what they make themselves: their nonce is known, and with it the
//! address of all that they CREATE.
//!
//! The nonce of any other maker is state that no block shows; the salt of CREATE2 stands in no trace. Those
//! addresses are the node's word.

use alloy_primitives::Address;
use model::raw::{Frame, FrameKind};

/// More than this is not followed: each try is a hash.
const TRIES_MAX: u64 = 64;
/// Creations that use up a nonce and that no tracer shows (an address that is taken).
const UNSEEN: u64 = 3;

#[derive(Default)]
pub(super) struct MadeInTx {
    makers: Vec<Maker>,
}

struct Maker {
    address: Address,
    /// Creations that it tried.
    tried: u64,
}

impl MadeInTx {
    /// In the order of entry. False where the maker cannot have made that address.
    pub fn is_possible(&mut self, frame: &Frame) -> bool {
        if !frame.kind.is_create() {
            return true;
        }
        let mut fits = true;
        if let Some(maker) = self.makers.iter_mut().find(|maker| maker.address == frame.from) {
            if let Some(made) = frame.to.filter(|_| frame.kind == FrameKind::Create) {
                // A contract begins with 1, before Spurious Dragon with 0; what failed above may or may not
                // have taken nonces back.
                let last = maker.tried + 1 + UNSEEN;
                let given = |nonce| frame.from.create(nonce) == made;
                fits = last > TRIES_MAX || (0..=last).any(given);
            }
            maker.tried += 1;
        }
        if let Some(address) = frame.to {
            self.makers.push(Maker { address, tried: 0 });
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn create(kind: FrameKind, from: Address, to: Option<Address>) -> Frame {
        let error = if to.is_none() { Some("out of gas".into()) } else { None };
        Frame { kind, from, to, error, ..Frame::default() }
    }

    #[test]
    fn what_a_new_contract_makes_stands_where_its_nonce_says() {
        let (old, new) = (Address::repeat_byte(1), Address::repeat_byte(2));
        let elsewhere = Some(Address::repeat_byte(9));
        let mut made = MadeInTx::default();
        // Whatever was there before may have any nonce.
        assert!(made.is_possible(&create(FrameKind::Create, old, Some(new))));
        for nonce in 1..=3 {
            assert!(made.is_possible(&create(FrameKind::Create, new, Some(new.create(nonce)))));
        }
        assert!(made.is_possible(&create(FrameKind::Create2, new, elsewhere)), "by its salt");
        assert!(made.is_possible(&create(FrameKind::Create, new, None)), "it failed");
        assert!(made.is_possible(&create(FrameKind::Create, new, Some(new.create(6)))));
        assert!(!made.is_possible(&create(FrameKind::Create, new, elsewhere)));
        assert!(!made.is_possible(&create(FrameKind::Create, new, Some(new.create(60)))));
        // And so on, one below the other.
        let inner = new.create(1);
        assert!(made.is_possible(&create(FrameKind::Create, inner, Some(inner.create(1)))));
        assert!(!made.is_possible(&create(FrameKind::Create, inner, elsewhere)));
    }
}
