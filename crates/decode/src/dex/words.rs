//! Reads the 32-byte words that events are made of. A word that does not fit its type is no event of
//! that kind: look-alikes with other types behind the same topic are turned away here.

use alloy_primitives::{Address, B256, I256, U256};
use model::raw::Log;

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

pub fn address(word: B256) -> Option<Address> {
    word.starts_with(&[0; 12]).then(|| Address::from_word(word))
}

pub fn uint(word: B256, bits: usize) -> Option<U256> {
    let value = U256::from_be_bytes(word.0);
    (value.bit_len() <= bits).then_some(value)
}

pub fn uint24(word: B256) -> Option<u32> {
    u32::try_from(uint(word, 24)?).ok()
}

pub fn uint128(word: B256) -> Option<u128> {
    u128::try_from(uint(word, 128)?).ok()
}

pub fn int256(word: B256) -> I256 {
    I256::from_be_bytes(word.0)
}

pub fn int128(word: B256) -> Option<i128> {
    i128::try_from(int256(word)).ok()
}

pub fn int24(word: B256) -> Option<i32> {
    i32::try_from(int256(word)).ok().filter(|value| (-(1 << 23)..1 << 23).contains(value))
}

pub fn boolean(word: B256) -> Option<bool> {
    Some(uint(word, 1)? == U256::from(1))
}
