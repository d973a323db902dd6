//! Which blocks are stored, as ranges without overlap.

/// Sorted, disjoint, not touching; both ends belong to a range.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage(Vec<(u64, u64)>);

impl Coverage {
    /// Ranges that `ranges` gave, as an engine keeps them.
    pub(crate) fn from_ranges(ranges: Vec<(u64, u64)>) -> Self {
        Coverage(ranges)
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

    /// Whether every block of the range is stored.
    pub fn covers(&self, from: u64, to: u64) -> bool {
        from > to || self.range_of(from).is_some_and(|(_, end)| end >= to)
    }

    pub fn blocks(&self) -> u64 {
        self.0.iter().fold(0, |sum, (from, to)| sum.saturating_add(length(*from, *to)))
    }

    /// How many blocks of the range are not stored.
    pub fn missing(&self, from: u64, to: u64) -> u64 {
        if from > to {
            return 0;
        }
        let inside = self.0.iter().filter(|r| r.1 >= from && r.0 <= to);
        let have =
            inside.fold(0u64, |sum, r| sum.saturating_add(length(r.0.max(from), r.1.min(to))));
        length(from, to).saturating_sub(have)
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

/// Blocks of a range; all 2^64 of them count as one less.
fn length(from: u64, to: u64) -> u64 {
    (to - from).saturating_add(1)
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
