//! Plain values and lists of them.

use alloy_primitives::{Address, B64, B256, Bloom, Bytes, U256};

use super::bytes::{put_counted, take_byte, take_bytes, take_counted};
use super::varint::{put_varint, take_varint};

/// A value whose bytes say all of it.
pub trait Packed: Sized {
    fn pack(&self, out: &mut Vec<u8>);

    /// `None` means the bytes are not what `pack` wrote.
    fn unpack(input: &mut &[u8]) -> Option<Self>;
}

impl Packed for u64 {
    #[inline]
    fn pack(&self, out: &mut Vec<u8>) {
        put_varint(out, *self);
    }
    #[inline]
    fn unpack(input: &mut &[u8]) -> Option<Self> {
        take_varint(input)
    }
}

/// Without leading zeros, and how many bytes that leaves in front.
impl Packed for U256 {
    fn pack(&self, out: &mut Vec<u8>) {
        let bytes = self.to_be_bytes::<32>();
        let used = bytes.get(self.leading_zeros() / 8..).unwrap_or_default();
        out.push(used.len() as u8);
        out.extend_from_slice(used);
    }
    fn unpack(input: &mut &[u8]) -> Option<Self> {
        let length = usize::from(take_byte(input)?);
        U256::try_from_be_slice(take_bytes(input, length)?)
    }
}

impl Packed for bool {
    fn pack(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }
    fn unpack(input: &mut &[u8]) -> Option<Self> {
        take_byte(input).map(|byte| byte != 0)
    }
}

impl Packed for Bytes {
    fn pack(&self, out: &mut Vec<u8>) {
        put_counted(out, self);
    }
    fn unpack(input: &mut &[u8]) -> Option<Self> {
        take_counted(input).map(Bytes::copy_from_slice)
    }
}

macro_rules! fixed {
    ($($name:ty, $length:literal);*) => {$(
        impl Packed for $name {
            #[inline]
            fn pack(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(self.as_slice());
            }
            #[inline]
            fn unpack(input: &mut &[u8]) -> Option<Self> {
                take_bytes(input, $length)?.try_into().ok().map(|b: [u8; $length]| <$name>::from(b))
            }
        }
    )*};
}
fixed!(B256, 32; Address, 20; B64, 8; Bloom, 256);

impl Packed for Vec<B256> {
    fn pack(&self, out: &mut Vec<u8>) {
        put_varint(out, self.len() as u64);
        self.iter().for_each(|item| item.pack(out));
    }
    fn unpack(input: &mut &[u8]) -> Option<Self> {
        unpack_list(input, B256::unpack)
    }
}

pub fn unpack_list<T>(input: &mut &[u8], each: impl Fn(&mut &[u8]) -> Option<T>) -> Option<Vec<T>> {
    let count = usize::try_from(take_varint(input)?).ok()?;
    // A broken count must not reserve memory: every item takes at least one byte.
    let mut list = Vec::with_capacity(count.min(input.len()));
    for _ in 0..count {
        list.push(each(input)?);
    }
    Some(list)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn comes_back<T: Packed + PartialEq>(value: T) -> bool {
        let mut out = Vec::new();
        value.pack(&mut out);
        let input = &mut out.as_slice();
        T::unpack(input).as_ref() == Some(&value) && input.is_empty()
    }

    proptest! {
        #[test]
        fn plain_values_come_back(
            (number, flag) in any::<(u64, bool)>(),
            word in any::<[u8; 32]>(),
            zeros in 0..256usize,
            bytes in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            prop_assert!(comes_back(number) && comes_back(flag));
            prop_assert!(comes_back(U256::from_be_bytes(word) >> zeros));
            prop_assert!(comes_back(B256::from(word)) && comes_back(vec![B256::from(word); 3]));
            prop_assert!(comes_back(Address::from_slice(&word[..20])));
            prop_assert!(comes_back(B64::from_slice(&word[..8])));
            prop_assert!(comes_back(Bloom::repeat_byte(word[0])));
            prop_assert!(comes_back(Bytes::from(bytes)));
        }
    }

    #[test]
    fn a_broken_count_reserves_no_memory() {
        let mut row = Vec::new();
        put_varint(&mut row, u64::MAX);
        assert_eq!(<Vec<B256>>::unpack(&mut row.as_slice()), None);
        assert_eq!(U256::unpack(&mut [33; 40].as_slice()), None, "longer than a word");
    }
}
