//! How many rows a wallet has, exactly and without scanning it.
//!
//! A wallet with many rows has a total, and is also counted by block and in buckets of 2^4, 2^8 … 2^20 blocks, so a
//! range is whole large buckets, then at most fifteen of each smaller kind at its two ends, whatever the wallet's size.
//! All others are counted by looking at their rows, and cost nothing to write. Counts are sums, so blocks may come and
//! go in any order. Whether a wallet is counted is told by its total alone: one that has none, and grew past `FEW` rows
//! a few at a time, is still counted right, only by more rows.

use alloy_primitives::map::HashMap;

use crate::embedded::buckets::Level;

/// No wallet with fewer rows has counts.
pub const FEW: u64 = 256;
/// A wallet that gets so many rows at once is looked at: it may have grown past `FEW`.
pub const MANY_AT_ONCE: usize = 8;
/// Level in the key of a total.
pub const TOTAL: u8 = 0;
/// Level of the buckets that hold one block each.
pub const ONE_BLOCK: u8 = 6;
pub const LEVELS: [Level; 6] = [(1, 20), (2, 16), (3, 12), (4, 8), (5, 4), (ONE_BLOCK, 0)];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub direct: u64,
    pub internal: u64,
}

impl Count {
    pub fn is_zero(&self) -> bool {
        self.direct == 0 && self.internal == 0
    }

    pub fn rows(&self, with_internal: bool) -> u64 {
        self.direct + if with_internal { self.internal } else { 0 }
    }

    pub fn is_many(&self) -> bool {
        self.rows(true) > FEW
    }

    pub fn changed_by(self, delta: Delta) -> Option<Count> {
        Some(Count {
            direct: self.direct.checked_add_signed(delta.direct)?,
            internal: self.internal.checked_add_signed(delta.internal)?,
        })
    }
}

/// Rows more or less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    pub direct: i64,
    pub internal: i64,
}

impl Delta {
    pub fn of(direct: bool, by: i64) -> Self {
        if direct { Delta { direct: by, internal: 0 } } else { Delta { direct: 0, internal: by } }
    }

    pub fn add(&mut self, other: Delta) {
        self.direct += other.direct;
        self.internal += other.internal;
    }
}

/// One wallet's changes, by block; the larger buckets follow from them.
#[derive(Clone, Debug, Default)]
pub struct Buckets(Vec<(u64, Delta)>);

impl Buckets {
    pub fn add(&mut self, number: u64, delta: Delta) {
        // Blocks come one after the other, so the last one is nearly always the one.
        match self.0.last_mut().filter(|(last, _)| *last == number) {
            Some((_, sum)) => sum.add(delta),
            None => self.0.push((number, delta)),
        }
    }

    pub fn extend(&mut self, other: Buckets) {
        self.0.extend(other.0);
    }

    pub fn total(&self) -> Delta {
        let mut total = Delta::default();
        self.0.iter().for_each(|(_, delta)| total.add(*delta));
        total
    }

    /// The changes of every bucket of every level, each once.
    pub fn levels(&self) -> Vec<(u8, u64, Delta)> {
        let mut all: HashMap<(u8, u64), Delta> = HashMap::default();
        for (level, shift) in LEVELS {
            for (number, delta) in &self.0 {
                all.entry((level, number >> shift)).or_default().add(*delta);
            }
        }
        all.into_iter().map(|((level, bucket), delta)| (level, bucket, delta)).collect()
    }
}
