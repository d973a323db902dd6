//! Block times as answers show them. Runs once per row, so the digits go straight into a buffer.
//!
//! Years beyond 9999 would not fit the form; such a time is written as the last second of 9999.

use jiff::SignedDuration;
use jiff::civil::Date;

use super::day::EPOCH;

const LAST: Date = Date::constant(9999, 12, 31);
const DAY_SECONDS: i64 = 86_400;

/// `2024-03-01T10:00:00.000Z`
pub fn iso_millis_utc(unix_seconds: u64) -> String {
    let mut bytes = Vec::with_capacity(24);
    write_iso_millis(&mut bytes, unix_seconds);
    text(bytes)
}

/// `2024-03-01T10:00:00`
pub fn iso_no_zone(unix_seconds: u64) -> String {
    text(second_precision(unix_seconds).to_vec())
}

/// Appends `2024-03-01T10:00:00.000Z`.
pub fn write_iso_millis(out: &mut Vec<u8>, unix_seconds: u64) {
    out.extend_from_slice(&second_precision(unix_seconds));
    out.extend_from_slice(b".000Z");
}

fn second_precision(unix_seconds: u64) -> [u8; 19] {
    let unix_seconds = i64::try_from(unix_seconds).unwrap_or(i64::MAX);
    let second = unix_seconds % DAY_SECONDS;
    let date = EPOCH.checked_add(SignedDuration::from_secs(unix_seconds - second));
    let (date, second) = date.map_or((LAST, DAY_SECONDS - 1), |date| (date, second));
    let year = i64::from(date.year());
    let [y1, y2] = two_digits(year / 100);
    let [y3, y4] = two_digits(year);
    let [m1, m2] = two_digits(date.month().into());
    let [d1, d2] = two_digits(date.day().into());
    let [h1, h2] = two_digits(second / 3600);
    let [n1, n2] = two_digits(second / 60 % 60);
    let [s1, s2] = two_digits(second % 60);
    [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2, b'T', h1, h2, b':', n1, n2, b':', s1, s2]
}

/// The last two of a number.
fn two_digits(value: i64) -> [u8; 2] {
    [digit(value / 10), digit(value)]
}

fn digit(value: i64) -> u8 {
    b'0' + u8::try_from(value % 10).unwrap_or_default()
}

/// The bytes are ASCII by construction, so the empty default is never seen.
fn text(ascii: Vec<u8>) -> String {
    String::from_utf8(ascii).unwrap_or_default()
}
