//! Days by number, as the forms give them, and the instant that a day, a time and a zone make.
//!
//! jiff knows the calendar. A number that no calendar has (30 February, week 53 of most years) is nothing.

use jiff::SignedDuration;
use jiff::civil::{Date, ISOWeekDate, Weekday};

pub const EPOCH: Date = Date::constant(1970, 1, 1);

pub fn calendar(year: i64, month: i64, day: i64) -> Option<Date> {
    Date::new(short(year)?, short(month)?, short(day)?).ok()
}

/// Day 1 is 1 January; day 366 exists in leap years only.
pub fn ordinal(year: i64, day_of_year: i64) -> Option<Date> {
    let first = calendar(year, 1, 1)?;
    first.with().day_of_year(short(day_of_year)?).build().ok()
}

/// ISO 8601 weeks begin on Monday (1); week 1 is the one that holds 4 January.
pub fn week(year: i64, week: i64, weekday: i64) -> Option<Date> {
    let weekday = Weekday::from_monday_one_offset(short(weekday)?).ok()?;
    ISOWeekDate::new(short(year)?, short(week)?, weekday).ok().map(ISOWeekDate::date)
}

/// Milliseconds since 1970 UTC. Not by way of a jiff timestamp: those end before the year 9999 does.
pub fn instant(date: Date, time: SignedDuration, east: SignedDuration) -> Option<i64> {
    let since = date.duration_since(EPOCH).checked_add(time)?.checked_sub(east)?;
    i64::try_from(since.as_millis()).ok()
}

fn short<T: TryFrom<i64>>(number: i64) -> Option<T> {
    T::try_from(number).ok()
}
