//! Parameters of lists.

use crate::error::{ApiError, InvalidField};
use crate::params::Query;

const LIMIT_MAX: u32 = 100;

/// There is no default: the live service has none either.
pub fn limit(query: &Query) -> Result<usize, ApiError> {
    let missing = || InvalidField {
        name: "limit".into(),
        message: "'limit' is required".into(),
        value: None,
    };
    limit_if(query)?.ok_or_else(|| ApiError::Invalid(vec![missing()]))
}

/// Some clients write every number with a point.
pub fn limit_if(query: &Query) -> Result<Option<usize>, ApiError> {
    let Some(text) = query.get("limit") else { return Ok(None) };
    let refused = |why: &str| ApiError::invalid_param("limit", text, why);
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    let number = number.ok_or_else(|| refused("invalid float number"))?;
    if number.fract() != 0.0 || !(1.0..=f64::from(LIMIT_MAX)).contains(&number) {
        return Err(refused(&format!("should be a whole number from 1 to {LIMIT_MAX}")));
    }
    Ok(Some(number as usize))
}

pub fn flag(query: &Query, name: &str) -> Result<bool, ApiError> {
    match query.get(name) {
        None => Ok(false),
        Some(text) if text.eq_ignore_ascii_case("true") || text == "1" => Ok(true),
        Some(text) if text.eq_ignore_ascii_case("false") || text == "0" => Ok(false),
        Some(text) => Err(ApiError::invalid_param(name, text, "invalid boolean value")),
    }
}

/// One of these words.
pub fn one_of<T: Copy>(name: &str, text: &str, words: &[(&str, T)]) -> Result<T, ApiError> {
    let found = words.iter().find(|(word, _)| *word == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let all: Vec<_> = words.iter().map(|(word, _)| format!("'{word}'")).collect();
        let why = format!("should be one of the following; [{}]", all.join(","));
        ApiError::invalid_param(name, text, why)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit_of(text: &str) -> Result<usize, String> {
        limit(&Query::of(&[("limit", text)])).map_err(|error| error.body())
    }

    #[test]
    fn a_limit_is_a_whole_number_from_one_to_a_hundred() {
        assert_eq!(limit_of("1"), Ok(1));
        assert_eq!(limit_of("100"), Ok(100));
        assert_eq!(limit_of("20.0"), Ok(20));
        for (text, says) in [
            ("0", "should be a whole number from 1 to 100"),
            ("101", "should be a whole number from 1 to 100"),
            ("-1", "should be a whole number"),
            ("1.5", "should be a whole number"),
            ("1e300", "should be a whole number"),
            ("ten", "invalid float number"),
            ("NaN", "invalid float number"),
            ("inf", "invalid float number"),
            ("0x10", "invalid float number"),
            ("", "'limit' is required"),
        ] {
            let body = limit_of(text).unwrap_err();
            assert!(body.contains(says) && body.contains("\"limit\""), "{text}: {body}");
        }
        assert!(limit(&Query::of(&[])).unwrap_err().body().contains("'limit' is required"));
    }

    #[test]
    fn flags_and_words_say_what_they_take() {
        let flag_of = |text| flag(&Query::of(&[("excludePayload", text)]), "excludePayload");
        assert!(flag_of("true").unwrap() && flag_of("True").unwrap() && flag_of("1").unwrap());
        assert!(!flag_of("false").unwrap() && !flag_of("").unwrap());
        assert!(flag_of("yes").unwrap_err().body().contains("invalid boolean value"));
        let error = one_of("status", "on", &[("active", 1), ("paused", 2)]).unwrap_err();
        assert!(error.body().contains("should be one of the following; ['active','paused']"));
    }
}
