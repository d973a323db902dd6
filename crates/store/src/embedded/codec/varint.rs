//! Numbers in as few bytes as they need: seven bits to a byte, the lowest first, and the eighth bit
//! where another byte follows.

pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value as u8) | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[inline]
pub fn take_varint(input: &mut &[u8]) -> Option<u64> {
    match input.split_first() {
        // Most are small.
        Some((byte @ ..0x80, rest)) => {
            *input = rest;
            Some(u64::from(*byte))
        }
        _ => take_long(input),
    }
}

fn take_long(input: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = input.split_first()?;
        *input = rest;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// For numbers of either sign, of which small ones stay small.
pub fn put_signed(out: &mut Vec<u8>, value: i64) {
    put_varint(out, zigzag(value));
}

pub fn take_signed(input: &mut &[u8]) -> Option<i64> {
    take_varint(input).map(unzigzag)
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn length(value: u64) -> usize {
        let mut out = Vec::new();
        put_varint(&mut out, value);
        out.len()
    }

    #[test]
    fn a_number_takes_a_byte_for_every_seven_bits() {
        for (value, bytes) in [(0, 1), (127, 1), (128, 2), (16_383, 2), (16_384, 3), (u64::MAX, 10)]
        {
            assert_eq!(length(value), bytes, "{value}");
        }
        assert_eq!(length(zigzag(-64)), 1);
        assert_eq!(take_varint(&mut [0x80; 11].as_slice()), None, "a number without an end");
    }

    proptest! {
        #[test]
        fn numbers_come_back(value in any::<u64>(), small in 0..1_000u64, signed in any::<i64>()) {
            let mut out = Vec::new();
            put_varint(&mut out, value);
            put_varint(&mut out, small);
            put_signed(&mut out, signed);
            let input = &mut out.as_slice();
            prop_assert_eq!(take_varint(input), Some(value));
            prop_assert_eq!(take_varint(input), Some(small));
            prop_assert_eq!(take_signed(input), Some(signed));
            prop_assert!(input.is_empty());
        }
    }
}
