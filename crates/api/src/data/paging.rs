//! What lists in pages share: the limit, the cursor that came in, and the one that goes out.

use crate::app::App;
use crate::clock::now_s;
use crate::cursor::{Cursor, Position, QuestionDigest};
use crate::error::ApiError;
use crate::params::{self, Query};

pub struct Paging {
    /// Where the page before this one ended.
    pub after: Option<Position>,
    pub limit: u32,
    /// Counts from 0.
    pub page: u32,
    pub digest: QuestionDigest,
    pub now_s: u64,
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
        Ok(Paging {
            after: cursor.map(|c| c.position),
            // The limit of the first page holds for all that follow.
            limit: cursor.map_or(limit, |c| c.limit.min(config.limit_max)),
            page: cursor.map_or(0, |c| c.page),
            digest,
            now_s,
        })
    }

    /// The cursor of the page that begins behind `last`.
    pub fn next(&self, app: &App, last: Position) -> String {
        let cursor = Cursor {
            position: last,
            limit: self.limit,
            page: self.page.saturating_add(1),
            issued_at: self.now_s,
        };
        app.parts.cursor_key.seal(&cursor, &self.digest)
    }
}
