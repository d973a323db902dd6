//! Talks to EVM nodes: one upstream, then the pool of a chain's upstreams.
//!
//! In: calls (method and raw parameters). Out: raw answers that still lie in the response body, the
//! best head, and who said so. Knows JSON-RPC, HTTP and WebSocket; knows nothing of blocks beyond a
//! head's four fields, and nothing of the store. Whether an answer is *true* is for ingest to check:
//! it reports liars with [`Pool::report_lie`].

mod bound;
mod budget;
mod call;
mod config;
mod envelope;
mod error;
mod head;
mod json_members;
mod lane;
mod limiter;
mod pool;
mod probe;
mod redact;
mod telemetry;
mod upstream;
mod upstream_id;
mod wall_clock;

pub use bound::Bound;
pub use budget::{ByteBudget, OverBudget};
pub use call::{Call, CallResult, RawAnswer, RpcFailure, RpcFailureKind};
pub use config::{PoolConfig, TraceChoice, UpstreamConfig};
pub use error::Error;
pub use head::Head;
pub use lane::Lane;
pub use pool::{
    ErrorStatus, Evidence, EvidenceStatus, Fetch, Fetched, Forward, Forwarded, ForwardedTogether,
    HeadStatus, MethodStatus, Needs, NodeFindings, NodeOutcome, NodeReport, PendingTransactions,
    Plan, Pool, PoolOptions, PoolStatus, RECENT_BLOCKS, Repeat, Route, State, Subscription,
    UpstreamStatus,
};
pub use probe::{Capabilities, Receipts, Traces};
pub use redact::redacted;
pub use upstream_id::UpstreamId;
