//! Reads ABI-encoded bytes word by word.
//!
//! In: bytes that anyone may have written. Out: values, or nothing where the bytes do not hold what
//! is asked for; an offset or length that points outside is nothing, too.

use alloy_primitives::{Address, B256, U256};

use super::{WORD, word};

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
        word::address(self.hash(place)?)
    }

    /// A number that can be a place or a length here.
    pub fn size(&self, place: usize) -> Option<usize> {
        self.uint(place)?.try_into().ok()
    }

    /// All that follows so many words.
    pub fn after(&self, words: usize) -> Option<Words<'a>> {
        self.0.get(words.checked_mul(WORD)?..).map(Words)
    }

    /// The dynamic value whose offset stands at `place`.
    pub fn inner(&self, place: usize) -> Option<Words<'a>> {
        self.0.get(self.size(place)?..).map(Words)
    }

    /// The `bytes` whose offset stands at `place`.
    pub fn bytes(&self, place: usize) -> Option<Words<'a>> {
        let value = self.inner(place)?;
        let length = value.size(0)?;
        value.after(1)?.0.get(..length).map(Words)
    }

    /// The list of fixed-size tuples whose offset stands at `place`, tuple by tuple.
    pub fn list(&self, place: usize, words: usize) -> Option<impl Iterator<Item = Words<'a>>> {
        let list = self.inner(place)?;
        let length = list.size(0)?.checked_mul(words)?.checked_mul(WORD)?;
        let items = list.after(1)?.0.get(..length)?;
        Some(items.chunks_exact(WORD.checked_mul(words)?.max(1)).map(Words))
    }

    pub fn uints(&self, place: usize) -> Option<Vec<U256>> {
        self.list(place, 1)?.map(|item| item.uint(0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
