//! Dates as clients write them, and dates as we write them.
//!
//! In: a `from_date` or `to_date` value. Out: milliseconds since 1970 UTC, or an error that says
//! which forms are taken. Knows neither clock, locale nor time zone database: a date without zone is UTC.
//!
//! Forms are tried in the order number, ISO 8601, written. Where they could clash:
//! - bare digits: 4 = year, 6 = YYYYMM, 7 = YYYYDDD, 8 = YYYYMMDD (as moment.js reads them),
//!   9–11 = unix seconds, 12–14 = unix milliseconds, a lone `0` = the epoch, any other count refused;
//! - `03/01/2024` is 1 March: month first, as JavaScript's Date reads it; `01.03.2024` is refused,
//!   because most people who write dots mean the day first;
//! - a second of 60 is refused, as moment.js does: unix time has no leap seconds;
//! - a weekday that contradicts its date is refused: one of the two is a mistake, and nobody knows which.

mod clock;
mod day;
mod format;
mod iso8601;
mod number;
mod scan;
#[cfg(test)]
mod tests;
mod written;

pub use format::{iso_millis_utc, iso_no_zone, write_iso_millis};

/// Long enough for `Date.toString()` with a spelled-out zone, short enough to refuse early.
const TEXT_BYTES_MAX: usize = 128;
const QUOTED_CHARS_MAX: usize = 40;

/// Milliseconds since 1970-01-01T00:00:00Z; negative before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixMillis(pub i64);

impl UnixMillis {
    /// The last whole second at or before: what a `to_date` compares block times with.
    pub fn seconds_at_or_before(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// The first whole second at or after: what a `from_date` compares block times with.
    pub fn seconds_at_or_after(self) -> i64 {
        self.0.div_euclid(1000) + i64::from(self.0.rem_euclid(1000) > 0)
    }
}

/// The one way a date can be wrong; its text is meant for the client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{quoted}' is not a date: give unix seconds, unix milliseconds (13 digits), ISO 8601 \
     (2024-03-01, 2024-W09-5, 2024-061, 2024-03-01T10:00:00Z), RFC 2822 \
     (Fri, 01 Mar 2024 10:00:00 +0000) or a common form (2024/03/01, Mar 1 2024, 1 March 2024 10:00)"
)]
pub struct DateError {
    quoted: String,
}

pub fn parse(text: &str) -> Result<UnixMillis, DateError> {
    read(text.trim()).map(UnixMillis).ok_or_else(|| DateError { quoted: quote(text.trim()) })
}

fn read(text: &str) -> Option<i64> {
    if text.len() > TEXT_BYTES_MAX {
        return None;
    }
    // Browsers put a narrow no-break space before AM and PM; the readers below know plain ASCII only.
    let plain: String = without_comment(text)
        .chars()
        .map(|letter| if letter.is_whitespace() { ' ' } else { letter })
        .collect();
    number::read(&plain).or_else(|| iso8601::read(&plain)).or_else(|| written::read(&plain))
}

/// Cuts a zone name in brackets off the end, as in `… GMT+0100 (CET)`; the offset has said it already.
fn without_comment(text: &str) -> &str {
    match text.strip_suffix(')').and_then(|inner| inner.split_once('(')) {
        Some((date, _)) => date.trim_end(),
        None => text,
    }
}

/// Strangers' text ends up in answers and logs, so only letters, digits and date signs survive.
fn quote(text: &str) -> String {
    let keep = |letter: char| letter.is_alphanumeric() || " -+:./,()_".contains(letter);
    let mut quoted: String = text
        .chars()
        .take(QUOTED_CHARS_MAX)
        .map(|letter| if keep(letter) { letter } else { '?' })
        .collect();
    if text.chars().nth(QUOTED_CHARS_MAX).is_some() {
        quoted.push('…');
    }
    quoted
}
