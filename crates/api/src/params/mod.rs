//! Query parameters: each is read by one function, whose error names the parameter and the value.

mod body;
mod path;
mod query;
mod range;

pub use body::{check_json_type, whole_body};
pub use path::Path;
pub use query::Query;
pub use range::{BlockRange, Blocks, OPEN_END, PAST_NEWEST, RangeEnd};

use alloy_primitives::Address;
use model::facts::Market;
use model::raw::json_value::JsonValue;

use crate::error::ApiError;

/// The interface's default, and what the live service takes at most.
const DAYS_DEFAULT: u32 = 7;
const DAYS_MAX: u32 = 365;

/// `0x` and forty hex digits in any case.
pub fn address(parameter: &str, text: &str) -> Result<Address, ApiError> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or_default();
    let quoted = format!("\"0x{digits}\"");
    Address::read_json(quoted.as_bytes()).map(|(address, _)| address).ok_or_else(|| {
        let why = if is_name(text) {
            "is a name, and names are not resolved here: give the hex address it stands for"
        } else {
            "is not a valid hex address"
        };
        ApiError::bad_value(parameter, text, why)
    })
}

/// As `vitalik.eth`: labels between dots, of letters of any script, digits, dashes and underscores.
fn is_name(text: &str) -> bool {
    let label = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
    };
    text.contains('.') && text.split('.').all(label) && text.chars().any(char::is_alphabetic)
}

pub fn limit(query: &Query, config: &crate::Config) -> Result<Option<u32>, ApiError> {
    let Some(text) = query.get("limit") else { return Ok(None) };
    let max = config.limit_max;
    match text.parse::<u32>() {
        Ok(limit) if (1..=max).contains(&limit) => Ok(Some(limit)),
        _ => Err(ApiError::bad_value("limit", text, &format!("is not a number from 1 to {max}"))),
    }
}

/// One of the markets whose sales are known, or all.
pub fn marketplace(query: &Query) -> Result<Option<Market>, ApiError> {
    let Some(text) = query.get("marketplace") else { return Ok(None) };
    let unknown = || {
        let names = Market::ALL.map(Market::name).join(", ");
        ApiError::bad_value("marketplace", text, &format!("is not one of {names}"))
    };
    Market::from_name(text).map(Some).ok_or_else(unknown)
}

/// How far to look back.
pub fn days(query: &Query) -> Result<u32, ApiError> {
    let Some(text) = query.get("days") else { return Ok(DAYS_DEFAULT) };
    match text.parse::<u32>() {
        Ok(days) if (1..=DAYS_MAX).contains(&days) => Ok(days),
        _ => {
            let why = format!("is not a number of days from 1 to {DAYS_MAX}");
            Err(ApiError::bad_value("days", text, &why))
        }
    }
}

/// True for oldest first; none where it is not given.
pub fn order(query: &Query) -> Result<Option<bool>, ApiError> {
    match query.get("order") {
        None => Ok(None),
        Some(text) if text.eq_ignore_ascii_case("desc") => Ok(Some(false)),
        Some(text) if text.eq_ignore_ascii_case("asc") => Ok(Some(true)),
        Some(text) => Err(ApiError::bad_value("order", text, "is neither ASC nor DESC")),
    }
}

/// Whether the one allowed value of `include` was given.
pub fn include(query: &Query, allowed: &str) -> Result<bool, ApiError> {
    match query.get("include") {
        None => Ok(false),
        Some(text) if text == allowed => Ok(true),
        Some(text) => Err(ApiError::bad_value(
            "include",
            text,
            &format!("is not {allowed}, the allowed value"),
        )),
    }
}
