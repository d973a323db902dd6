//! Tells whether anything was written of a chain since one last asked, without a look at its tables.

use std::sync::RwLock;

use alloy_primitives::map::HashMap;
use model::chain::ChainId;

/// A number per chain that goes up when a write begins and when it ends: odd in between.
#[derive(Default)]
pub struct Editions(RwLock<HashMap<ChainId, u64>>);

/// Lasts as long as a write does, however it ends.
pub struct Writing<'a> {
    editions: &'a Editions,
    chain: ChainId,
}

impl Editions {
    /// None while something is being written: what one sees then may be of before or after.
    pub fn get(&self, chain: ChainId) -> Option<u64> {
        let known = self.0.read().unwrap_or_else(|broken| broken.into_inner());
        Some(known.get(&chain).copied().unwrap_or(0)).filter(|edition| edition % 2 == 0)
    }

    /// Writes of a chain come one after the other.
    pub fn begin(&self, chain: ChainId) -> Writing<'_> {
        self.step(chain);
        Writing { editions: self, chain }
    }

    fn step(&self, chain: ChainId) {
        let mut known = self.0.write().unwrap_or_else(|broken| broken.into_inner());
        *known.entry(chain).or_default() += 1;
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.editions.step(self.chain);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edition_ends_when_a_write_begins_and_the_next_one_starts_when_it_is_over() {
        let editions = Editions::default();
        let (one, other) = (ChainId(1), ChainId(2));
        let before = editions.get(one);
        assert!(before.is_some());
        let writing = editions.begin(one);
        assert_eq!(editions.get(one), None);
        assert!(editions.get(other).is_some(), "other chains stand still");
        drop(writing);
        assert!(editions.get(one).is_some() && editions.get(one) != before);
    }
}
