//! JSON as it was written: numbers keep all their digits, and no key may be given twice.
//!
//! In: a body's bytes. Out: a tree of bounded depth. Must not know what the fields mean.

use std::{collections::HashSet, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::{Value, value::RawValue};

use super::{
    error::{DefinitionError, FieldError, shortened},
    limits::{ERROR_VALUE_CHARS_MAX, JSON_DEPTH_MAX},
};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum JsonNode {
    Null,
    Bool(bool),
    /// Its text.
    Number(String),
    Text(String),
    List(Vec<JsonNode>),
    /// In the order of the text, each key once.
    Object(Vec<(String, JsonNode)>),
}

/// A fault within the text, and the way to it from the inside out.
struct Fault {
    way: Vec<String>,
    message: String,
    value: Value,
}

/// An empty body is an empty object, as web frameworks read it.
pub(super) fn read_json(body: &[u8]) -> Result<JsonNode, DefinitionError> {
    let not_json =
        |error: &dyn fmt::Display| DefinitionError::Rule(format!("The body is not JSON: {error}"));
    let text = std::str::from_utf8(body).map_err(|error| not_json(&error))?;
    if text.trim_ascii().is_empty() {
        return Ok(JsonNode::Object(Vec::new()));
    }
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| not_json(&error))?;
    node(raw, 0).map_err(|mut fault| {
        if fault.way.is_empty() && fault.value.is_null() {
            return not_json(&fault.message);
        }
        fault.way.reverse();
        let path = fault.way.join(".");
        DefinitionError::Fields(vec![FieldError {
            path,
            message: fault.message,
            value: fault.value,
        }])
    })
}

impl JsonNode {
    /// For an error's `value`. Numbers that no machine type holds become text.
    pub(super) fn value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(bool) => Value::Bool(*bool),
            Self::Text(text) => Value::String(text.clone()),
            Self::Number(text) => {
                serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone()))
            }
            Self::List(list) => Value::Array(list.iter().map(Self::value).collect()),
            Self::Object(entries) => Value::Object(
                entries.iter().map(|(key, node)| (key.clone(), node.value())).collect(),
            ),
        }
    }

    /// What the store kept, to be read like a body.
    pub(super) fn from_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(bool) => Self::Bool(*bool),
            Value::Number(number) => Self::Number(number.to_string()),
            Value::String(text) => Self::Text(text.clone()),
            Value::Array(list) => Self::List(list.iter().map(Self::from_value).collect()),
            Value::Object(entries) => Self::Object(
                entries.iter().map(|(key, value)| (key.clone(), Self::from_value(value))).collect(),
            ),
        }
    }
}

fn node(raw: &RawValue, depth: usize) -> Result<JsonNode, Fault> {
    let text = raw.get();
    if depth >= JSON_DEPTH_MAX && text.starts_with(['[', '{']) {
        let message = format!("is nested too deep: at most {JSON_DEPTH_MAX} levels");
        return Err(Fault { way: Vec::new(), message, value: Value::String("…".to_owned()) });
    }
    match text.as_bytes().first() {
        Some(b'{') => object(parsed::<RawEntries<'_>>(text)?, depth),
        Some(b'[') => {
            let list: Vec<&RawValue> = parsed(text)?;
            let nodes = list.into_iter().enumerate().map(|(index, item)| {
                node(item, depth + 1).map_err(|fault| fault.within(&index.to_string()))
            });
            Ok(JsonNode::List(nodes.collect::<Result<_, _>>()?))
        }
        Some(b'"') => Ok(JsonNode::Text(parsed(text)?)),
        Some(b't') => Ok(JsonNode::Bool(true)),
        Some(b'f') => Ok(JsonNode::Bool(false)),
        Some(b'n') => Ok(JsonNode::Null),
        _ => Ok(JsonNode::Number(text.to_owned())),
    }
}

fn object(entries: RawEntries<'_>, depth: usize) -> Result<JsonNode, Fault> {
    let mut seen = HashSet::with_capacity(entries.0.len());
    for (key, _) in &entries.0 {
        if !seen.insert(key.as_str()) {
            let key = shortened(key, ERROR_VALUE_CHARS_MAX);
            let message = format!("\"{key}\" is given twice");
            let value = Value::String(key.clone());
            return Err(Fault { way: vec![key], message, value });
        }
    }
    drop(seen);
    let nodes = entries.0.into_iter().map(|(key, raw)| {
        let node = node(raw, depth + 1).map_err(|fault| fault.within(&key))?;
        Ok((key, node))
    });
    Ok(JsonNode::Object(nodes.collect::<Result<_, _>>()?))
}

/// Text that only looked like JSON from outside, such as half a surrogate pair, fails here.
fn parsed<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Fault> {
    serde_json::from_str(text).map_err(|error| Fault {
        way: Vec::new(),
        message: format!("is not JSON: {error}"),
        value: Value::Null,
    })
}

impl Fault {
    fn within(mut self, key: &str) -> Self {
        self.way.push(shortened(key, ERROR_VALUE_CHARS_MAX));
        self
    }
}

/// An object's entries, repeated keys and all.
struct RawEntries<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for RawEntries<'de> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = RawEntries<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(RawEntries(entries))
            }
        }
        source.deserialize_map(Collect)
    }
}
