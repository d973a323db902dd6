//! How an ended request is counted: for the limiter, for metrics.

use super::interpret::Exchange;
use super::priority::Priority;
use crate::call::Call;
use crate::error::Error;
use crate::limiter::Verdict;
use std::borrow::Cow;
use std::time::Duration;

/// Users' calls differ too much in weight for their time to say anything about load.
pub fn verdict(result: &Result<Exchange, Error>, priority: Priority, latency: Duration) -> Verdict {
    match result {
        Ok(_) => Verdict::Done { latency: (priority == Priority::Bulk).then_some(latency) },
        Err(Error::RateLimited { retry_after, .. }) => {
            Verdict::Refused { retry_after: *retry_after }
        }
        Err(Error::Timeout { .. }) if priority == Priority::Bulk => Verdict::TimedOut,
        Err(_) => Verdict::Unrelated,
    }
}

pub fn outcome(result: &Result<Exchange, Error>) -> &'static str {
    match result {
        Ok(Exchange::Answers(answers)) if answers.iter().all(Result::is_ok) => "ok",
        Ok(Exchange::Answers(_)) => "rpc_error",
        Ok(Exchange::BatchRefused { .. }) => "batch_refused",
        Err(error) => error.outcome(),
    }
}

/// Only methods we name ourselves become labels: a gateway's client could send any text.
pub fn method_label(calls: &[Call]) -> &str {
    match calls {
        [Call { method: Cow::Borrowed(name), .. }] => name,
        [_] => "other",
        _ => "batch",
    }
}
