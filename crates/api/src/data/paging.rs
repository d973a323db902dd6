//! What lists in pages share: the limit, the cursor that came in, and the one that goes out.

use crate::app::App;
use crate::clock::now_s;
use crate::cursor::{Cursor, Position, QuestionDigest};
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
    digest: QuestionDigest,
    now_s: u64,
}

impl Paging {
    /// `digest` is the question's: a cursor of another one is refused.
    pub fn read(app: &App, query: &Query, digest: QuestionDigest) -> Result<Self, ApiError> {
        let config = &app.parts.config;
        let limit = params::limit(query, config)?;
        let now_s = now_s();
        let open = |text| app.parts.cursor_key.open(text, &digest, now_s, config.cursor_ttl_s);
        let cursor = query.get("cursor").map(open).transpose();
        let cursor = cursor.map_err(|error| ApiError::BadRequest(error.to_string()))?;
        let page = Page {
            after: cursor.map(|c| c.position),
            // The limit of the first page holds for all that follow.
            limit: cursor.map_or(limit, |c| c.limit.min(config.limit_max)),
            number: cursor.map_or(0, |c| c.page),
            era: now_s / (config.cursor_ttl_s / 2).max(1),
        };
        Ok(Paging { page, digest, now_s })
    }

    /// The cursor of the page that begins behind `last`.
    pub fn next(&self, app: &App, last: Position) -> String {
        let cursor = Cursor {
            position: last,
            limit: self.page.limit,
            page: self.page.number.saturating_add(1),
            issued_at: self.now_s,
        };
        app.parts.cursor_key.seal(&cursor, &self.digest)
    }
}
