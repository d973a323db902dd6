//! The time of day, for what is dated: cursors, keys.

use std::time::{SystemTime, UNIX_EPOCH};

pub const DAY_S: u64 = 86_400;

/// Unix seconds.
pub fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Unix milliseconds.
pub fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
