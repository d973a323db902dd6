//! The hosts' own endpoints, and what their handlers share.

mod charge;
pub mod health;
mod key;
pub mod metrics;
pub mod node_rpc;
mod operator;
mod rpc_batch;
pub mod rpc_socket;
pub mod shared_answer;
pub mod status;

pub use charge::{RATE_LIMIT_COST, Refusal, weighed};
pub use key::Key;
pub use operator::Operator;

/// Compute units an answer is priced at.
pub const WEIGHT: axum::http::HeaderName = axum::http::HeaderName::from_static("x-request-weight");
