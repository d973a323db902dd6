//! from_block, to_block, from_date, to_date → a range of blocks.

use model::chain::ChainId;
use model::cursor::QuestionBuilder;
use store::View;

use super::Query;
use crate::error::ApiError;

/// One end of the range as it was asked for; a block beats a date.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Asked {
    Nothing,
    Block(u64),
    /// Milliseconds since 1970.
    Date(i64),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockRange {
    pub from: Asked,
    pub to: Asked,
}

impl BlockRange {
    pub fn read(query: &Query) -> Result<Self, ApiError> {
        Ok(BlockRange {
            from: end(query, "from_block", "from_date")?,
            to: end(query, "to_block", "to_date")?,
        })
    }

    /// What was asked, not what it means today: a cursor stays good while new blocks arrive.
    pub fn describe(&self, digest: QuestionBuilder) -> QuestionBuilder {
        let part = |asked| match asked {
            Asked::Nothing => String::new(),
            Asked::Block(number) => format!("block {number}"),
            Asked::Date(millis) => format!("date {millis}"),
        };
        digest.field("from", part(self.from)).field("to", part(self.to))
    }

    /// Inclusive ends; `from > to` is an empty range. Open ends are 0 and the largest number.
    pub fn resolve(&self, view: &View, chain: ChainId) -> Result<(u64, u64), ApiError> {
        let empty = (1, 0);
        let from = match self.from {
            Asked::Nothing => 0,
            Asked::Block(number) => number,
            Asked::Date(millis) => {
                // The first second that is not before the date.
                let second = millis.div_euclid(1000) + i64::from(millis.rem_euclid(1000) != 0);
                match view.first_block_from(chain, u64::try_from(second).unwrap_or(0))? {
                    Some(number) => number,
                    None => return Ok(empty),
                }
            }
        };
        let to = match self.to {
            Asked::Nothing => u64::MAX,
            Asked::Block(number) => number,
            Asked::Date(millis) => {
                let Ok(second) = u64::try_from(millis.div_euclid(1000)) else { return Ok(empty) };
                match view.last_block_until(chain, second)? {
                    Some(number) => number,
                    None => return Ok(empty),
                }
            }
        };
        Ok((from, to))
    }
}

fn end(query: &Query, block: &str, date: &str) -> Result<Asked, ApiError> {
    if let Some(text) = query.get(block) {
        let number = text.parse::<u64>();
        return number
            .map(Asked::Block)
            .map_err(|_| ApiError::bad_value(block, text, "is not a block number"));
    }
    let Some(text) = query.get(date) else { return Ok(Asked::Nothing) };
    let millis = model::date::parse(text)
        .map_err(|error| ApiError::BadRequest(format!("{date}: {error}")))?;
    Ok(Asked::Date(millis.0))
}
