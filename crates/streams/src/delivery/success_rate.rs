//! How a stream does: 100 at first, one less with every failure, one more with every success. Pure.

const FULL: u8 = 100;
/// Below it a stream is in error.
const GOOD_MIN: u8 = 70;

/// A stream that is sent again after an error starts anew.
pub(super) fn rate_after(before: u8, is_taken: bool) -> u8 {
    let before = if is_good(before) { before.min(FULL) } else { FULL };
    if is_taken { (before + 1).min(FULL) } else { before - 1 }
}

pub(super) fn is_good(rate: u8) -> bool {
    rate >= GOOD_MIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirty_one_failures_in_a_row_are_too_many_and_a_new_start_is_a_full_one() {
        let rates: Vec<u8> =
            std::iter::successors(Some(FULL), |rate| Some(rate_after(*rate, false)))
                .take(32)
                .collect();
        assert!(rates.iter().take(31).all(|rate| is_good(*rate)));
        assert_eq!(rates.last(), Some(&69));
        assert!(!is_good(69));
        assert_eq!(rate_after(69, true), 100);
        assert_eq!(rate_after(69, false), 99);
        assert_eq!(rate_after(100, true), 100);
        assert_eq!(rate_after(80, true), 81);
    }
}
