//! How many rows a wallet has, exactly and without scanning it.
//!
//! Rows are counted in buckets of 2^8 and 2^16 blocks and in total. A range is then: whole large
//! buckets, whole small buckets at its two ends, and the few rows left over, whatever the wallet's
//! size. Counts are sums, so blocks may come and go in any order.

use alloy_primitives::Address;
use alloy_primitives::map::HashMap;
use model::chain::ChainId;
use model::raw::wire::{put_varint, take_varint};

use crate::keys;

/// Level in the key and how many bits of the block number a bucket drops. Level 0 is the total.
pub const LEVELS: [(u8, u32); 3] = [(0, 64), (1, 16), (2, 8)];

pub fn bucket(number: u64, shift: u32) -> u64 {
    number.checked_shr(shift).unwrap_or(0)
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub direct: u64,
    pub internal: u64,
    /// Journal sequence of the last change; in totals only. Lets an answer be kept until its
    /// wallet changes.
    pub version: u64,
}

impl Count {
    pub fn is_zero(&self) -> bool {
        self.direct == 0 && self.internal == 0
    }

    pub fn rows(&self, with_internal: bool) -> u64 {
        self.direct + if with_internal { self.internal } else { 0 }
    }

    pub fn pack(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(8);
        put_varint(&mut out, self.direct);
        put_varint(&mut out, self.internal);
        put_varint(&mut out, self.version);
        out
    }

    pub fn unpack(mut input: &[u8]) -> Option<Self> {
        Some(Count {
            direct: take_varint(&mut input)?,
            internal: take_varint(&mut input)?,
            version: take_varint(&mut input)?,
        })
    }
}

/// What a commit adds to and takes from the counts, summed before anything is read or written.
#[derive(Default)]
pub struct Deltas(HashMap<(Address, u8, u64), (i64, i64)>);

impl Deltas {
    pub fn add(&mut self, address: Address, number: u64, direct: i64, internal: i64) {
        for (level, shift) in LEVELS {
            let delta = self.0.entry((address, level, bucket(number, shift))).or_default();
            delta.0 += direct;
            delta.1 += internal;
        }
    }

    /// Keys and changes, in key order so that reads walk the table once.
    pub fn into_sorted(self, chain: ChainId) -> Vec<(Vec<u8>, bool, (i64, i64))> {
        let mut list: Vec<_> = self
            .0
            .into_iter()
            .map(|((address, level, bucket), delta)| {
                (keys::count(chain, address, level, bucket), level == 0, delta)
            })
            .collect();
        list.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        list
    }
}

pub fn apply(count: Count, delta: (i64, i64)) -> Option<Count> {
    Some(Count {
        direct: count.direct.checked_add_signed(delta.0)?,
        internal: count.internal.checked_add_signed(delta.1)?,
        version: count.version,
    })
}
