//! What a thread or task that panicked had to say.

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
    let payload = match error.try_into_panic() {
        Ok(payload) => payload,
        Err(cancelled) => return cancelled.to_string(),
    };
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => match payload.downcast_ref::<&str>() {
            Some(text) => (*text).to_owned(),
            None => "without a message".to_owned(),
        },
    }
}
