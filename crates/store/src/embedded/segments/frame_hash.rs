//! The hash in front of every frame: over its bytes, and over what it must be a frame of. One that is read
//! from a wrong place is so noticed, too.

use model::chain::ChainId;
use xxhash_rust::xxh3::Xxh3;

use super::body_row::FrameRef;

pub const HASH_BYTES: usize = 8;

/// Whose frame it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameOf {
    pub chain: ChainId,
    pub number: u64,
    pub dictionary: u32,
}

pub fn frame_hash(of: FrameOf, frame: &FrameRef, packed: &[u8]) -> [u8; HASH_BYTES] {
    let mut hasher = Xxh3::new();
    hasher.update(&of.chain.0.to_be_bytes());
    hasher.update(&of.number.to_be_bytes());
    hasher.update(&of.dictionary.to_be_bytes());
    hasher.update(&[frame.kind.code()]);
    hasher.update(&frame.first_group.to_be_bytes());
    hasher.update(&frame.groups.to_be_bytes());
    hasher.update(&frame.bytes.to_be_bytes());
    hasher.update(packed);
    hasher.digest().to_be_bytes()
}
