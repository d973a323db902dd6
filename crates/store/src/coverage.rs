//! Which blocks are stored, as ranges without overlap.

/// Sorted, disjoint, not touching; both ends belong to a range.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage(Vec<(u64, u64)>);

impl Coverage {
    /// Ranges that `ranges` gave, as an engine keeps them.
    pub(crate) fn from_ranges(ranges: Vec<(u64, u64)>) -> Self {
        Coverage(ranges)
    }

    /// All blocks of all of them.
    pub(crate) fn union<'a>(all: impl Iterator<Item = &'a Coverage>) -> Self {
        let mut ranges: Vec<(u64, u64)> = all.flat_map(|some| some.0.iter().copied()).collect();
        ranges.sort_unstable();
        let mut union: Vec<(u64, u64)> = Vec::new();
        for (from, to) in ranges {
            match union.last_mut().filter(|last| from <= last.1.saturating_add(1)) {
                Some(last) => last.1 = last.1.max(to),
                None => union.push((from, to)),
            }
        }
        Coverage(union)
    }

    pub fn ranges(&self) -> &[(u64, u64)] {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn newest(&self) -> Option<u64> {
        self.0.last().map(|(_, to)| *to)
    }

    pub fn oldest(&self) -> Option<u64> {
        self.0.first().map(|(from, _)| *from)
    }

    pub fn contains(&self, number: u64) -> bool {
        self.range_of(number).is_some()
    }

    /// The range that holds the block.
    pub fn range_of(&self, number: u64) -> Option<(u64, u64)> {
        let i = self.0.partition_point(|(_, to)| *to < number);
        self.0.get(i).copied().filter(|(from, _)| *from <= number)
    }

    /// Whether so many blocks hang on this one. Those above a gap say nothing of it: they may be of another branch.
    pub fn has_on_top(&self, number: u64, blocks: u64) -> bool {
        let wanted = number.saturating_add(blocks);
        self.range_of(number).is_some_and(|(_, to)| to >= wanted)
    }

    /// Stored blocks from a number on, at most so many.
    pub(crate) fn some_from(&self, from: u64, limit: usize) -> Vec<u64> {
        let ranges = self.0.iter().filter(|range| range.1 >= from);
        ranges.flat_map(|range| range.0.max(from)..=range.1).take(limit).collect()
    }

    /// Whether every block of the range is stored.
    pub fn covers(&self, from: u64, to: u64) -> bool {
        from > to || self.range_of(from).is_some_and(|(_, end)| end >= to)
    }

    pub fn blocks(&self) -> u64 {
        clamped(self.0.iter().map(|(from, to)| length(*from, *to)).sum())
    }

    /// How many blocks of the range are not stored.
    pub fn missing(&self, from: u64, to: u64) -> u64 {
        if from > to {
            return 0;
        }
        let inside = self.0.iter().filter(|r| r.1 >= from && r.0 <= to);
        let have: u128 = inside.map(|r| length(r.0.max(from), r.1.min(to))).sum();
        clamped(length(from, to).saturating_sub(have))
    }

    pub fn insert(&mut self, number: u64) {
        let i = self.0.partition_point(|(_, to)| *to < number);
        if self.0.get(i).is_some_and(|(from, _)| *from <= number) {
            return;
        }
        let before =
            i.checked_sub(1).and_then(|b| self.0.get(b)).is_some_and(|r| r.1 + 1 == number);
        let after = self.0.get(i).is_some_and(|r| number.checked_add(1) == Some(r.0));
        match (before, after) {
            (true, true) => {
                let (_, to) = self.0.remove(i);
                if let Some(range) = self.0.get_mut(i - 1) {
                    range.1 = to;
                }
            }
            (true, false) => {
                if let Some(range) = self.0.get_mut(i - 1) {
                    range.1 = number;
                }
            }
            (false, true) => {
                if let Some(range) = self.0.get_mut(i) {
                    range.0 = number;
                }
            }
            (false, false) => self.0.insert(i, (number, number)),
        }
    }

    pub fn remove(&mut self, number: u64) {
        let i = self.0.partition_point(|(_, to)| *to < number);
        let Some((from, to)) = self.range_of(number) else { return };
        let mut parts = Vec::with_capacity(2);
        if from < number {
            parts.push((from, number - 1));
        }
        if number < to {
            parts.push((number + 1, to));
        }
        self.0.splice(i..=i, parts);
    }

    /// The highest block below `number` that is not stored and not below `floor`.
    pub fn gap_below(&self, number: u64, floor: u64) -> Option<u64> {
        let mut candidate = number.checked_sub(1)?;
        if let Some((from, _)) = self.range_of(candidate) {
            candidate = from.checked_sub(1)?;
        }
        (candidate >= floor).then_some(candidate)
    }
}

