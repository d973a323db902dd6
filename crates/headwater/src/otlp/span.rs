//! A span as it is sent.

use super::trace_context::TraceContext;

/// Longer texts are cut: what they hold may come from a stranger.
pub const TEXT_CHARS_MAX: usize = 256;
/// More fields than this are left out.
pub const ATTRIBUTES_MAX: usize = 32;

#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    pub context: TraceContext,
    pub name: String,
    pub kind: Kind,
    pub is_error: bool,
    /// Nanoseconds since 1970.
    pub start_ns: u64,
    pub end_ns: u64,
    pub attributes: Vec<(&'static str, Value)>,
}

/// By the numbers of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Internal = 1,
    Server = 2,
    Client = 3,
}

impl Kind {
    pub fn of(name: &str) -> Self {
        match name {
            "server" => Kind::Server,
            "client" => Kind::Client,
            _ => Kind::Internal,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Text(String),
    Int(i64),
    Bool(bool),
}
