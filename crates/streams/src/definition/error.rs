//! What is wrong with a body, told so that its author can mend it.

use std::fmt;

use serde_json::Value;

/// One field that cannot be taken.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldError {
    /// Where it stands in the body, lists counted from 0: `abi.0.inputs.1.type`. A list that was given as one
    /// object counts as a list of one. Empty for the body itself.
    pub path: String,
    pub message: String,
    /// What was given; null if nothing was.
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub enum DefinitionError {
    /// Fields that are wrong by themselves (HTTP 422).
    Fields(Vec<FieldError>),
    /// Fields that do not go together, or a body that is not JSON (HTTP 400).
    Rule(String),
}

impl fmt::Display for DefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(text) => f.write_str(text),
            Self::Fields(fields) => {
                for (index, field) in fields.iter().enumerate() {
                    let between = if index == 0 { "" } else { "; " };
                    write!(f, "{between}{}: {}", field.path, field.message)?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for DefinitionError {}

/// Nobody needs a megabyte of his own text back.
pub(super) fn shortened(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
