//! Addresses and hashes written as text in a chain file.
//!
//! In: TOML strings. Out: exact bytes. Mixed case must be the right checksum: a mistyped address
//! would otherwise only show as a price or a trade that is never found.

use alloy_primitives::{Address, B256};
use serde::{Deserialize, Deserializer, de::Error};

pub fn address<'de, D: Deserializer<'de>>(source: D) -> Result<Address, D::Error> {
    let text = String::deserialize(source)?;
    parse_address(&text)
        .ok_or_else(|| D::Error::custom(format!("`{text}` is not an address, or mistyped")))
}

pub fn optional_address<'de, D: Deserializer<'de>>(source: D) -> Result<Option<Address>, D::Error> {
    address(source).map(Some)
}

pub fn optional_hash<'de, D: Deserializer<'de>>(source: D) -> Result<Option<B256>, D::Error> {
    let text = String::deserialize(source)?;
    match text.strip_prefix("0x").map(str::parse::<B256>) {
        Some(Ok(hash)) => Ok(Some(hash)),
        _ => Err(D::Error::custom(format!("`{text}` is not a 32-byte hash"))),
    }
}

/// All lower case carries no checksum and is taken as it is.
fn parse_address(text: &str) -> Option<Address> {
    let digits = text.strip_prefix("0x")?;
    if digits.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Address::parse_checksummed(text, None).ok()
    } else {
        digits.parse().ok()
    }
}
