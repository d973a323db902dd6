//! What can go wrong between us and a node.
//!
//! Every text names an upstream by its label only (configured name or redacted URL). A JSON-RPC
//! error is an answer, not an `Error`: see [`crate::RpcFailure`].

use crate::bound::Bound;
use crate::call::RpcFailure;
use model::printable;
use std::time::Duration;

pub(crate) type Source = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("upstream {upstream} is not configured well: {why}")]
    Config { upstream: String, why: String },

    /// Nothing was sent, so a write may safely go elsewhere.
    #[error("could not connect to {upstream}")]
    Connect { upstream: String, source: Source },

    /// The connection broke after the request may have been read, or before the answer was whole.
    #[error("connection to {upstream} broke before its answer was whole")]
    Interrupted {
        upstream: String,
        source: Source,
        /// Another request on the same connection brings this event, too; it counts against the node there.
        is_counted: bool,
    },

    #[error("{upstream} gave no answer within {after_ms} ms")]
    Timeout { upstream: String, after_ms: u64 },

    #[error("{upstream} asks to slow down")]
    RateLimited {
        upstream: String,
        retry_after: Option<Duration>,
        /// Its own words, if it said so in an answer.
        refusal: Option<Box<RpcFailure>>,
    },

    #[error("{upstream} answered with HTTP status {status}")]
    Http { upstream: String, status: u16 },

    #[error("{}", too_large(upstream, *bytes_max, *bound))]
    TooLarge { upstream: String, bytes_max: usize, bound: Bound },

    #[error("{upstream} sent what is no JSON-RPC answer: {why}")]
    Malformed { upstream: String, why: String },

    /// Nobody fits right now; the text says why each upstream is left out.
    #[error("no upstream of {chain} can answer: {why}")]
    NoUpstream { chain: String, why: String },

    #[error("the pool of {chain} is shut down")]
    Closed { chain: String },
}

impl Error {
    /// Whether the same calls may succeed later or on another upstream.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Config { .. } | Self::Closed { .. } => false,
            Self::TooLarge { bound, .. } => *bound == Bound::InFlight,
            Self::Connect { .. }
            | Self::Interrupted { .. }
            | Self::Timeout { .. }
            | Self::RateLimited { .. }
            | Self::Http { .. }
            | Self::Malformed { .. }
            | Self::NoUpstream { .. } => true,
        }
    }

    /// The same; `is_counted` where another request brings the same event.
    pub(crate) fn with_counted(mut self, by_another: bool) -> Self {
        if let Self::Interrupted { is_counted, .. } = &mut self {
            *is_counted = by_another;
        }
        self
    }

    /// Whether the node certainly did not act on the request, so that a write may be sent again.
    pub(crate) fn was_not_accepted(&self) -> bool {
        matches!(self, Self::Connect { .. } | Self::RateLimited { .. })
    }

    /// The metric label of this outcome.
    pub(crate) fn outcome(&self) -> &'static str {
        match self {
            Self::Config { .. } => "config",
            Self::Connect { .. } => "unreachable",
            Self::Interrupted { .. } => "interrupted",
            Self::Timeout { .. } => "timeout",
            Self::RateLimited { .. } => "rate_limited",
            Self::Http { .. } => "http_error",
            Self::TooLarge { .. } => "too_large",
            Self::Malformed { .. } => "malformed",
            Self::NoUpstream { .. } => "no_upstream",
            Self::Closed { .. } => "closed",
        }
    }
}

fn too_large(upstream: &str, bytes_max: usize, bound: Bound) -> String {
    match bound {
        Bound::Answer => format!("{upstream} sent more than {bytes_max} bytes"),
        Bound::Batch => format!("the batch asked of {upstream} has more than {bytes_max} bytes"),
        Bound::InFlight => {
            format!(
                "no room for what {upstream} sends: answers in memory are at the limit of {bytes_max} bytes"
            )
        }
    }
}

/// Of a text that a node may have had a part in.
const SHOWN_CHARS_MAX: usize = 500;

/// An error and its causes as one line, for status pages.
pub(crate) fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    printable(&text, SHOWN_CHARS_MAX)
}
