//! A positive number as the quotient of two integers, times a power of two.
//!
//! Exact as long as both integers fit 256 bits; beyond that the last bits go, which is a part in 2^255.
//! Nothing overflows: what tokens with 77 decimals do to a number goes into the power of two.

use std::cmp::Ordering;

use alloy_primitives::{U256, U512, Uint};

type U1024 = Uint<1024, 16>;

#[derive(Clone, Copy, Debug)]
pub struct Ratio {
    top: U256,
    bottom: U256,
    shift: i32,
}

impl Ratio {
    pub const ONE: Ratio = Ratio { top: U256::ONE, bottom: U256::ONE, shift: 0 };

    pub const TWO: Ratio = Ratio { shift: 1, ..Ratio::ONE };

    /// `None` where it would be zero or endless: no price is either.
    pub fn new(top: U256, bottom: U256) -> Option<Ratio> {
        (!top.is_zero() && !bottom.is_zero()).then_some(Ratio { top, bottom, shift: 0 })
    }

    pub fn wide(top: U512, bottom: U512) -> Option<Ratio> {
        let ((top, up), (bottom, down)) = (fit(top), fit(bottom));
        Some(Ratio { shift: up - down, ..Ratio::new(top, bottom)? })
    }

    pub fn power_of_ten(mut exponent: i32) -> Ratio {
        let mut power = Ratio::ONE;
        let negative = exponent < 0;
        while exponent != 0 {
            // 10^77 is the greatest that fits 256 bits.
            let step = exponent.unsigned_abs().min(77);
            let factor = U256::from(10).pow(U256::from(step));
            power = power.times(Ratio { top: factor, ..Ratio::ONE });
            exponent = if negative { exponent + step as i32 } else { exponent - step as i32 };
        }
        if negative { power.inverse() } else { power }
    }

    pub fn times(mut self, mut other: Ratio) -> Ratio {
        let fits = |a: U256, b: U256| a.bit_len() + b.bit_len() <= 256;
        if !fits(self.top, other.top) || !fits(self.bottom, other.bottom) {
            // What is in both need not cost digits: a price that is two stays two.
            cancel(&mut self.top, &mut other.bottom);
            cancel(&mut other.top, &mut self.bottom);
        }
        let (top, up) = fit(product(self.top, other.top));
        let (bottom, down) = fit(product(self.bottom, other.bottom));
        let shift = self.shift.saturating_add(other.shift).saturating_add(up - down);
        Ratio { top, bottom, shift }
    }

    pub fn inverse(self) -> Ratio {
        Ratio { top: self.bottom, bottom: self.top, shift: self.shift.saturating_neg() }
    }

    pub fn over(self, other: Ratio) -> Ratio {
        self.times(other.inverse())
    }

    /// Whether the two differ by no more than so many ten-thousandths of `other`.
    pub fn is_within(self, bps: u32, other: Ratio) -> bool {
        let part = |bps: u32| {
            Ratio { top: U256::from(bps), bottom: U256::from(10_000), shift: 0 }.times(other)
        };
        let above = part(bps.saturating_add(10_000));
        self <= above && (bps >= 10_000 || self >= part(10_000 - bps))
    }

    /// The whole part; `None` above 512 bits.
    pub fn floor(self) -> Option<U512> {
        let size = self.top.bit_len() as i64 - self.bottom.bit_len() as i64 + i64::from(self.shift);
        if size < -1 {
            return Some(U512::ZERO);
        }
        if size > 511 {
            return None;
        }
        // Either side is at most 256 + 512 bits, or the size would not have passed.
        let (top, bottom) = (U1024::from(self.top), U1024::from(self.bottom));
        let bits = self.shift.unsigned_abs() as usize;
        let whole = match self.shift < 0 {
            true => top.checked_div(bottom << bits)?,
            false => (top << bits).checked_div(bottom)?,
        };
        Some(whole.wrapping_to::<U512>())
    }

    /// The whole part, or the greatest number there is.
    pub fn floor_u128(self) -> u128 {
        self.floor().map_or(u128::MAX, |whole| u128::try_from(whole).unwrap_or(u128::MAX))
    }

    /// In plain decimal notation with at least so many digits that count; the rest is cut off.
    pub fn decimal(self, digits: u32) -> Option<String> {
        let bits = self.top.bit_len() as i64 - self.bottom.bit_len() as i64 + i64::from(self.shift);
        // A bit is a little more than 3/10 of a digit; off by one or two is a digit more or less.
        let before_point = bits * 30_103 / 100_000;
        let places = (i64::from(digits) - before_point + 1).clamp(0, 400);
        let places = i32::try_from(places).ok()?;
        let whole = self.times(Ratio::power_of_ten(places)).floor()?.to_string();
        let places = usize::try_from(places).ok()?;
        let padded = format!("{whole:0>width$}", width = places + 1);
        let (before, after) = padded.split_at_checked(padded.len() - places)?;
        let after = after.trim_end_matches('0');
        Some(if after.is_empty() { before.to_owned() } else { format!("{before}.{after}") })
    }

