//! What time it is, and how it is written.

use std::time::{SystemTime, UNIX_EPOCH};

pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// `2024-05-26T17:39:34.711Z`.
pub fn iso_millis(ms: u64) -> String {
    let time = i64::try_from(ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    time.unwrap_or_default().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_are_always_written() {
        assert_eq!(iso_millis(1_716_745_174_711), "2024-05-26T17:39:34.711Z");
        assert_eq!(iso_millis(1_716_745_174_000), "2024-05-26T17:39:34.000Z");
        assert_eq!(iso_millis(u64::MAX), "1970-01-01T00:00:00.000Z");
    }
}
