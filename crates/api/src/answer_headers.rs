//! What every answer carries: that it is what it says it is, that nobody may keep it, and when it was given.

use std::sync::RwLock;

use axum::http::header::{CACHE_CONTROL, CONNECTION, DATE, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderMap, HeaderValue, Version};

use crate::clock::now_s;
use crate::lock;

const NO_SNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// The `Date` of this second, written once.
#[derive(Default)]
pub struct AnswerDate(RwLock<Option<(u64, HeaderValue)>>);

impl AnswerDate {
    /// None where the clock shows a year that HTTP cannot write.
    pub fn get(&self) -> Option<HeaderValue> {
        self.at(now_s())
    }

    fn at(&self, now_s: u64) -> Option<HeaderValue> {
        if let Some((second, value)) = &*lock::read(&self.0)
            && *second == now_s
        {
            return Some(value.clone());
        }
        let value = HeaderValue::from_str(&http_date(now_s)?).ok()?;
        *lock::write(&self.0) = Some((now_s, value.clone()));
        Some(value)
    }
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`
fn http_date(unix_s: u64) -> Option<String> {
    let time = jiff::Timestamp::from_second(i64::try_from(unix_s).ok()?).ok()?;
    jiff::fmt::rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&time).ok()
}

/// An answer belongs to a key, and is another one after the next block: no cache on the way may keep it.
pub fn add(headers: &mut HeaderMap, date: Option<HeaderValue>) {
    headers.insert(X_CONTENT_TYPE_OPTIONS, NO_SNIFF);
    headers.entry(CACHE_CONTROL).or_insert(NO_STORE);
    if let Some(date) = date {
        headers.insert(DATE, date);
    }
}

/// The client is to come back on another connection. HTTP/2 says that in its own way.
pub fn add_close(headers: &mut HeaderMap, version: Version) {
    if version < Version::HTTP_2 {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_written_as_http_wants_it_and_never_a_reason_to_stop() {
        let date = AnswerDate::default();
        assert_eq!(date.at(784_111_777).unwrap(), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(date.at(0).unwrap(), "Thu, 01 Jan 1970 00:00:00 GMT");
        for broken in [9_000_000_000_000_000, u64::MAX] {
            assert_eq!(date.at(broken), None, "the year 285 million");
        }
        assert_eq!(date.at(784_111_778).unwrap(), "Sun, 06 Nov 1994 08:49:38 GMT");
    }
}