    pub fn to_f64(self) -> f64 {
        self.decimal(25).and_then(|text| text.parse().ok()).unwrap_or(f64::INFINITY)
    }
}

fn cancel(a: &mut U256, b: &mut U256) {
    let both = a.gcd(*b);
    if both > U256::ONE {
        *a /= both;
        *b /= both;
    }
}

fn product(a: U256, b: U256) -> U512 {
    U512::from(a).wrapping_mul(U512::from(b))
}

/// The first 256 bits, and how many were cut off.
fn fit(value: U512) -> (U256, i32) {
    let cut = value.bit_len().saturating_sub(256);
    ((value >> cut).wrapping_to::<U256>(), cut as i32)
}

impl PartialEq for Ratio {
    fn eq(&self, other: &Ratio) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ratio {}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Ratio) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Ratio) -> Ordering {
        let (mine, theirs) = (product(self.top, other.bottom), product(other.top, self.bottom));
        let size = |value: U512, shift: i32| value.bit_len() as i64 + i64::from(shift);
        size(mine, self.shift).cmp(&size(theirs, other.shift)).then_with(|| {
            // Of equal size, so the shorter one can be drawn out to the longer one's length.
            let apart = i64::from(self.shift) - i64::from(other.shift);
            let bits = apart.unsigned_abs() as usize;
            if apart < 0 { mine.cmp(&(theirs << bits)) } else { (mine << bits).cmp(&theirs) }
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ratio(top: u128, bottom: u128) -> Ratio {
        Ratio::new(U256::from(top), U256::from(bottom)).unwrap()
    }

    #[test]
    fn decimals_are_exact_and_plain() {
        for (top, bottom, expected) in [
            (1, 1, "1"),
            (1, 4, "0.25"),
            (2, 3, "0.6666666666"),
            (123_456_789_012, 1, "123456789012"),
            (1, 1_000_000_000_000, "0.000000000001"),
            (100, 1, "100"),
        ] {
            let text = ratio(top, bottom).decimal(10).unwrap();
            assert!(text.starts_with(expected), "{text} for {expected}");
            assert!(text.len() <= expected.len() + 3, "{text} for {expected}");
        }
    }

    #[test]
    fn seventy_seven_decimals_and_their_like_fit() {
        let tiny = Ratio::power_of_ten(-154);
        assert_eq!(tiny.times(Ratio::power_of_ten(154)).to_f64(), 1.0);
        assert_eq!(tiny.to_f64(), 1e-154);
        assert_eq!(Ratio::power_of_ten(200).floor(), None);
        assert_eq!(Ratio::power_of_ten(-200).floor(), Some(U512::ZERO));
        assert_eq!(Ratio::power_of_ten(77).floor_u128(), u128::MAX);
    }

    proptest! {
        #[test]
        fn arithmetic_is_that_of_fractions(
            a in 1u64.., b in 1u64.., c in 1u64.., d in 1u64.., shift in -300i32..300,
        ) {
            let wide = |x: u64| u128::from(x);
            let (left, right) = (ratio(a.into(), b.into()), ratio(c.into(), d.into()));
            prop_assert_eq!(left.times(right), ratio(wide(a) * wide(c), wide(b) * wide(d)));
            prop_assert_eq!(left.over(right), ratio(wide(a) * wide(d), wide(b) * wide(c)));
            prop_assert_eq!(left.cmp(&right), (wide(a) * wide(d)).cmp(&(wide(c) * wide(b))));
            prop_assert_eq!(left.floor(), Some(U512::from(a / b)));
            // Moving both by the same power changes nothing.
            let moved = |it: Ratio| Ratio { shift: it.shift + shift, ..it };
            prop_assert_eq!(moved(left).cmp(&moved(right)), left.cmp(&right));
            let float = a as f64 / b as f64;
            prop_assert!((left.to_f64() / float - 1.0).abs() < 1e-12);
        }

        #[test]
        fn nothing_overflows(
            a in any::<[u8; 64]>(), b in any::<[u8; 64]>(), exponents in any::<[i8; 6]>(), bps in any::<u16>(),
        ) {
            let Some(mut value) = Ratio::wide(U512::from_be_bytes(a), U512::from_be_bytes(b)) else {
                return Ok(());
            };
            for exponent in exponents {
                value = value.times(Ratio::power_of_ten(exponent.into()));
                let _ = (value.floor(), value.decimal(20), value.to_f64(), value.is_within(bps.into(), Ratio::ONE));
            }
        }
    }
}
