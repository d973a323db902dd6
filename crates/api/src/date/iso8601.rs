//! ISO 8601: calendar, week and ordinal dates, basic and extended, with or without time and zone.
//!
//! A text this file refuses may still be a written date (`2024-3-1`), so it answers without reasons.

use jiff::SignedDuration;
use jiff::civil::Date;

use super::clock::{self, Style};
use super::day::{self, instant};
use super::scan::Scan;

/// A day, and whether the text named it or only the year, month or week it begins.
struct Day {
    date: Date,
    is_exact: bool,
}

/// The years that jiff has. Beyond them is the end of time, which clients do write.
const YEARS: (i64, i64) = (-9999, 9999);

pub fn read(text: &str) -> Option<i64> {
    let mut scan = Scan::new(text);
    let day = date(&mut scan)?;
    if scan.at_end() {
        return instant(day.date, SignedDuration::ZERO, SignedDuration::ZERO);
    }
    // After `2024` a space and a number are too little to be a time; `2024T10:00` says what it is.
    let separated = scan.take_any(b"Tt").is_some() || (day.is_exact && scan.skip(b" "));
    if !separated {
        return None;
    }
    let time = clock::time(&mut scan, Style::Iso)?;
    let east = clock::zone_or_utc(&mut scan)?;
    if scan.at_end() { instant(day.date, time, east) } else { None }
}

fn date(scan: &mut Scan) -> Option<Day> {
    if let Some(sign) = scan.take_any(b"+-") {
        return expanded(scan, if sign == b'-' { -1 } else { 1 });
    }
    let lead = scan.digits()?;
    match lead.count {
        8 => calendar(lead.value / 10_000, lead.value / 100 % 100, Some(lead.value % 100)),
        7 => exact(day::ordinal(lead.value / 1000, lead.value % 1000)),
        6 => calendar(lead.value / 100, lead.value % 100, None),
        4 => after_year(scan, lead.value),
        _ => None,
    }
}

/// `+002024-03-01`: six digits of year, as `toISOString` writes years outside 0–9999.
fn expanded(scan: &mut Scan, sign: i64) -> Option<Day> {
    let year = scan.exactly(6)? * sign;
    let month = scan.take(b'-').then(|| scan.exactly(2))??;
    let day = scan.take(b'-').then(|| scan.exactly(2))??;
    calendar(year.clamp(YEARS.0, YEARS.1), month, Some(day))
}

fn after_year(scan: &mut Scan, year: i64) -> Option<Day> {
    let dashed = scan.take(b'-');
    if scan.take_any(b"Ww").is_some() {
        return if dashed { week_extended(scan, year) } else { week_basic(scan, year) };
    }
    if !dashed {
        return calendar(year, 1, None);
    }
    let next = scan.digits()?;
    match next.count {
        3 => exact(day::ordinal(year, next.value)),
        2 if scan.take(b'-') => calendar(year, next.value, Some(scan.exactly(2)?)),
        2 => calendar(year, next.value, None),
        _ => None,
    }
}

fn week_extended(scan: &mut Scan, year: i64) -> Option<Day> {
    let week = scan.exactly(2)?;
    let weekday = if scan.take(b'-') { Some(scan.exactly(1)?) } else { None };
    week_day(year, week, weekday)
}

fn week_basic(scan: &mut Scan, year: i64) -> Option<Day> {
    let run = scan.digits()?;
    match run.count {
        2 => week_day(year, run.value, None),
        3 => week_day(year, run.value / 10, Some(run.value % 10)),
        _ => None,
    }
}

fn week_day(year: i64, week: i64, weekday: Option<i64>) -> Option<Day> {
    let date = day::week(year, week, weekday.unwrap_or(1))?;
    Some(Day { date, is_exact: weekday.is_some() })
}

fn calendar(year: i64, month: i64, day: Option<i64>) -> Option<Day> {
    let date = day::calendar(year, month, day.unwrap_or(1))?;
    Some(Day { date, is_exact: day.is_some() })
}

fn exact(date: Option<Date>) -> Option<Day> {
    date.map(|date| Day { date, is_exact: true })
}
