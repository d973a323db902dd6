//! The engine's row of a segment: how long it is, and how much of it is still led to.

use model::chain::ChainId;

use crate::embedded::codec::{put_varint, take_varint};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentRow {
    /// All bodies of a segment are of one chain, so that the oldest go with whole files.
    pub chain: ChainId,
    /// Up to here its records count; what lies behind leads nowhere.
    pub bytes: u64,
    pub live_blocks: u64,
    /// Of records.
    pub live_bytes: u64,
}

impl SegmentRow {
    pub fn new(chain: ChainId) -> Self {
        SegmentRow { chain, bytes: 0, live_blocks: 0, live_bytes: 0 }
    }

    pub fn pack(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(24);
        for number in [self.chain.0, self.bytes, self.live_blocks, self.live_bytes] {
            put_varint(&mut out, number);
        }
        out
    }

    pub fn unpack(mut row: &[u8]) -> Option<Self> {
        let mut next = || take_varint(&mut row);
        let (chain, bytes, live_blocks, live_bytes) = (next()?, next()?, next()?, next()?);
        row.is_empty().then_some(SegmentRow {
            chain: ChainId(chain),
            bytes,
            live_blocks,
            live_bytes,
        })
    }

    /// Whether more of it is dead than alive.
    pub fn is_mostly_dead(&self) -> bool {
        self.live_bytes < self.bytes / 2
    }
}
