//! Checks of single fields and their words, which are those of the live service's framework.
//!
//! In: JSON and where it stands. Out: values, or `None` with the error noted. Must not know which fields there are.

use std::fmt;

use serde_json::Value;

use super::{
    error::{DefinitionError, FieldError, shortened},
    json::JsonNode,
    limits::{ERROR_MESSAGE_CHARS_MAX, ERROR_VALUE_CHARS_MAX, ERRORS_MAX},
};

/// Where a field stands: `abi.0.inputs.1.type`.
#[derive(Clone, Debug, Default)]
pub(super) struct FieldPath(String);

impl FieldPath {
    pub(super) fn key(&self, key: &str) -> Self {
        let key = shortened(key, ERROR_VALUE_CHARS_MAX);
        if self.0.is_empty() { Self(key) } else { Self(format!("{}.{key}", self.0)) }
    }

    pub(super) fn index(&self, index: usize) -> Self {
        self.key(&index.to_string())
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What was found wrong so far.
#[derive(Debug, Default)]
pub(super) struct FieldChecker {
    fields: Vec<FieldError>,
    rule: Option<String>,
}

impl FieldChecker {
    /// Wrong fields come first: rules about fields that cannot be read say nothing.
    pub(super) fn finish(self) -> Result<(), DefinitionError> {
        if !self.fields.is_empty() {
            Err(DefinitionError::Fields(self.fields))
        } else if let Some(rule) = self.rule {
            Err(DefinitionError::Rule(rule))
        } else {
            Ok(())
        }
    }

    /// The first broken rule is told.
    pub(super) fn rule(&mut self, text: impl Into<String>) {
        self.rule.get_or_insert(shortened(&text.into(), ERROR_MESSAGE_CHARS_MAX));
    }

    pub(super) fn fail(&mut self, at: &FieldPath, message: impl Into<String>, value: Value) {
        if self.fields.len() < ERRORS_MAX {
            let message = shortened(&message.into(), ERROR_MESSAGE_CHARS_MAX);
            let value = short_value(value);
            self.fields.push(FieldError { path: at.0.clone(), message, value });
        }
    }

    pub(super) fn fail_text(&mut self, at: &FieldPath, message: impl Into<String>, text: &str) {
        self.fail(at, message, Value::String(text.to_owned()));
    }

    pub(super) fn required(&mut self, parent: &FieldPath, name: &str) {
        self.fail(&parent.key(name), format!("'{name}' is required"), Value::Null);
    }

    pub(super) fn excess(&mut self, at: &FieldPath, key: &str) {
        let key = shortened(key, ERROR_VALUE_CHARS_MAX);
        let message = format!("\"{key}\" is an excess property and therefore is not allowed");
        self.fail(at, message, Value::String(key));
    }

    pub(super) fn one_of(&mut self, at: &FieldPath, names: &[&str], given: &str) {
        let names = names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(",");
        self.fail_text(at, format!("should be one of the following; [{names}]"), given);
    }

    pub(super) fn text(
        &mut self,
        at: &FieldPath,
        node: &JsonNode,
        chars_max: usize,
    ) -> Option<String> {
        let JsonNode::Text(text) = node else {
            self.fail(at, "invalid string value", node.value());
            return None;
        };
        // A character has at least one byte, so short texts need no counting.
        if text.len() > chars_max && text.chars().count() > chars_max {
            self.fail_text(at, format!("must have at most {chars_max} characters"), text);
            return None;
        }
        Some(text.clone())
    }

    pub(super) fn boolean(&mut self, at: &FieldPath, node: &JsonNode) -> Option<bool> {
        if let JsonNode::Bool(value) = node {
            return Some(*value);
        }
        self.fail(at, "invalid boolean value", node.value());
        None
    }

    pub(super) fn list<'n>(
        &mut self,
        at: &FieldPath,
        node: &'n JsonNode,
        count_max: usize,
    ) -> Option<&'n [JsonNode]> {
        let JsonNode::List(list) = node else {
            self.fail(at, "invalid array", node.value());
            return None;
        };
        if list.len() > count_max {
            let count = Value::from(list.len());
            self.fail(at, format!("must have at most {count_max} entries"), count);
            return None;
        }
        Some(list)
    }

    /// A list, or one object in its place. An empty object is an empty list.
    pub(super) fn list_or_one<'n>(
        &mut self,
        at: &FieldPath,
        node: &'n JsonNode,
        count_max: usize,
    ) -> Option<&'n [JsonNode]> {
        match node {
            JsonNode::Object(entries) if entries.is_empty() => Some(&[]),
            JsonNode::Object(_) => Some(std::slice::from_ref(node)),
            _ => self.list(at, node, count_max),
        }
    }

    pub(super) fn object<'n>(
        &mut self,
        at: &FieldPath,
        node: &'n JsonNode,
    ) -> Option<&'n [(String, JsonNode)]> {
        if let JsonNode::Object(entries) = node {
            return Some(entries);
        }
        self.fail(at, "invalid object", node.value());
        None
    }
}

/// Lists and objects are told whole while they are short.
fn short_value(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(shortened(&text, ERROR_VALUE_CHARS_MAX)),
        Value::Array(_) | Value::Object(_) => {
            let text = value.to_string();
            if text.len() > ERROR_VALUE_CHARS_MAX * 5 {
                Value::String(shortened(&text, ERROR_VALUE_CHARS_MAX))
            } else {
                value
            }
        }
        other => other,
    }
}
