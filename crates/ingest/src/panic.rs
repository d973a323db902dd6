//! What a thread or task that panicked had to say.

use tokio::task::JoinError;

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
