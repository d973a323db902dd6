//! What the cursor of a request says: parameters that are left out come from it, and none may contradict it.

use alloy_primitives::Address;
use model::chain::Operation;

use crate::app::App;
use crate::clock::now_s;
use crate::cursor::{Cursor, CursorError, PageQuestion, Rows};
use crate::error::ApiError;
use crate::params::{BlockRange, Query, RangeEnd};
use crate::served_chain::ServedChain;

/// Nothing where the request has no cursor.
pub struct Carried(Option<(Cursor, PageQuestion)>);

impl Carried {
    pub fn read(app: &App, query: &Query) -> Result<Self, ApiError> {
        let Some(text) = query.get("cursor") else { return Ok(Carried(None)) };
        let ttl_s = app.parts.config.cursor_ttl_s;
        let opened = app.parts.cursor_key.open(text, now_s(), ttl_s).map_err(refused)?;
        Ok(Carried(Some(opened)))
    }

    pub fn cursor(&self) -> Option<Cursor> {
        self.0.map(|(cursor, _)| cursor)
    }

    /// What belongs to one operation alone; a cursor of another one is refused.
    pub fn rows<T>(&self, mine: impl FnOnce(Rows) -> Option<T>) -> Result<Option<T>, ApiError> {
        let Some((_, question)) = self.0 else { return Ok(None) };
        mine(question.rows).map(Some).ok_or_else(|| refused(CursorError::Foreign))
    }

    pub fn served<'a>(
        &self,
        app: &'a App,
        operation: Operation,
        query: &Query,
    ) -> Result<&'a ServedChain, ApiError> {
        let Some((_, question)) = self.0 else {
            return app.served_for(operation, query.get("chain"));
        };
        let Some(name) = query.get("chain") else {
            return app.served_for(operation, Some(&question.chain.hex()));
        };
        let served = app.served_for(operation, Some(name))?;
        if served.chain.id == question.chain { Ok(served) } else { Err(contradicts("chain", name)) }
    }

    pub fn address(&self, given: Address, text: &str) -> Result<Address, ApiError> {
        match self.0 {
            Some((_, question)) if question.address != given => Err(contradicts("address", text)),
            _ => Ok(given),
        }
    }

    pub fn range(&self, query: &Query) -> Result<BlockRange, ApiError> {
        let given = BlockRange::read(query)?;
        let Some((_, question)) = self.0 else { return Ok(given) };
        let settle = |names: [&str; 2], given: RangeEnd, carried: RangeEnd| {
            let name = names.into_iter().find(|name| query.get(name).is_some());
            match name {
                Some(name) if given != carried => {
                    Err(contradicts(name, query.get(name).unwrap_or_default()))
                }
                _ => Ok(carried),
            }
        };
        Ok(BlockRange {
            from: settle(["from_block", "from_date"], given.from, question.range.from)?,
            to: settle(["to_block", "to_date"], given.to, question.range.to)?,
        })
    }
}

/// One parameter: as it is given, else as the cursor has it, else as it is by default.
pub fn settle<T: PartialEq>(
    query: &Query,
    name: &str,
    [given, carried]: [Option<T>; 2],
    default: T,
) -> Result<T, ApiError> {
    match (given, carried) {
        (Some(given), Some(carried)) if given != carried => {
            Err(contradicts(name, query.get(name).unwrap_or_default()))
        }
        (given, carried) => Ok(given.or(carried).unwrap_or(default)),
    }
}

fn refused(error: CursorError) -> ApiError {
    ApiError::BadRequest(error.to_string())
}

fn contradicts(name: &str, value: &str) -> ApiError {
    let why = "contradicts the cursor: leave it out, or repeat what the first page was asked with";
    ApiError::bad_value(name, value, why)
}
