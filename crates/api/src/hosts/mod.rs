//! The hosts' own endpoints, and what their handlers share.

pub mod health;
mod key;
pub mod metrics;
pub mod node_rpc;
mod operator;
mod rpc_batch;
pub mod shared_answer;
pub mod status;

pub use key::Key;
pub use operator::Operator;

/// Compute units an answer cost.
pub const WEIGHT: axum::http::HeaderName = axum::http::HeaderName::from_static("x-request-weight");
