//! One field of an item, as the payload writes it and as a selector reads it.

use std::borrow::Cow;

use alloy_primitives::{Address, B256, U256, hex};

use super::Tokens;

#[derive(Clone, Debug, PartialEq)]
pub enum FieldValue<'a> {
    Null,
    Address(Address),
    Word(B256),
    Bytes(&'a [u8]),
    Small(u64),
    Large(U256),
    Bool(bool),
    Text(Cow<'a, str>),
    Addresses(&'a [Address]),
}

impl FieldValue<'_> {
    /// As selectors take it: none for null and for lists.
    pub fn text(&self) -> Option<String> {
        Some(match self {
            Self::Null | Self::Addresses(_) => return None,
            Self::Address(address) => hex::encode_prefixed(address),
            Self::Word(word) => hex::encode_prefixed(word),
            Self::Bytes(bytes) => hex::encode_prefixed(bytes),
            Self::Small(number) => number.to_string(),
            Self::Large(number) => number.to_string(),
            Self::Bool(is) => is.to_string(),
            Self::Text(text) => text.clone().into_owned(),
        })
    }
}

impl From<Option<Address>> for FieldValue<'_> {
    fn from(value: Option<Address>) -> Self {
        value.map_or(Self::Null, Self::Address)
    }
}

impl From<Option<B256>> for FieldValue<'_> {
    fn from(value: Option<B256>) -> Self {
        value.map_or(Self::Null, Self::Word)
    }
}

impl From<Option<u64>> for FieldValue<'_> {
    fn from(value: Option<u64>) -> Self {
        value.map_or(Self::Null, Self::Small)
    }
}

impl From<Option<U256>> for FieldValue<'_> {
    fn from(value: Option<U256>) -> Self {
        value.map_or(Self::Null, Self::Large)
    }
}

impl<'a> From<&'a str> for FieldValue<'a> {
    fn from(value: &'a str) -> Self {
        Self::Text(value.into())
    }
}

/// An object of one of the payload's arrays.
pub trait Item {
    /// In the order of the payload.
    const KEYS: &'static [&'static str];

    /// What stands under one of these keys.
    fn value<'a>(&'a self, key: &str, tokens: &'a Tokens) -> FieldValue<'a>;
}