/// Blocks from one to another, both included: one more than a u64 can hold where these are its ends.
fn length(from: u64, to: u64) -> u128 {
    u128::from(to) - u128::from(from) + 1
}

fn clamped(blocks: u128) -> u64 {
    blocks.try_into().unwrap_or(u64::MAX)
}

impl std::fmt::Display for Coverage {
    /// `0-99,200-250`, as the answers' header says it.
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        for (i, (from, to)) in self.0.iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            write!(f, "{comma}{from}-{to}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_above_a_gap_are_not_on_top() {
        let coverage = Coverage::from_ranges(vec![(3, 10), (30, 60), (u64::MAX, u64::MAX)]);
        for (number, blocks, expected) in [
            (3, 7, true),
            (3, 8, false),
            (10, 0, true),
            (10, 12, false),
            (20, 0, false),
            (35, 12, true),
            (60, 1, false),
            (u64::MAX, 1, true),
        ] {
            assert_eq!(coverage.has_on_top(number, blocks), expected, "{number} {blocks}");
        }
    }

    #[test]
    fn a_union_has_the_blocks_of_all() {
        let covered = |ranges: &[(u64, u64)]| Coverage::from_ranges(ranges.to_vec());
        let parts =
            [covered(&[(5, 9), (20, 30)]), covered(&[(10, 10), (25, 40)]), covered(&[(0, 0)])];
        assert_eq!(Coverage::union(parts.iter()), covered(&[(0, 0), (5, 10), (20, 40)]));
        let highest = covered(&[(7, u64::MAX)]);
        assert_eq!(Coverage::union([&highest, &highest].into_iter()), highest);
    }

    #[test]
    fn blocks_are_counted_up_to_the_last_number_there_is() {
        const MAX: u64 = u64::MAX;
        let covered = |ranges: &[(u64, u64)]| Coverage::from_ranges(ranges.to_vec());
        for (ranges, from, to, missing) in [
            (&[][..], 0, MAX, MAX),
            (&[], 1, MAX, MAX),
            (&[], MAX, MAX, 1),
            (&[(5, 5)], 0, MAX, MAX),
            (&[(5, 6)], 0, MAX, MAX - 1),
            (&[(0, MAX)], 0, MAX, 0),
            (&[(MAX, MAX)], MAX - 2, MAX, 2),
            (&[(10, 20), (30, 40)], 15, 35, 9),
            (&[(10, 20)], 7, 3, 0),
        ] {
            assert_eq!(covered(ranges).missing(from, to), missing, "{ranges:?} {from} {to}");
        }
        assert_eq!(covered(&[(0, MAX)]).blocks(), MAX);
        assert_eq!(covered(&[(1, MAX)]).blocks(), MAX);
        assert_eq!(covered(&[(3, 5), (9, 9)]).blocks(), 4);
        let mut coverage = covered(&[(MAX - 1, MAX - 1)]);
        coverage.insert(MAX);
        coverage.remove(MAX - 1);
        assert_eq!(coverage.ranges(), [(MAX, MAX)]);
    }
}
