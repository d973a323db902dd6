//! Which blocks are to be filled next. Pure.

use store::Coverage;

use crate::context::CATCH_UP_BLOCKS;

/// A stretch of blocks to fill: from `top` down to `bottom`, below a stored block.
#[derive(Debug, PartialEq, Eq)]
pub struct Gap {
    pub top: u64,
    pub bottom: u64,
}

/// The gap right under the range that holds the head: what was missed during a stop comes before older
/// history. None before the head is stored, as that gap is not known yet. Ranges above the node's head,
/// as files may bring them, are none of its business.
pub fn next_gap(coverage: &Coverage, floor: u64, head: u64) -> Option<Gap> {
    let (lowest, highest) = *coverage.ranges().iter().rfind(|(from, _)| *from <= head)?;
    if head.saturating_sub(highest) > CATCH_UP_BLOCKS {
        return None;
    }
    let top = coverage.gap_below(lowest, floor)?;
    let below = coverage.ranges().iter().rev().map(|(_, to)| *to).find(|to| *to < top);
    Some(Gap { top, bottom: below.map_or(floor, |to| (to + 1).max(floor)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gap_below_the_head_comes_first() {
        for (ranges, floor, head, expected) in [
            (&[][..], 0, 300, None),
            (&[(300, 300)], 0, 300, Some((299, 0))),
            (&[(300, 300)], 300, 300, None),
            (&[(100, 120), (300, 300)], 0, 300, Some((299, 121))),
            (&[(100, 120), (300, 300)], 110, 310, Some((299, 121))),
            (&[(100, 120), (300, 300)], 200, 300, Some((299, 200))),
            (&[(100, 300)], 0, 300, Some((99, 0))),
            // The head is a little ahead, or not stored yet.
            (&[(100, 120)], 0, 120 + CATCH_UP_BLOCKS, Some((99, 0))),
            (&[(100, 120)], 0, 121 + CATCH_UP_BLOCKS, None),
            // The node stepped back, or files brought what it does not have.
            (&[(100, 120)], 0, 110, Some((99, 0))),
            (&[(50, 60), (80, 85)], 0, 60, Some((49, 0))),
            (&[(80, 85)], 0, 60, None),
        ] {
            let mut coverage = Coverage::default();
            for (from, to) in ranges {
                (*from..=*to).for_each(|number| coverage.insert(number));
            }
            let gap = next_gap(&coverage, floor, head).map(|gap| (gap.top, gap.bottom));
            assert_eq!(gap, expected, "{ranges:?} {floor} {head}");
        }
    }
}
