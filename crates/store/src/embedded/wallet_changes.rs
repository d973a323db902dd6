//! Since when wallets have not changed: an answer about one holds until then.
//!
//! In memory, and for many wallets together: wallets share a place by their address, so one may be told to have
//! changed with another, never the other way round.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use alloy_primitives::Address;
use alloy_primitives::map::HashMap;
use model::chain::ChainId;

/// Of one chain: half a MiB.
const PLACES: usize = 1 << 16;

#[derive(Default)]
pub struct WalletChanges(RwLock<HashMap<ChainId, Arc<Places>>>);

/// By place: journal sequence of the last commit that changed a wallet of it.
struct Places(Vec<AtomicU64>);

/// Places that a commit changes.
#[derive(Default)]
pub struct ChangedPlaces(Vec<u16>);

impl ChangedPlaces {
    pub fn add(&mut self, address: Address) {
        self.0.push(place_of(address));
    }
}

fn place_of(address: Address) -> u16 {
    // Contracts with a vanity address begin alike; few end alike.
    address.last_chunk::<2>().map_or(0, |end| u16::from_be_bytes(*end))
}

impl WalletChanges {
    /// `seq` is where the chain stands for whoever asks: all that was before this process counts as changed then.
    fn of(&self, chain: ChainId, seq: u64) -> Arc<Places> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&chain).cloned();
        known.unwrap_or_else(|| {
            let fresh = || Arc::new(Places((0..PLACES).map(|_| AtomicU64::new(seq)).collect()));
            let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
            all.entry(chain).or_insert_with(fresh).clone()
        })
    }

    /// Before the commit `seq` can be seen.
    pub fn note(&self, chain: ChainId, changed: &ChangedPlaces, seq: u64) {
        let places = self.of(chain, seq);
        for place in &changed.0 {
            if let Some(last) = places.0.get(usize::from(*place)) {
                last.fetch_max(seq, Ordering::AcqRel);
            }
        }
    }

    /// As whoever sees the chain at `seq` may take it.
    pub fn changed(&self, chain: ChainId, address: Address, seq: u64) -> u64 {
        let places = self.of(chain, seq);
        let last = places.0.get(usize::from(place_of(address)));
        // A later change hides when the one before it was.
        last.map_or(seq, |last| last.load(Ordering::Acquire).min(seq))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wallet_changes_with_its_commits_and_a_view_never_learns_of_later_ones() {
        let changes = WalletChanges::default();
        let (chain, a, b) = (ChainId(1), Address::repeat_byte(1), Address::repeat_byte(2));
        assert_eq!(changes.changed(chain, a, 7), 7, "what was before is not known");
        let mut changed = ChangedPlaces::default();
        changed.add(a);
        changes.note(chain, &changed, 9);
        assert_eq!([8, 9, 12].map(|seq| changes.changed(chain, a, seq)), [8, 9, 9]);
        assert_eq!([7, 12].map(|seq| changes.changed(chain, b, seq)), [7, 7]);
        assert_eq!(changes.changed(ChainId(2), a, 3), 3);
    }
}
