//! Writes words: numbers, and bytes with their length in front.

use alloy_primitives::{B256, U256};

use super::WORD;

/// Words one after the other, as they are hashed.
pub fn joined(words: &[B256]) -> Vec<u8> {
    words.iter().flat_map(|word| word.0).collect()
}

/// A place, a length, a small number.
pub fn push_uint(out: &mut Vec<u8>, number: usize) {
    out.extend_from_slice(&U256::from(number).to_be_bytes::<WORD>());
}

/// The length, then the bytes, filled up to whole words.
pub fn push_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    push_uint(out, bytes.len());
    out.extend_from_slice(bytes);
    out.resize(out.len() + bytes.len().next_multiple_of(WORD) - bytes.len(), 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::Words;

    #[test]
    fn what_is_written_is_read() {
        for length in [0, 1, 31, 32, 33, 64] {
            let mut out = Vec::new();
            push_uint(&mut out, WORD);
            push_bytes(&mut out, &vec![7; length]);
            assert_eq!(out.len() % WORD, 0);
            assert_eq!(Words(&out).bytes(0).unwrap().0, vec![7; length]);
        }
    }
}
