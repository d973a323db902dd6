//! The whole part of a square root, exact. The number library has one only together with much that we do
//! not use.

use alloy_primitives::U512;

/// Newton's way, from above: the first guess is right in its upper 64 bits, so few steps are left.
pub fn square_root(square: U512) -> U512 {
    if square.is_zero() {
        return square;
    }
    let shift = square.bit_len().saturating_sub(128).next_multiple_of(2);
    let top = (square >> shift).saturating_to::<u128>();
    let mut root = U512::from(top.isqrt() + 1) << (shift / 2);
    loop {
        let better = (root + square / root) >> 1usize;
        if better >= root {
            return root;
        }
        root = better;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_root(root: U512, square: U512) -> bool {
        let above = (root + U512::from(1)).checked_pow(U512::from(2));
        root * root <= square && above.is_none_or(|above| above > square)
    }

    #[test]
    fn small_and_largest_numbers_have_their_roots() {
        for square in 0..2_000u64 {
            assert_eq!(square_root(U512::from(square)), U512::from(square.isqrt()));
        }
        assert!(is_root(square_root(U512::MAX), U512::MAX));
        for bits in 1..512usize {
            let power = U512::from(1) << bits;
            for square in [power - U512::from(1), power, power + U512::from(1)] {
                assert!(is_root(square_root(square), square), "{square}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_number_has_its_root(limbs: [u64; 8], shift in 0usize..512) {
            let square = U512::from_limbs(limbs) >> shift;
            prop_assert!(is_root(square_root(square), square));
            let root = square_root(square);
            prop_assert_eq!(square_root(root * root), root);
        }
    }
}
