//! The words of an event, counted: one with more or fewer of them is another event. What a word holds is read
//! by `model::abi`.

use alloy_primitives::B256;
use model::raw::Log;

pub use model::abi::word::{address, boolean, int24, int128, int256, uint, uint24, uint128};

/// The nth topic, the event's own name being the 0th; only if there are exactly `count` of them.
pub fn topic(log: &Log, count: usize, n: usize) -> Option<B256> {
    let topics = log.topics.as_deref().filter(|topics| topics.len() == count)?;
    topics.get(n).copied()
}

/// All words of the data; only if there are exactly `N` of them.
pub fn words<const N: usize>(log: &Log) -> Option<[B256; N]> {
    let (found, rest) = log.data.as_deref()?.as_chunks::<32>();
    let found: &[[u8; 32]; N] = found.try_into().ok().filter(|_| rest.is_empty())?;
    Some(found.map(B256::from))
}
