//! from_block, to_block, from_date, to_date → a range of blocks.

use model::chain::ChainId;
use store::{Coverage, View};

use super::Query;
use crate::date::UnixMillis;
use crate::error::ApiError;

/// One end of the range as it was asked for; a block beats a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RangeEnd {
    Open,
    Block(u64),
    Date(UnixMillis),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockRange {
    pub from: RangeEnd,
    pub to: RangeEnd,
}

/// A range of blocks, both ends inclusive; empty where the first is larger.
pub type Blocks = (u64, u64);

/// The end of a range that nobody named.
pub const OPEN_END: u64 = u64::MAX;
/// An end that was named, and lies past all blocks that are stored; where, nobody knows.
pub const PAST_NEWEST: u64 = u64::MAX - 1;

/// What a range means to the store.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resolved {
    /// Stored rows in here are meant. Open ends are 0 and the largest number.
    pub blocks: Blocks,
    /// Every block that could belong to the question were it stored: a date that falls between two
    /// stored blocks may mean any of those that are missing there.
    pub reach: Blocks,
}

impl BlockRange {
    pub fn read(query: &Query) -> Result<Self, ApiError> {
        Ok(BlockRange {
            from: end(query, "from_block", "from_date")?,
            to: end(query, "to_block", "to_date")?,
        })
    }

    /// Everything from that second on.
    pub fn since(unix_seconds: u64) -> Self {
        let millis = i64::try_from(unix_seconds).unwrap_or(i64::MAX).saturating_mul(1000);
        BlockRange { from: RangeEnd::Date(UnixMillis(millis)), to: RangeEnd::Open }
    }

    /// Whether it ends before it begins, whatever blocks there are.
    fn is_empty(&self) -> bool {
        match (self.from, self.to) {
            (RangeEnd::Block(from), RangeEnd::Block(to)) => from > to,
            (RangeEnd::Date(from), RangeEnd::Date(to)) => from.0 > to.0,
            _ => false,
        }
    }

    pub async fn resolve(
        &self,
        view: &View,
        chain: ChainId,
        coverage: &Coverage,
    ) -> Result<Resolved, ApiError> {
        let (from, reach_from) = match self.from {
            RangeEnd::Open => (Some(0), 0),
            RangeEnd::Block(number) => (Some(number), number),
            RangeEnd::Date(date) => {
                let second = u64::try_from(date.seconds_at_or_after()).unwrap_or(0);
                let first = view.first_block_from(chain, second).await?;
                (first, reach_down(coverage, first))
            }
        };
        let (to, reach_to) = match self.to {
            RangeEnd::Open => (Some(OPEN_END), Some(OPEN_END)),
            RangeEnd::Block(number) => (Some(number), Some(number.min(PAST_NEWEST))),
            RangeEnd::Date(date) => {
                // Before 1970 there were no blocks.
                let second = u64::try_from(date.seconds_at_or_before()).ok();
                let last = match second {
                    Some(second) => view.last_block_until(chain, second).await?,
                    None => None,
                };
                let newest = view.head(chain).await?.map(|head| head.timestamp);
                let is_past = second > newest;
                (last, if is_past { Some(PAST_NEWEST) } else { reach_up(coverage, last) })
            }
        };
        const EMPTY: Blocks = (1, 0);
        if self.is_empty() {
            return Ok(Resolved { blocks: EMPTY, reach: EMPTY });
        }
        Ok(Resolved {
            blocks: from.zip(to).unwrap_or(EMPTY),
            reach: reach_to.map_or(EMPTY, |to| (reach_from, to)),
        })
    }
}

/// The lowest block that may lie at or after a date, where `first` is the first stored one that does.
fn reach_down(coverage: &Coverage, first: Option<u64>) -> u64 {
    let below = match first {
        Some(first) => coverage.ranges().iter().rev().find(|(_, to)| *to < first),
        None => coverage.ranges().last(),
    };
    match first {
        Some(first) if coverage.range_of(first).is_some_and(|(from, _)| from < first) => first,
        _ => below.map_or(0, |(_, to)| to.saturating_add(1)),
    }
}

/// The highest block that may lie at or before a date, where `last` is the last stored one that does.
fn reach_up(coverage: &Coverage, last: Option<u64>) -> Option<u64> {
    let above = |number: Option<u64>| {
        let next = coverage.ranges().iter().find(|(from, _)| number.is_none_or(|n| *from > n));
        next.map_or(Some(OPEN_END), |(from, _)| from.checked_sub(1))
    };
    match last {
        Some(last) if coverage.range_of(last).is_some_and(|(_, to)| to > last) => Some(last),
        _ => above(last),
    }
}

fn end(query: &Query, block: &str, date: &str) -> Result<RangeEnd, ApiError> {
    if let Some(text) = query.get(block) {
        let number = text.parse::<u64>();
        return number
            .map(RangeEnd::Block)
            .map_err(|_| ApiError::bad_value(block, text, "is not a block number"));
    }
    let Some(text) = query.get(date) else { return Ok(RangeEnd::Open) };
    let parsed = crate::date::parse(text);
    parsed.map(RangeEnd::Date).map_err(|error| ApiError::BadRequest(format!("{date}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_in_a_gap_reaches_over_the_whole_gap_and_one_inside_a_range_does_not() {
        let mut coverage = Coverage::default();
        assert_eq!((reach_down(&coverage, None), reach_up(&coverage, None)), (0, Some(u64::MAX)));
        (10..=20).chain(30..=40).for_each(|n| coverage.insert(n));
        assert_eq!(reach_down(&coverage, Some(15)), 15);
        assert_eq!(reach_down(&coverage, Some(10)), 0, "block 9 may be meant");
        assert_eq!(reach_down(&coverage, Some(30)), 21, "blocks 21 to 29 may be meant");
        assert_eq!(reach_down(&coverage, None), 41, "blocks that are still to come");
        assert_eq!(reach_up(&coverage, Some(15)), Some(15));
        assert_eq!(reach_up(&coverage, Some(20)), Some(29));
        assert_eq!(reach_up(&coverage, Some(40)), Some(u64::MAX));
        assert_eq!(reach_up(&coverage, None), Some(9));
        coverage.insert(0);
        assert_eq!(reach_up(&coverage, None), None, "nothing lies before the first block");
    }
}
