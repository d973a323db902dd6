//! How a request spells a chain, and when two spellings are the same.
//!
//! In: text of strangers, of any length. Out: one normal form, or a number. Never panics.

use super::id::ChainId;

/// Lower case, every run of spaces, dashes and underscores one dash: `Polygon  Amoy` is
/// `polygon-amoy`.
pub fn normal(text: &str) -> String {
    let parts = text.split(is_separator).filter(|part| !part.is_empty());
    parts.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

/// Lower case, separators left out: `Uniswap v2` and `uniswap-v2` are `uniswapv2`.
pub fn squeezed(text: &str) -> String {
    text.replace(is_separator, "").to_lowercase()
}

/// An id in hex (with 0x) or decimal, in any case, leading zeros or not.
pub fn number(text: &str) -> Option<ChainId> {
    let text = text.trim();
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let (digits, radix) = hex.map_or((text, 10), |digits| (digits, 16));
    // `from_str_radix` would also take a sign.
    if !digits.chars().all(|digit| digit.is_digit(radix)) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok().map(ChainId)
}

/// Whether an operator may give a chain this name. A name that is a number would be an id, and
/// other signs would not survive a path or a metric's label.
pub fn is_usable(text: &str) -> bool {
    let allowed = |sign: char| sign.is_alphanumeric() || sign == '.' || is_separator(sign);
    text.chars().any(char::is_alphanumeric) && text.chars().all(allowed) && number(text).is_none()
}

fn is_separator(sign: char) -> bool {
    sign.is_whitespace() || sign == '-' || sign == '_'
}
