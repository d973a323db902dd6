//! One word as the type it stands for. A word that does not fit its type is nothing: look-alikes with other
//! types behind the same topic are turned away here.

use alloy_primitives::{Address, B256, I256, U256};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_beyond_its_type_is_nothing() {
        let word = |number: i128| B256::from(I256::try_from(number).unwrap().into_raw());
        assert_eq!(int24(word(-(1 << 23))), Some(-(1 << 23)));
        assert_eq!(int24(word((1 << 23) - 1)), Some((1 << 23) - 1));
        assert_eq!((int24(word(1 << 23)), int24(word(-(1 << 23) - 1))), (None, None));
        assert_eq!((uint24(word(0xff_ffff)), uint24(word(0x100_0000))), (Some(0xff_ffff), None));
        assert_eq!((uint128(word(7)), uint128(word(-1))), (Some(7), None));
        assert_eq!(
            (int128(word(i128::MIN)), int128(B256::repeat_byte(0x7f))),
            (Some(i128::MIN), None)
        );
        assert_eq!([0, 1, 2].map(|n| boolean(word(n))), [Some(false), Some(true), None]);
        assert_eq!(address(word(7)), Some(Address::with_last_byte(7)));
        assert_eq!(address(B256::repeat_byte(1)), None);
    }
}
