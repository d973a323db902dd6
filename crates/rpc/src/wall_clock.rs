//! The time of day, for what is shown and dated. A clock that shows an impossible year is no reason to stop.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;

pub fn now() -> Timestamp {
    nearest(SystemTime::now())
}

/// `Timestamp::now` would panic outside of the years that a timestamp can hold.
fn nearest(time: SystemTime) -> Timestamp {
    let latest = if time < UNIX_EPOCH { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::try_from(time).unwrap_or(latest)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_broken_clock_gives_the_nearest_time_there_is() {
        let year = Duration::from_secs(31_556_952);
        assert_eq!(nearest(UNIX_EPOCH), Timestamp::UNIX_EPOCH);
        assert_eq!(nearest(UNIX_EPOCH + year * 285_000_000), Timestamp::MAX);
        assert_eq!(nearest(UNIX_EPOCH - year * 100).as_second(), -3_155_695_200);
        assert_eq!(nearest(UNIX_EPOCH - year * 285_000_000), Timestamp::MIN);
    }
}
