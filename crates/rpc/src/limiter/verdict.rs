//! What the limits of an upstream are made from, and how its requests ended.

use std::time::Duration;

#[derive(Clone, Copy, Debug)]
pub struct GateOptions {
    pub max_concurrency: usize,
    pub requests_per_second: Option<f64>,
}

/// How a request ended, as far as load is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Done {
        /// Absent when it says nothing about load.
        latency: Option<Duration>,
    },
    Refused {
        retry_after: Option<Duration>,
    },
    /// Nobody refused, but it took too long or was more than we can hold: fewer at once.
    TooMuch,
    /// Failed for reasons that say nothing about load.
    Unrelated,
}
