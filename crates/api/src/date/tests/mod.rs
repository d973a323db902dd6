//! Forms taken, forms refused, what the error says, and how we write dates ourselves.

mod accepted;

use jiff::ToSpan;
use proptest::prelude::*;

use super::day::EPOCH;
use super::{UnixMillis, iso_millis_utc, iso_no_zone, parse, write_iso_millis};
use accepted::ACCEPTED;

const REFUSED: &[&str] = &[
    // nothing, or no date at all
    "",
    "   ",
    "now",
    "yesterday",
    "Fri",
    "March",
    "T10:00",
    "10:00",
    "null",
    "NaN",
    "()",
    "(CET)",
    "2024-03-01 and more",
    "２０２４-03-01",
    // digits of a length we do not read, or with a sign
    "1",
    "12345",
    "99999999",
    "123456789012345",
    "-1709287200",
    "+1709287200",
    "1709287200.",
    "1709287200123.5",
    "1.7e9",
    "0x65e1a720",
    // days no calendar has
    "2024-02-30",
    "2023-02-29",
    "1900-02-29",
    "2024-13-01",
    "2024-00-10",
    "2024-03-00",
    "20240230",
    "2024-W00-1",
    "2024-W53-1",
    "2024-W09-0",
    "2024-W09-8",
    "2023-366",
    "2024-000",
    "Feb 30 2024",
    "31/12/2023",
    "13/01/2024",
    // times no day has
    "2024-03-01T25:00",
    "2024-03-01T24:00:01",
    "2024-03-01T24:30",
    "2024-03-01T10:60",
    "2024-03-01T23:59:60",
    "2024-03-01T1",
    "2024-03-01T10:0",
    "2024-03-01T10:00:",
    "2024-03-01T10:00.5",
    "2024-03-01T10:00:30.",
    "2024-03-01T",
    "2024-03-01 13:00 PM",
    "2024-03-01T100",
    // zones we do not know
    "2024-03-01T10:00:00+24:00",
    "2024-03-01T10:00:00+02:60",
    "2024-03-01T10:00:00+",
    "2024-03-01T10:00:00+02:00:00",
    "2024-03-01T10:00:00 CET",
    "2024-03-01T10:00:00Zulu",
    "2024-03-01T10:00:00Z+02:00",
    // ambiguous or incomplete
    "01.03.2024",
    "24-03-01",
    "03-01-24",
    "1 March",
    "Mar 1",
    "Ma 1 2024",
    "Mars 1 2024",
    "2024/03",
    "2024/03-01",
    "2024 10:00",
    "Mar 1 2024 10",
    "Mar 1 2024 1000",
    // weekdays of other dates
    "Mon, 01 Mar 2024",
    "Sat, 01 Mar 2024 10:00:00 +0100",
    "Mon Mar  1 10:00:30 2024",
    "Thursday, March 1, 2024",
    "Sun 2024/03/01",
];

#[test]
fn every_listed_form_is_taken() {
    for (text, millis) in ACCEPTED {
        assert_eq!(parse(text), Ok(UnixMillis(*millis)), "{text}");
    }
}

#[test]
fn letter_case_and_surrounding_space_do_not_matter() {
    for (text, millis) in ACCEPTED {
        for variant in [text.to_uppercase(), text.to_lowercase(), format!("\t {text} \r\n")] {
            assert_eq!(parse(&variant), Ok(UnixMillis(*millis)), "{variant}");
        }
    }
}

#[test]
fn everything_else_is_refused() {
    for text in REFUSED {
        assert!(parse(text).is_err(), "{text} gave {:?}", parse(text));
    }
    assert!(parse(&format!("2024-03-01T10:00:00.{}Z", "0".repeat(108))).is_err(), "129 bytes");
}

#[test]
fn the_error_quotes_the_value_and_says_what_is_taken() {
    let message = parse("2024-02-30").unwrap_err().to_string();
    assert!(message.starts_with("'2024-02-30' is not a date: give unix seconds,"), "{message}");
    for form in ["milliseconds", "ISO 8601", "RFC 2822", "2024/03/01", "1 March 2024 10:00"] {
        assert!(message.contains(form), "{form}");
    }
}

