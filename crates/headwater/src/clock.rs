//! Whether the machine's clock can be right at all. Outside of these years the store's engine and the HTTP library give
//! up in words of their own, or without any.

use std::time::{Duration, SystemTime};

use anyhow::{Result, bail};

/// 9999-01-01, in seconds since 1970: dates of HTTP have four digits for the year.
const TOO_LATE_S: u64 = 253_370_764_800;

pub fn check() -> Result<()> {
    check_time(SystemTime::now())
}

fn check_time(now: SystemTime) -> Result<()> {
    match now.duration_since(SystemTime::UNIX_EPOCH) {
        Err(_) => bail!("the machine's clock shows a time before 1970; set it, and start again"),
        Ok(since) if since >= Duration::from_secs(TOO_LATE_S) => {
            bail!("the machine's clock shows a time after the year 9998; set it, and start again")
        }
        Ok(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_years_of_four_digits_since_1970_can_be() {
        let epoch = SystemTime::UNIX_EPOCH;
        for good in [epoch, SystemTime::now(), epoch + Duration::from_secs(TOO_LATE_S - 1)] {
            assert!(check_time(good).is_ok());
        }
        for (bad, says) in [
            (epoch - Duration::from_secs(1), "before 1970"),
            (epoch + Duration::from_secs(TOO_LATE_S), "after the year 9998"),
        ] {
            assert!(check_time(bad).unwrap_err().to_string().contains(says));
        }
    }
}
