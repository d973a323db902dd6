//! What a thread or task that panicked had to say.

use model::panic_text;
use tokio::task::JoinError;

use crate::error::Error;

/// Why work that was handed to another thread or task did not end: it was told to stop, or panicked.
pub(crate) fn ended(error: JoinError, doing: impl Into<String>) -> Error {
    if error.is_panic() {
        return Error::Panicked { doing: doing.into(), message: message(error) };
    }
    Error::Stopped
}

pub(crate) fn message(error: JoinError) -> String {
    match error.try_into_panic() {
        Ok(panic) => panic_text(panic.as_ref()),
        Err(cancelled) => cancelled.to_string(),
    }
}