#[test]
fn the_quoted_value_is_short_and_harmless() {
    let message = parse(&"ü".repeat(1000)).unwrap_err().to_string();
    assert!(message.starts_with(&format!("'{}…' is not", "ü".repeat(40))), "{message}");
    let message = parse("a\n\u{202e}<b>'\"\0z").unwrap_err().to_string();
    assert!(message.starts_with("'a???b????z' is not"), "{message}");
}

#[test]
fn an_instant_between_seconds_rounds_into_the_range_it_bounds() {
    let rounded = |millis| {
        let instant = UnixMillis(millis);
        (instant.seconds_at_or_before(), instant.seconds_at_or_after())
    };
    assert_eq!(rounded(1_000), (1, 1));
    assert_eq!(rounded(1_001), (1, 2));
    assert_eq!(rounded(-1), (-1, 0));
    assert_eq!(rounded(i64::MIN), (-9_223_372_036_854_776, -9_223_372_036_854_775));
    assert_eq!(rounded(i64::MAX), (9_223_372_036_854_775, 9_223_372_036_854_776));
}

#[test]
fn block_times_are_written_in_both_forms() {
    assert_eq!(iso_millis_utc(1_709_287_200), "2024-03-01T10:00:00.000Z");
    assert_eq!(iso_no_zone(1_709_287_200), "2024-03-01T10:00:00");
    assert_eq!(iso_millis_utc(0), "1970-01-01T00:00:00.000Z");
    assert_eq!(iso_no_zone(951_782_399), "2000-02-28T23:59:59");
    assert_eq!(iso_no_zone(951_782_400), "2000-02-29T00:00:00");
    assert_eq!(iso_no_zone(4_107_542_400), "2100-03-01T00:00:00");
    let mut row = b"at ".to_vec();
    write_iso_millis(&mut row, 1_438_269_973);
    assert_eq!(row, b"at 2015-07-30T15:26:13.000Z");
}

#[test]
fn times_beyond_the_year_9999_are_written_as_its_end() {
    for seconds in [253_402_300_799, 253_402_300_800, u64::MAX] {
        assert_eq!(iso_millis_utc(seconds), "9999-12-31T23:59:59.000Z");
    }
}

#[test]
fn the_end_of_time_may_be_written() {
    let end = parse("+275760-09-13T00:00:00.000Z").unwrap();
    assert!(end > parse("9999-01-01").unwrap());
    assert!(parse("-271821-04-20T00:00:00.000Z").unwrap() < parse("0001-01-01").unwrap());
    assert!(parse("9999-12-31T24:00-01:00").is_ok());
}

#[test]
fn every_day_of_four_centuries_follows_the_one_before() {
    let mut date = EPOCH.checked_sub(80_000.days()).unwrap();
    for days in -80_000..80_000 {
        let written = format!("{:04}-{:02}-{:02}", date.year(), date.month(), date.day());
        assert_eq!(parse(&written), Ok(UnixMillis(days * 86_400_000)), "{written}");
        date = date.tomorrow().unwrap();
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,140}") {
        let _ = parse(&text);
    }

    #[test]
    fn no_text_that_looks_like_a_date_panics(
        text in "([0-9]{1,15}|[-+:/., TZW()]|Mar|Fri|GMT|pm|st|ü){0,16}",
    ) {
        let _ = parse(&text);
    }

    #[test]
    fn what_we_write_we_read(seconds in 0_u64..=253_402_300_799) {
        let expected = Ok(UnixMillis(i64::try_from(seconds).unwrap() * 1000));
        prop_assert_eq!(parse(&iso_millis_utc(seconds)), expected.clone());
        prop_assert_eq!(parse(&iso_no_zone(seconds)), expected);
    }

    #[test]
    fn any_time_is_written_with_the_same_length(seconds: u64) {
        prop_assert_eq!(iso_millis_utc(seconds).len(), 24);
        prop_assert_eq!(iso_no_zone(seconds).len(), 19);
    }
}
