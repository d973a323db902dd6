//! Reading ABI-encoded values that strangers wrote.
//!
//! In: types and bytes. Out: values, or nothing. Never more memory than a small multiple of the bytes: arrays within
//! arrays may all point to the same bytes, and a library that follows them all needs the memory of the product.

use alloy_dyn_abi::{DynSolType, DynSolValue};
use alloy_primitives::{Address, B256, Function, I256, U256};

use super::sol_type::{head_words, is_dynamic};

const WORD: usize = 32;
/// Honest encodings use every byte once; some writers share equal parts.
const REUSE_MAX: usize = 16;
const ROOM_MIN: usize = 64 * 1024;

/// The values of a sequence, as in a log's data or a call's output. Bytes that follow it are allowed.
pub(super) fn decode_sequence(types: &[DynSolType], data: &[u8]) -> Option<Vec<DynSolValue>> {
    let room = data.len().saturating_mul(REUSE_MAX).saturating_add(ROOM_MIN);
    AbiDecoder { data, room }.sequence(types.iter(), 0)
}

/// A topic's value. Of types that need more than a word a topic has the hash.
pub(super) fn decode_topic(ty: &DynSolType, topic: B256) -> DynSolValue {
    word_value(ty, topic).unwrap_or(DynSolValue::FixedBytes(topic, WORD))
}

/// The 32 bytes at this place.
pub(super) fn word_at(data: &[u8], at: usize) -> Option<B256> {
    data.get(at..at.checked_add(WORD)?).map(B256::from_slice)
}

/// An offset or a length that is less than the data has bytes.
fn small_at(data: &[u8], at: usize) -> Option<usize> {
    usize::try_from(U256::from_be_bytes(word_at(data, at)?.0)).ok().filter(|n| *n <= data.len())
}

/// Bytes or text whose offset stands at `head` of the outermost sequence.
pub(super) fn bytes_at(data: &[u8], head: usize) -> Option<&[u8]> {
    packed_at(data, small_at(data, head)?)
}

fn packed_at(data: &[u8], at: usize) -> Option<&[u8]> {
    let length = small_at(data, at)?;
    let start = at.checked_add(WORD)?;
    data.get(start..start.checked_add(length)?)
}

/// A value that is one word.
fn word_value(ty: &DynSolType, word: B256) -> Option<DynSolValue> {
    let number = || U256::from_be_bytes(word.0);
    Some(match ty {
        DynSolType::Bool => DynSolValue::Bool(!word.is_zero()),
        DynSolType::Int(bits) => DynSolValue::Int(I256::from_raw(number()), *bits),
        DynSolType::Uint(bits) => DynSolValue::Uint(number(), *bits),
        DynSolType::FixedBytes(size) => DynSolValue::FixedBytes(word, *size),
        DynSolType::Address => DynSolValue::Address(Address::from_word(word)),
        DynSolType::Function => DynSolValue::Function(Function::from_word(word)),
        _ => return None,
    })
}

struct AbiDecoder<'a> {
    data: &'a [u8],
    /// Bytes of values that may still be made.
    room: usize,
}

