//! What there is to say of a marketplace: its code, its name, and how its contracts tell of sales. Each
//! marketplace says it in a file of its own; this is the form.
//!
//! Must not know which marketplaces there are.

use alloy_primitives::B256;

use super::market::Market;
use super::sale::Sale;
use super::tx_context::TxContext;

pub struct Marketplace {
    pub market: Market,
    pub protocols: &'static [Protocol],
}

/// How one kind of exchange contract tells of sales.
pub struct Protocol {
    /// Unlike all others.
    pub name: &'static str,
    /// What chain files call it.
    pub protocol: &'static str,
    pub versions: &'static [&'static str],
    /// The events that it reads: the hash of the signature, and the signature.
    pub events: &'static [(B256, &'static str)],
    /// Its events do not name the token, so it takes the transfers that all others leave.
    pub claims_last: bool,
    pub read: fn(&TxContext, &mut Vec<Sale>),
}

impl Protocol {
    pub fn has_event(&self, topic: &B256) -> bool {
        self.events.iter().any(|(known, _)| known == topic)
    }
}
