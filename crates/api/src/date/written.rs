//! Dates as people and programs write them: RFC 2822, JavaScript's `Date.toString()`, C's asctime,
//! `2024/03/01`, `03/01/2024`, `Mar 1, 2024`, `1st March 2024 10:00 pm`.
//!
//! Names are English, in any case, short or long. Numbers alone are month first unless the year leads.

use jiff::SignedDuration;
use jiff::civil::{Date, Weekday};

use super::clock::{self, AfterSpace, Style};
use super::day::{calendar, instant};
use super::scan::{Digits, Scan};

const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// What may stand between the parts of a date that has its month as a word.
const GAPS: &[u8] = b" ,.-/";

pub fn read(text: &str) -> Option<i64> {
    let mut scan = Scan::new(text);
    let weekday = weekday(&mut scan);
    let (date, millis) = day_and_instant(scan)?;
    weekday.is_none_or(|weekday| date.weekday() == weekday).then_some(millis)
}

/// The day as it is written, in its own zone, and the instant that it means.
fn day_and_instant(mut scan: Scan) -> Option<(Date, i64)> {
    if !scan.at_letter() {
        let date = number_leads(&mut scan)?;
        return finish(scan, date);
    }
    if let Some(found) = time_before_year(scan) {
        return Some(found);
    }
    let date = month_leads(&mut scan)?;
    finish(scan, date)
}

/// After the date: nothing, a time, a time and its zone, or a zone alone (`Mar 1 2024 GMT`).
fn finish(mut scan: Scan, date: Date) -> Option<(Date, i64)> {
    skip_t(&mut scan);
    scan.skip(b" ,");
    let has_time = !scan.at_end() && !scan.at_letter();
    let time =
        if has_time { clock::time(&mut scan, Style::Written)? } else { SignedDuration::ZERO };
    let east = clock::zone_or_utc(&mut scan)?;
    if scan.at_end() { Some((date, instant(date, time, east)?)) } else { None }
}

/// `Mar 1 10:00:00 2024`, the zone before the year (`date`) or behind it (`git log`).
fn time_before_year(mut scan: Scan) -> Option<(Date, i64)> {
    let month = month_name(&mut scan)?;
    scan.skip(GAPS);
    let day = day_number(&mut scan)?;
    scan.skip(b" ,");
    let time = clock::time(&mut scan, Style::Written)?;
    let mut ahead = scan;
    let before = clock::zone(&mut ahead, AfterSpace::NotMine);
    if before.is_some() {
        scan = ahead;
    }
    scan.skip(b" ");
    let year = scan.exactly(4)?;
    let east = match before {
        Some(east) => east,
        None => clock::zone_or_utc(&mut scan)?,
    };
    let date = calendar(year, month, day)?;
    if scan.at_end() { Some((date, instant(date, time, east)?)) } else { None }
}

/// `Mar 1, 2024`, `March 1st 2024`, or `March 2024` for its first day.
fn month_leads(scan: &mut Scan) -> Option<Date> {
    let month = month_name(scan)?;
    scan.skip(GAPS);
    let mut ahead = *scan;
    if let Some(year) = ahead.exactly(4) {
        *scan = ahead;
        return calendar(year, month, 1);
    }
    let day = day_number(scan)?;
    scan.skip(GAPS);
    calendar(full_year(scan.digits()?)?, month, day)
}

fn number_leads(scan: &mut Scan) -> Option<Date> {
    let mut ahead = *scan;
    let lead = ahead.digits()?;
    if lead.count == 4 {
        *scan = ahead;
        return year_leads(scan, lead.value);
    }
    match ahead.take_any(b"/-") {
        Some(gap) if ahead.at_digit() => {
            *scan = ahead;
            month_first(scan, lead, gap)
        }
        _ => day_leads(scan),
    }
}

/// `2024/3/1`, `2024-3-1`, `2024.03.01` or `2024 Mar 1`.
fn year_leads(scan: &mut Scan, year: i64) -> Option<Date> {
    let gap = scan.take_any(b"/-.");
    scan.skip(b" ,");
    if scan.at_letter() {
        let month = month_name(scan)?;
        scan.skip(GAPS);
        return calendar(year, month, day_number(scan)?);
    }
    let month = one_or_two(scan.digits()?)?;
    let day = scan.take(gap?).then(|| scan.digits())??;
    calendar(year, month, one_or_two(day)?)
}

/// `03/01/2024` and `3/1/24`; with dashes a short year could be a day as well, so it must be whole.
fn month_first(scan: &mut Scan, month: Digits, gap: u8) -> Option<Date> {
    let day = one_or_two(scan.digits()?)?;
    let year = scan.take(gap).then(|| scan.digits())??;
    if gap == b'-' && year.count != 4 {
        return None;
    }
    calendar(full_year(year)?, one_or_two(month)?, day)
}

/// `1 March 2024`, `1st Mar 2024`, `01-Mar-24`.
fn day_leads(scan: &mut Scan) -> Option<Date> {
    let day = day_number(scan)?;
    scan.skip(GAPS);
    let month = month_name(scan)?;
    scan.skip(GAPS);
    calendar(full_year(scan.digits()?)?, month, day)
}

fn day_number(scan: &mut Scan) -> Option<i64> {
    let day = one_or_two(scan.digits()?)?;
    let mut ahead = *scan;
    let suffix = ahead.word();
    if ["st", "nd", "rd", "th"].iter().any(|known| suffix.eq_ignore_ascii_case(known.as_bytes())) {
        *scan = ahead;
    }
    Some(day)
}

fn one_or_two(digits: Digits) -> Option<i64> {
    (digits.count <= 2).then_some(digits.value)
}

/// RFC 2822's rule for two digits: up to 49 is this century.
fn full_year(digits: Digits) -> Option<i64> {
    match (digits.count, digits.value) {
        (4, year) => Some(year),
        (2, year) if year < 50 => Some(2000 + year),
        (2, year) => Some(1900 + year),
        _ => None,
    }
}

fn weekday(scan: &mut Scan) -> Option<Weekday> {
    let mut ahead = *scan;
    let index = position(&WEEKDAYS, ahead.word())?;
    ahead.skip(b" ,.");
    *scan = ahead;
    Weekday::from_monday_zero_offset(i8::try_from(index).ok()?).ok()
}

/// The `T` of ISO 8601 after a date that is none, as in `2024/03/01T10:00`.
fn skip_t(scan: &mut Scan) {
    let mut ahead = *scan;
    if ahead.take_any(b"Tt").is_some() && ahead.at_digit() {
        *scan = ahead;
    }
}

fn month_name(scan: &mut Scan) -> Option<i64> {
    let index = position(&MONTHS, scan.word())?;
    i64::try_from(index).ok().map(|index| index + 1)
}

/// Three letters are enough to know a name by, and more must agree with it: `sep`, `sept`.
fn position(names: &[&str], word: &[u8]) -> Option<usize> {
    let matches = |name: &&str| {
        let start = name.as_bytes().get(..word.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    if word.len() < 3 { None } else { names.iter().position(matches) }
}
