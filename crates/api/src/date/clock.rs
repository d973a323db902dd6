//! Time of day and zone, as they follow a date in every form.
//!
//! In: a scan at the time. Out: time since the day began, and how far east of UTC.

use jiff::SignedDuration;

use super::scan::Scan;

const DAY: SignedDuration = SignedDuration::from_hours(24);

/// How much a time must show to be one.
#[derive(Clone, Copy, PartialEq)]
pub enum Style {
    /// After an ISO date: `10`, `1000` and `100030` will do.
    Iso,
    /// After a written date a bare number could be anything: a colon or am/pm is needed.
    Written,
}

/// What a number after the time and a space means.
#[derive(Clone, Copy, PartialEq)]
pub enum AfterSpace {
    /// An offset whose `+` a client forgot to encode, so the URL decoder made it a space.
    Offset,
    /// Something else, such as the year in `Fri Mar 1 10:00:00 2024`.
    NotMine,
}

/// Time since the day began. `24:00` is the end of the day; nothing else may reach beyond it.
pub fn time(scan: &mut Scan, style: Style) -> Option<SignedDuration> {
    let lead = scan.digits()?;
    let (hour, minute, second) = match lead.count {
        1 | 2 => colons(scan, lead.value)?,
        4 if style == Style::Iso => (lead.value / 100, Some(lead.value % 100), None),
        6 if style == Style::Iso => {
            (lead.value / 10_000, Some(lead.value / 100 % 100), Some(lead.value % 100))
        }
        _ => return None,
    };
    let fraction = match second.and_then(|_| scan.take_any(b".,")) {
        Some(_) => scan.thousandths()?,
        None => 0,
    };
    let half = half_of_day(scan);
    let bare = minute.is_none() && half.is_none();
    if bare && (style == Style::Written || lead.count < 2) {
        return None;
    }
    let (minute, second) = (minute.unwrap_or(0), second.unwrap_or(0));
    let hour = hour_of_day(hour, half)?;
    let millis = ((hour * 60 + minute) * 60 + second) * 1000 + fraction;
    let time = SignedDuration::from_millis(millis);
    (minute < 60 && second < 60 && time <= DAY).then_some(time)
}

type HourMinuteSecond = (i64, Option<i64>, Option<i64>);

fn colons(scan: &mut Scan, hour: i64) -> Option<HourMinuteSecond> {
    if !scan.take(b':') {
        return Some((hour, None, None));
    }
    let minute = scan.exactly(2)?;
    let second = if scan.take(b':') { Some(scan.exactly(2)?) } else { None };
    Some((hour, Some(minute), second))
}

#[derive(Clone, Copy)]
enum Half {
    Am,
    Pm,
}

fn half_of_day(scan: &mut Scan) -> Option<Half> {
    let mut ahead = *scan;
    ahead.skip(b" ");
    let half = match ahead.word().to_ascii_lowercase().as_slice() {
        b"am" => Half::Am,
        b"pm" => Half::Pm,
        _ => return None,
    };
    *scan = ahead;
    Some(half)
}

fn hour_of_day(hour: i64, half: Option<Half>) -> Option<i64> {
    match half {
        None => Some(hour),
        Some(_) if hour > 12 => None,
        Some(Half::Am) => Some(hour % 12),
        Some(Half::Pm) => Some(hour % 12 + 12),
    }
}

/// How far east of UTC; nothing for a text that is no zone. No zone at all is the caller's case.
pub fn zone(scan: &mut Scan, after_space: AfterSpace) -> Option<SignedDuration> {
    let spaced = scan.skip(b" ");
    if !scan.at_letter() {
        return offset(scan, spaced && after_space == AfterSpace::Offset);
    }
    let hours = match scan.word().to_ascii_lowercase().as_slice() {
        b"z" => return Some(SignedDuration::ZERO),
        b"ut" | b"utc" | b"gmt" => return after_gmt(scan, after_space),
        b"edt" => -4,
        b"est" | b"cdt" => -5,
        b"cst" | b"mdt" => -6,
        b"mst" | b"pdt" => -7,
        b"pst" => -8,
        _ => return None,
    };
    Some(SignedDuration::from_hours(hours))
}

/// The zone that follows, or UTC where nothing does.
pub fn zone_or_utc(scan: &mut Scan) -> Option<SignedDuration> {
    if scan.at_end() { Some(SignedDuration::ZERO) } else { zone(scan, AfterSpace::Offset) }
}

/// `GMT` may stand alone or carry an offset: `GMT+0100`, `UTC+2`.
fn after_gmt(scan: &mut Scan, after_space: AfterSpace) -> Option<SignedDuration> {
    let mut ahead = *scan;
    let spaced = ahead.skip(b" ");
    let offset_follows = match ahead.peek() {
        Some(b'+' | b'-') => true,
        Some(_) => spaced && ahead.at_digit() && after_space == AfterSpace::Offset,
        None => false,
    };
    if !offset_follows {
        return Some(SignedDuration::ZERO);
    }
    *scan = ahead;
    offset(scan, true)
}

/// `+02:00`, `+0200`, `+02` or `+2`; without its sign only where a lost `+` is likely.
fn offset(scan: &mut Scan, plus_may_be_lost: bool) -> Option<SignedDuration> {
    let sign = match scan.take_any(b"+-") {
        Some(b'-') => -1,
        Some(_) => 1,
        None if plus_may_be_lost => 1,
        None => return None,
    };
    let lead = scan.digits()?;
    let (hours, minutes) = match lead.count {
        1 | 2 if scan.take(b':') => (lead.value, scan.exactly(2)?),
        1 | 2 => (lead.value, 0),
        4 => (lead.value / 100, lead.value % 100),
        _ => return None,
    };
    let east = SignedDuration::from_mins(sign * (hours * 60 + minutes));
    (hours < 24 && minutes < 60).then_some(east)
}
