//! Reads what contracts write: ABI-encoded bytes and the 32-byte words that events are made of.
//!
//! In: bytes that anyone may have written. Out: values, or nothing where the bytes do not hold what is
//! asked for: an offset that points outside, a word that does not fit its type. So look-alikes with other
//! types behind the same topic are turned away here. Must not know any protocol.

use alloy_primitives::{Address, B256, I256, U256, b256};

use crate::raw::Log;

const WORD: usize = 32;

/// `Transfer(address,address,uint256)`, of coins and of NFTs alike.
pub const TRANSFER: B256 =
    b256!("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef");

/// The bytes of one tuple; offsets inside it count from its beginning.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a>(pub &'a [u8]);

impl<'a> Words<'a> {
    pub fn hash(&self, place: usize) -> Option<B256> {
        let start = place.checked_mul(WORD)?;
        self.0.get(start..start.checked_add(WORD)?).map(B256::from_slice)
    }

    pub fn uint(&self, place: usize) -> Option<U256> {
        self.hash(place).map(|word| U256::from_be_bytes(word.0))
    }

    pub fn address(&self, place: usize) -> Option<Address> {
        address(self.hash(place)?)
    }

    fn size(&self, place: usize) -> Option<usize> {
        self.uint(place)?.try_into().ok()
    }

    /// The dynamic value whose offset stands at `place`.
    pub fn inner(&self, place: usize) -> Option<Words<'a>> {
        self.0.get(self.size(place)?..).map(Words)
    }

    /// The `bytes` whose offset stands at `place`.
    pub fn bytes(&self, place: usize) -> Option<Words<'a>> {
        let value = self.inner(place)?;
        let length = value.size(0)?;
        value.0.get(WORD..WORD.checked_add(length)?).map(Words)
    }

    /// The list of fixed-size tuples whose offset stands at `place`, tuple by tuple.
    pub fn list(&self, place: usize, words: usize) -> Option<impl Iterator<Item = Words<'a>>> {
        let list = self.inner(place)?;
        let length = list.size(0)?.checked_mul(words)?.checked_mul(WORD)?;
        let items = list.0.get(WORD..WORD.checked_add(length)?)?;
        Some(items.chunks_exact(WORD.checked_mul(words)?.max(1)).map(Words))
    }

    pub fn uints(&self, place: usize) -> Option<Vec<U256>> {
        self.list(place, 1)?.map(|item| item.uint(0)).collect()
    }
}

/// The nth topic, the event's own name being the 0th; only if there are exactly `count` of them.
pub fn topic(log: &Log, count: usize, n: usize) -> Option<B256> {
    let topics = log.topics.as_deref().filter(|topics| topics.len() == count)?;
    topics.get(n).copied()
}

/// All words of the data; only if there are exactly `N` of them.
pub fn words<const N: usize>(log: &Log) -> Option<[B256; N]> {
    let (found, rest) = log.data.as_deref()?.as_chunks::<WORD>();
    let found: &[[u8; WORD]; N] = found.try_into().ok().filter(|_| rest.is_empty())?;
    Some(found.map(B256::from))
}

/// A word with anything above its twenty bytes is no address.
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

/// Words one after the other, as they are hashed.
pub fn joined(words: &[B256]) -> Vec<u8> {
    words.iter().flat_map(|word| word.0).collect()
}

#[cfg(test)]
mod tests {
    use alloy_primitives::keccak256;

    use super::*;

    #[test]
    fn a_transfer_goes_by_the_hash_of_its_signature() {
        assert_eq!(TRANSFER, keccak256("Transfer(address,address,uint256)"));
    }

    fn encoded(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| U256::from(*word).to_be_bytes::<32>()).collect()
    }

    #[test]
    fn offsets_and_lengths_that_point_outside_are_nothing() {
        for words in [&[64][..], &[32], &[32, 33, 7], &[u64::MAX], &[32, u64::MAX]] {
            let bytes = encoded(words);
            assert!(Words(&bytes).uints(0).is_none(), "{words:?}");
            assert!(Words(&bytes).bytes(0).is_none(), "{words:?}");
        }
        assert!(Words(&encoded(&[32, 2, 7])).uints(0).is_none());
        let huge = [0xff; 64];
        assert!(Words(&huge).uints(0).is_none());
        assert!(Words(&huge).hash(usize::MAX).is_none());
        assert!(Words(&huge).address(0).is_none());
    }

    #[test]
    fn a_list_is_read_tuple_by_tuple() {
        let bytes = encoded(&[32, 2, 1, 2, 3, 4]);
        let pairs: Vec<_> = Words(&bytes).list(0, 2).unwrap().map(|pair| pair.uint(1)).collect();
        assert_eq!(pairs, [Some(U256::from(2)), Some(U256::from(4))]);
    }
}
