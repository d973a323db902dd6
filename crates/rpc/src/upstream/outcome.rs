//! How an ended request is counted: for the limiter, for metrics.

use super::Asking;
use super::interpret::Exchange;
use crate::bound::Bound;
use crate::call::Call;
use crate::error::Error;
use crate::lane::Lane;
use crate::limiter::Verdict;
use std::borrow::Cow;
use std::time::Duration;

pub fn verdict(result: &Result<Exchange, Error>, asking: Asking, latency: Duration) -> Verdict {
    match result {
        Err(Error::RateLimited { retry_after, .. }) => {
            Verdict::Refused { retry_after: *retry_after }
        }
        // Too small to say anything about load.
        _ if asking.is_poll => Verdict::Unrelated,
        // New blocks are larger than old ones, and users' calls differ too much in weight.
        Ok(_) => Verdict::Done { latency: (asking.lane == Lane::History).then_some(latency) },
        Err(Error::Timeout { .. } | Error::TooLarge { bound: Bound::InFlight, .. })
            if asking.lane.is_ingest() =>
        {
            Verdict::TooMuch
        }
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
pub fn method_label(calls: &[Call]) -> &'static str {
    match calls {
        [Call { method: Cow::Borrowed(name), .. }] => name,
        [_] => "other",
        _ => "batch",
    }
}
