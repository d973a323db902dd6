//! Ranges of blocks as buckets of aligned sizes, so that what is kept for each bucket answers for any
//! range at a cost that does not grow with it.

/// A level's number in keys, and how many bits of the block number its buckets drop.
pub type Level = (u8, u32);

/// Cuts a range of blocks into whole buckets, large ones in the middle, single blocks at the ends.
/// Pieces are given as bucket numbers; one without a level is a range of blocks to be looked at.
pub fn pieces(levels: &[Level], from: u64, to: u64) -> Vec<(u64, u64, Option<u8>)> {
    let mut pieces = Vec::with_capacity(6);
    let mut rest = vec![(from, to)];
    for (level, shift) in levels.iter().copied() {
        let mut left_over = Vec::with_capacity(2);
        for (from, to) in rest {
            // The first bucket that starts in the range, and the first that does not end in it.
            let first = (from >> shift) + u64::from(from & ((1 << shift) - 1) != 0);
            let end = match to.checked_add(1) {
                Some(after) => after >> shift,
                None => (u64::MAX >> shift).saturating_add(1),
            };
            if first >= end {
                left_over.push((from, to));
                continue;
            }
            pieces.push((first, end - 1, Some(level)));
            let (inner_from, inner_to) =
                (first << shift, ((end - 1) << shift) | ((1 << shift) - 1));
            if from < inner_from {
                left_over.push((from, inner_from - 1));
            }
            if inner_to < to {
                left_over.push((inner_to + 1, to));
            }
        }
        rest = left_over;
    }
    pieces.extend(rest.into_iter().map(|(from, to)| (from, to, None)));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded::counts::LEVELS;

    #[test]
    fn pieces_cover_a_range_exactly_once() {
        let ends = [0, 1, 255, 256, 257, 65_535, 65_536, 70_000, 131_072, 200_000];
        for from in ends {
            for to in ends {
                if from > to {
                    continue;
                }
                let mut spans: Vec<(u64, u64)> = pieces(&LEVELS, from, to)
                    .into_iter()
                    .map(|(a, b, level)| {
                        let shift = level.map_or(0, |l| LEVELS[usize::from(l) - 1].1);
                        (a << shift, ((b + 1) << shift) - 1)
                    })
                    .collect();
                spans.sort();
                assert_eq!(spans.first().unwrap().0, from);
                assert_eq!(spans.last().unwrap().1, to);
                assert!(spans.windows(2).all(|w| w[0].1 + 1 == w[1].0), "{from}..{to}: {spans:?}");
            }
        }
    }
}
