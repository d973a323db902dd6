//! What lists in pages share: the page that is asked for, and the cursor that goes out.

use super::carried::{Carried, settle};
use crate::app::App;
use crate::clock::now_s;
use crate::cursor::{Cursor, PageQuestion, Position};
use crate::error::ApiError;
use crate::params::{self, Query};

/// Which page is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Page {
    /// Where the page before this one ended.
    pub after: Option<Position>,
    pub limit: u32,
    /// Counts from 0.
    pub number: u32,
    /// Counts up while a cursor lives, so that a cached page never hands out an expired cursor: it has at
    /// least half of its life before it.
    era: u64,
}

/// A page, and what its next cursor is made of.
pub struct Paging {
    pub page: Page,
    question: PageQuestion,
    now_s: u64,
}

impl Paging {
    pub fn read(
        app: &App,
        query: &Query,
        carried: &Carried,
        question: PageQuestion,
    ) -> Result<Self, ApiError> {
        let config = &app.parts.config;
        let cursor = carried.cursor();
        // The limit of the first page holds for all that follow.
        let limits = [params::limit(query, config)?, cursor.map(|it| it.limit)];
        let limit = settle(query, "limit", limits, config.limit_default)?;
        let now_s = now_s();
        let page = Page {
            after: cursor.map(|c| c.position),
            limit: limit.min(config.limit_max),
            number: cursor.map_or(0, |c| c.page),
            era: now_s / (config.cursor_ttl_s / 2).max(1),
        };
        Ok(Paging { page, question, now_s })
    }

    /// The cursor of the page that begins behind `last`.
    pub fn next(&self, app: &App, last: Position) -> String {
        let cursor = Cursor {
            position: last,
            limit: self.page.limit,
            page: self.page.number.saturating_add(1),
            issued_at: self.now_s,
        };
        app.parts.cursor_key.seal(&cursor, &self.question)
    }
}
