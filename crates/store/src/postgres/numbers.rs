//! Numbers as PostgreSQL has them: `bigint` is signed, and `numeric` is written by hand.

use std::error::Error as StdError;

use alloy_primitives::U256;
use bytes::{BufMut, BytesMut};
use tokio_postgres::Row;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use crate::Error;

/// For a question: numbers that cannot be stored are as good as the largest one.
pub fn sql(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub fn sql_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX - 1).min(i64::MAX - 1)
}

/// For a row.
pub fn stored(what: &'static str, number: u64) -> Result<i64, Error> {
    let fits = i64::try_from(number).ok().filter(|number| *number < i64::MAX);
    fits.ok_or_else(|| Error::Engine {
        action: "store a number",
        path: what.into(),
        source: format!("{number} is larger than this engine can hold").into(),
        advice: "the embedded engine can",
        retryable: false,
    })
}

/// For a column that people read; the exact value is in the packed object.
pub fn shown(number: Option<u64>) -> Option<i64> {
    number.and_then(|number| i64::try_from(number).ok())
}

pub fn u64_at(row: &Row, column: usize) -> u64 {
    row.get::<_, i64>(column).max(0) as u64
}

pub fn u32_at(row: &Row, column: usize) -> u32 {
    row.get::<_, i32>(column).max(0) as u32
}

pub fn option_at(row: &Row, column: usize) -> Option<u64> {
    row.get::<_, Option<i64>>(column).map(|number| number.max(0) as u64)
}

/// Text for a column: the one sign that PostgreSQL does not take is shown as unreadable.
pub fn text(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// An amount as `numeric`.
#[derive(Debug, Clone, Copy)]
pub struct Amount(pub U256);

const BASE: u64 = 10_000;

impl Amount {
    /// Digits to the base of 10000, the highest first.
    fn digits(self) -> Vec<u16> {
        let (mut rest, mut digits) = (self.0, Vec::new());
        let base = U256::from(BASE);
        while !rest.is_zero() {
            let (more, digit) = rest.div_rem(base);
            digits.push(digit.to::<u64>() as u16);
            rest = more;
        }
        digits.reverse();
        digits
    }
}

impl ToSql for Amount {
    fn to_sql(
        &self,
        _: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        let mut digits = self.digits();
        let weight = digits.len().saturating_sub(1) as i16;
        while digits.last() == Some(&0) {
            digits.pop();
        }
        out.put_u16(digits.len() as u16);
        out.put_i16(weight);
        // Sign and digits behind the point: none.
        out.put_u32(0);
        digits.iter().for_each(|digit| out.put_u16(*digit));
        Ok(IsNull::No)
    }

    fn accepts(ty: &Type) -> bool {
        *ty == Type::NUMERIC
    }

    to_sql_checked!();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_cut_into_groups_of_four_digits() {
        for (amount, digits) in [
            (U256::ZERO, vec![]),
            (U256::from(9_999), vec![9_999]),
            (U256::from(10_000), vec![1, 0]),
            (U256::from(1_234_005_678u64), vec![12, 3_400, 5_678]),
        ] {
            assert_eq!(Amount(amount).digits(), digits);
        }
        assert_eq!(Amount(U256::MAX).digits().len(), 20);
    }

    #[test]
    fn what_does_not_fit_is_refused_in_a_row_and_the_end_of_all_in_a_question() {
        assert_eq!((sql(7), sql(u64::MAX)), (7, i64::MAX));
        assert!(
            stored("block", u64::MAX).unwrap_err().to_string().contains("18446744073709551615")
        );
        assert!(stored("block", i64::MAX as u64).is_err());
        assert_eq!((shown(Some(u64::MAX)), shown(Some(3))), (None, Some(3)));
    }
}
