//! One page of a list: which one is asked for, and how it is answered.

use serde::Serialize;

use super::list_params;
use super::place::Place;
use crate::app::App;
use crate::clock::now_s;
use crate::cursor::{CursorError, ListCursor, QuestionDigest};
use crate::error::ApiError;
use crate::params::Query;

/// `page` and `page_size` are beyond the live service: without them the JS SDK takes every `total` for a promise
/// of another page.
#[derive(Serialize)]
pub struct ListAnswer<T> {
    pub result: Vec<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    pub total: u64,
    page: u64,
    page_size: u64,
}

pub struct ListPage<P> {
    /// Where the page before ended.
    pub after: Option<P>,
    pub limit: usize,
    /// Rows on all pages before.
    pub seen: u64,
    /// What the first page said; none on the first one.
    pub total: Option<u64>,
    question: QuestionDigest,
    now_s: u64,
}

impl<P: Place> ListPage<P> {
    /// `question` holds the tenant and everything that decides which rows there are.
    pub fn read(app: &App, query: &Query, question: QuestionDigest) -> Result<Self, ApiError> {
        let limit = list_params::limit(query)?;
        Self::with_limit(app, query, question, limit)
    }

    pub fn with_limit(
        app: &App,
        query: &Query,
        question: QuestionDigest,
        limit: usize,
    ) -> Result<Self, ApiError> {
        let (now_s, ttl_s) = (now_s(), app.parts.config.cursor_ttl_s);
        let Some(text) = query.get("cursor") else {
            return Ok(ListPage { after: None, limit, seen: 0, total: None, question, now_s });
        };
        let refused = |error: CursorError| ApiError::BadRequest(error.to_string());
        let cursor = app.parts.cursor_key.open_list(text, &question, now_s, ttl_s);
        let ListCursor { place, seen, total, .. } = cursor.map_err(refused)?;
        let after = P::from_bytes(&place).ok_or_else(|| refused(CursorError::Malformed))?;
        Ok(ListPage { after: Some(after), limit, seen, total: Some(total), question, now_s })
    }

    /// `next` is the last row's place where more follow.
    pub fn answer<T>(
        &self,
        app: &App,
        result: Vec<T>,
        next: Option<P>,
        total: u64,
    ) -> ListAnswer<T> {
        let cursor = next.map(|place| {
            let seen = self.seen.saturating_add(result.len() as u64);
            let cursor = ListCursor { place: place.to_bytes(), seen, total, issued_at: self.now_s };
            app.parts.cursor_key.seal_list(&cursor, &self.question)
        });
        let page_size = self.limit as u64;
        let page = page_number(self.seen, page_size, cursor.is_none().then_some(total));
        ListAnswer { result, cursor, total, page, page_size }
    }
}

/// Counts from 0. Where nothing follows, no row of `total` may lie beyond this page: rows that came or went meanwhile
/// would send the JS SDK after a page that is not there.
fn page_number(seen: u64, page_size: u64, total_at_end: Option<u64>) -> u64 {
    let page_size = page_size.max(1);
    let last = total_at_end.map_or(0, |total| total.div_ceil(page_size).saturating_sub(1));
    seen.div_ceil(page_size).max(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_js_sdk_sees_another_page_exactly_where_there_is_one() {
        for (seen, page_size, total, page) in [
            (0, 10, 0, 0),
            (0, 10, 10, 0),
            (10, 10, 11, 1),
            (20, 10, 25, 2),
            // Pages of other sizes before.
            (15, 10, 20, 2),
            // Rows that went meanwhile, and rows that came.
            (10, 10, 250, 24),
            (20, 10, 5, 2),
        ] {
            assert_eq!(page_number(seen, page_size, Some(total)), page, "{seen} {total}");
            assert!(total <= page_size * (page + 1), "what the SDK compares");
        }
        assert_eq!(page_number(20, 10, None), 2, "with a cursor it is what it is");
    }
}
