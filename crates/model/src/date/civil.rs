//! The proleptic Gregorian calendar as integer arithmetic: days since 1970-01-01 and back.
//!
//! Howard Hinnant's algorithms: years are counted from 1 March, so the leap day comes last, and in
//! eras of 400 years, which are all alike.

pub const DAY_SECONDS: i64 = 86_400;

const ERA_DAYS: i64 = 146_097;
/// From 0000-03-01 to 1970-01-01.
const EPOCH_DAYS: i64 = 719_468;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date {
    pub year: i64,
    pub month: i64,
    pub day: i64,
}

impl Date {
    /// Nothing for a date no calendar has, such as 30 February.
    pub fn days(self) -> Option<i64> {
        let fits = (1..=12).contains(&self.month)
            && (1..=days_in_month(self.year, self.month)).contains(&self.day);
        fits.then(|| days_from_civil(self))
    }

    pub fn from_days(days: i64) -> Self {
        let shifted = days + EPOCH_DAYS;
        let era = shifted.div_euclid(ERA_DAYS);
        let day_of_era = shifted.rem_euclid(ERA_DAYS);
        let year_of_era =
            (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        Self { year: era * 400 + year_of_era + i64::from(month <= 2), month, day }
    }
}

/// Day 1 is 1 January; day 366 exists in leap years only.
pub fn days_from_ordinal(year: i64, day_of_year: i64) -> Option<i64> {
    let fits = (1..=365 + i64::from(is_leap(year))).contains(&day_of_year);
    fits.then(|| days_from_civil(Date { year, month: 1, day: 1 }) + day_of_year - 1)
}

/// ISO 8601 weeks begin on Monday (1); week 1 is the one that holds 4 January.
pub fn days_from_week(year: i64, week: i64, weekday: i64) -> Option<i64> {
    let first = first_monday(year);
    let weeks = (first_monday(year + 1) - first) / 7;
    let fits = (1..=weeks).contains(&week) && (1..=7).contains(&weekday);
    fits.then_some(first + (week - 1) * 7 + weekday - 1)
}

fn first_monday(year: i64) -> i64 {
    let fourth = days_from_civil(Date { year, month: 1, day: 4 });
    // 1970-01-01 was a Thursday, three days after Monday.
    fourth - (fourth + 3).rem_euclid(7)
}

fn days_from_civil(date: Date) -> i64 {
    let year = date.year - i64::from(date.month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = if date.month > 2 { date.month - 3 } else { date.month + 9 };
    let day_of_year = (153 * month_from_march + 2) / 5 + date.day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * ERA_DAYS + day_of_era - EPOCH_DAYS
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}