impl AbiDecoder<'_> {
    fn spend(&mut self, bytes: usize) -> Option<()> {
        self.room = self.room.checked_sub(bytes)?;
        Some(())
    }

    /// Values side by side from `base` on, to which their offsets are relative.
    fn sequence<'t>(
        &mut self,
        types: impl Iterator<Item = &'t DynSolType>,
        base: usize,
    ) -> Option<Vec<DynSolValue>> {
        let mut values = Vec::new();
        let mut head = base;
        for ty in types {
            self.spend(WORD)?;
            if is_dynamic(ty) {
                let at = base.checked_add(small_at(self.data, head)?)?;
                values.push(self.dynamic(ty, at)?);
                head = head.checked_add(WORD)?;
            } else {
                values.push(self.inline(ty, head)?);
                head = head.checked_add(head_words(ty).checked_mul(WORD)?)?;
            }
        }
        Some(values)
    }

    fn inline(&mut self, ty: &DynSolType, at: usize) -> Option<DynSolValue> {
        match ty {
            DynSolType::FixedArray(inner, size) => {
                let types = std::iter::repeat_n(inner.as_ref(), *size);
                self.sequence(types, at).map(DynSolValue::FixedArray)
            }
            DynSolType::Tuple(types) => self.sequence(types.iter(), at).map(DynSolValue::Tuple),
            _ => word_value(ty, word_at(self.data, at)?),
        }
    }

    fn dynamic(&mut self, ty: &DynSolType, at: usize) -> Option<DynSolValue> {
        match ty {
            DynSolType::Array(inner) => {
                let count = small_at(self.data, at)?;
                let base = at.checked_add(WORD)?;
                // So that the count is checked before anything is made.
                let heads = count.checked_mul(head_words(inner))?.checked_mul(WORD)?;
                if base.checked_add(heads)? > self.data.len() {
                    return None;
                }
                let types = std::iter::repeat_n(inner.as_ref(), count);
                self.sequence(types, base).map(DynSolValue::Array)
            }
            DynSolType::Bytes | DynSolType::String => {
                let bytes = packed_at(self.data, at)?;
                self.spend(bytes.len())?;
                Some(if *ty == DynSolType::Bytes {
                    DynSolValue::Bytes(bytes.to_vec())
                } else {
                    DynSolValue::String(String::from_utf8_lossy(bytes).into_owned())
                })
            }
            // Fixed arrays and tuples with dynamic parts: the same, at another place.
            _ => self.inline(ty, at),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Types that are allowed, each with a value.
    fn typed_value() -> impl Strategy<Value = (DynSolType, DynSolValue)> {
        let number = any::<[u8; 32]>().prop_map(U256::from_be_bytes);
        let leaf = prop_oneof![
            number.clone().prop_map(|n| (DynSolType::Uint(256), DynSolValue::Uint(n, 256))),
            number.prop_map(|n| (DynSolType::Int(256), DynSolValue::Int(I256::from_raw(n), 256))),
            any::<bool>().prop_map(|b| (DynSolType::Bool, DynSolValue::Bool(b))),
            any::<[u8; 20]>()
                .prop_map(|a| (DynSolType::Address, DynSolValue::Address(Address::from(a)))),
            any::<[u8; 32]>().prop_map(|w| (
                DynSolType::FixedBytes(32),
                DynSolValue::FixedBytes(B256::from(w), 32)
            )),
            prop::collection::vec(any::<u8>(), 0..70)
                .prop_map(|b| (DynSolType::Bytes, DynSolValue::Bytes(b))),
            "\\PC{0,40}".prop_map(|s| (DynSolType::String, DynSolValue::String(s))),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| {
                    let (types, values) = parts.into_iter().unzip();
                    (DynSolType::Tuple(types), DynSolValue::Tuple(values))
                }),
                (inner.clone(), 1..4_usize).prop_map(|((ty, value), size)| (
                    DynSolType::FixedArray(Box::new(ty), size),
                    DynSolValue::FixedArray(vec![value; size])
                )),
                (inner, 0..4_usize).prop_map(|((ty, value), count)| (
                    DynSolType::Array(Box::new(ty)),
                    DynSolValue::Array(vec![value; count])
                )),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_was_encoded_is_decoded(parts in prop::collection::vec(typed_value(), 0..5)) {
            let (types, values): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
            let data = DynSolValue::Tuple(values.clone()).abi_encode_params();
            prop_assert_eq!(decode_sequence(&types, &data), Some(values));
        }

        #[test]
        fn broken_encodings_give_what_the_library_gives_or_nothing(
            parts in prop::collection::vec(typed_value(), 1..4),
            breaks in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            cut in any::<prop::sample::Index>(),
        ) {
            let (types, values): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
            let mut data = DynSolValue::Tuple(values.clone()).abi_encode_params();
            for (place, byte) in breaks {
                let place = place.index(data.len());
                data[place] = byte;
            }
            data.truncate(cut.index(data.len() + 1));
            if let Some(ours) = decode_sequence(&types, &data)
                && let Ok(theirs) = DynSolType::Tuple(types).abi_decode_sequence(&data)
            {
                prop_assert_eq!(DynSolValue::Tuple(ours), theirs);
            }
        }
    }

    #[test]
    fn arrays_that_all_point_to_the_same_bytes_do_not_multiply() {
        // At each of four levels 500 offsets that all lead to the next level: 500⁴ values in 64 KB.
        let mut data = Vec::new();
        let word = |n: usize| U256::from(n).to_be_bytes::<32>();
        data.extend(word(32));
        for _ in 0..4 {
            data.extend(word(500));
            for _ in 0..500 {
                data.extend(word(500 * 32));
            }
        }
        data.extend(word(0));
        let mut ty = DynSolType::Bytes;
        for _ in 0..4 {
            ty = DynSolType::Array(Box::new(ty));
        }
        assert_eq!(decode_sequence(&[ty], &data), None);
        let shared = DynSolType::Array(Box::new(DynSolType::Bytes));
        let mut data = Vec::new();
        data.extend(word(32));
        data.extend(word(1_000));
        for _ in 0..1_000 {
            data.extend(word(1_000 * 32));
        }
        data.extend(word(100_000));
        data.extend(vec![7; 100_000]);
        assert_eq!(decode_sequence(&[shared], &data), None, "100 MB out of 132 KB");
    }
}
