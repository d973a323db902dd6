//! Which blocks are stored: where each range begins, and how many blocks follow its first.

use super::varint::{put_varint, take_varint};
use crate::coverage::Coverage;

pub fn pack_coverage(coverage: &Coverage) -> Vec<u8> {
    let ranges = coverage.ranges();
    let mut out = Vec::with_capacity(ranges.len() * 8);
    for (from, to) in ranges {
        put_varint(&mut out, *from);
        put_varint(&mut out, to - from);
    }
    out
}

/// `None` means the bytes are not what `pack_coverage` wrote.
pub fn unpack_coverage(mut input: &[u8]) -> Option<Coverage> {
    let mut ranges = Vec::new();
    while !input.is_empty() {
        let from = take_varint(&mut input)?;
        ranges.push((from, from.checked_add(take_varint(&mut input)?)?));
    }
    Some(Coverage::from_ranges(ranges))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranges_come_back_and_other_bytes_do_no_harm(
            numbers in prop::collection::vec(prop_oneof![0..40u64, any::<u64>()], 0..60),
            bytes in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            let mut coverage = Coverage::default();
            numbers.into_iter().for_each(|number| coverage.insert(number));
            prop_assert_eq!(unpack_coverage(&pack_coverage(&coverage)), Some(coverage));
            let _ = unpack_coverage(&bytes);
        }
    }
}
