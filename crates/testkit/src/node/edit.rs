//! Small changes to one field of a JSON object, so that it stays well-formed and becomes wrong.

use serde_json::{Value, json};

/// One more than it was.
pub(crate) fn bump(object: &mut Value, field: &str) {
    let Some(place) = object.get_mut(field) else { return };
    let digits = place.as_str().and_then(|text| text.strip_prefix("0x"));
    let Some(number) = digits.and_then(|digits| u128::from_str_radix(digits, 16).ok()) else {
        return;
    };
    *place = json!(format!("{:#x}", number + 1));
}

/// Another last digit.
pub(crate) fn flip(object: &mut Value, field: &str) {
    let Some(place) = object.get_mut(field) else { return };
    let Some(text) = place.as_str() else { return };
    let last = if text.ends_with('0') { '1' } else { '0' };
    let kept: String = text.chars().take(text.len().saturating_sub(1)).collect();
    *place = json!(format!("{kept}{last}"));
}

/// One more byte at the end, so that even empty data changes.
pub(crate) fn grow(object: &mut Value, field: &str) {
    if let Some(place) = object.get_mut(field) {
        *place = json!(format!("{}01", place.as_str().unwrap_or("0x")));
    }
}
