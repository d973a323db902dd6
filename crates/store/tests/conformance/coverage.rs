//! Block ranges against a plain set of numbers.

use std::collections::BTreeSet;

use proptest::prelude::*;
use store::Coverage;

use crate::random::config;

const END: u64 = 40;

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn ranges_behave_like_the_set_they_stand_for(
        steps in prop::collection::vec((any::<bool>(), 0..END), 0..120),
        (from, to) in (0..END, 0..END),
    ) {
        let (mut coverage, mut set) = (Coverage::default(), BTreeSet::new());
        for (insert, number) in steps {
            if insert {
                coverage.insert(number);
                set.insert(number);
            } else {
                coverage.remove(number);
                set.remove(&number);
            }
        }
        let ranges = coverage.ranges();
        prop_assert!(ranges.iter().all(|(from, to)| from <= to));
        prop_assert!(ranges.windows(2).all(|pair| pair[0].1 + 1 < pair[1].0), "{ranges:?}");
        prop_assert!((0..END).all(|n| coverage.contains(n) == set.contains(&n)));
        prop_assert_eq!(coverage.blocks(), set.len() as u64);
        prop_assert_eq!(coverage.newest(), set.last().copied());
        prop_assert_eq!(coverage.oldest(), set.first().copied());
        prop_assert_eq!(coverage.is_empty(), set.is_empty());
        prop_assert_eq!(coverage.covers(from, to), (from..=to).all(|n| set.contains(&n)));
        let missing = (from..=to).filter(|n| !set.contains(n)).count();
        prop_assert_eq!(coverage.missing(from, to), missing as u64);
        // Below a stored block stands the lower end of its range, below any other the next one.
        let gap = (0..to).rev().find(|n| !set.contains(n)).filter(|n| *n >= from);
        prop_assert_eq!(coverage.gap_below(to, from), gap);
    }
}

#[test]
fn the_very_last_block_is_counted_without_overflow() {
    let mut coverage = Coverage::default();
    assert_eq!(coverage.missing(0, u64::MAX), u64::MAX);
    coverage.insert(u64::MAX);
    assert_eq!(coverage.missing(u64::MAX, u64::MAX), 0);
    assert_eq!(coverage.missing(u64::MAX - 1, u64::MAX), 1);
    assert_eq!(coverage.blocks(), 1);
    coverage.insert(0);
    assert_eq!(coverage.missing(0, u64::MAX), u64::MAX - 1);
}

#[test]
fn ranges_are_shown_as_people_write_them() {
    let mut coverage = Coverage::default();
    assert_eq!(coverage.to_string(), "");
    [0, 1, 2, 7, u64::MAX].into_iter().for_each(|n| coverage.insert(n));
    assert_eq!(coverage.to_string(), format!("0-2,7-7,{0}-{0}", u64::MAX));
}
