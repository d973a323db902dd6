//! The HTTP `Retry-After` header: seconds, or a date.

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use std::time::Duration;

/// How long to wait from `now` on; a date in the past is no wait.
pub fn parse(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let at = DateTimeParser::new().parse_timestamp(value).ok()?;
    Some(Duration::try_from(at.duration_since(now)).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_read() {
        let now: Timestamp = "2026-02-01T10:00:00Z".parse().unwrap();
        for (value, seconds) in [
            ("7", Some(7)),
            (" 0 ", Some(0)),
            ("Sun, 01 Feb 2026 10:00:30 GMT", Some(30)),
            ("Sun, 01 Feb 2026 09:00:00 GMT", Some(0)),
            ("-3", None),
            ("soon", None),
            ("NaN", None),
        ] {
            assert_eq!(parse(value, now), seconds.map(Duration::from_secs), "{value}");
        }
    }
}
