//! The hosts' own endpoints, and what their handlers share.

mod key;
pub mod node_rpc;
pub mod operations;

pub use key::Key;

/// Compute units an answer cost.
pub const WEIGHT: axum::http::HeaderName = axum::http::HeaderName::from_static("x-request-weight");
