//! Why a request about streams is refused.

use crate::definition::{DefinitionError, FieldError};
use crate::delivery::DeliveryError;
use crate::secrets::SecretError;
use crate::settings::SettingsError;

#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// Fields of the body that are not as they should be.
    #[error("Validation Failed")]
    Fields(Vec<FieldError>),
    #[error("{0}")]
    BadRequest(String),
    #[error("{0}")]
    NotFound(&'static str),
    /// A limit of this server.
    #[error("{0}")]
    TooMany(String),
    #[error(transparent)]
    Secret(#[from] SecretError),
    #[error(transparent)]
    Store(#[from] store::Error),
}

pub const NO_STREAM: StreamError = StreamError::NotFound("Stream not found");
pub const NO_ADDRESS: StreamError = StreamError::NotFound("Address not found");
pub const NO_HISTORY: StreamError = StreamError::NotFound("History not found");
pub const NO_STAT: StreamError = StreamError::NotFound("Stat not found");

impl From<DefinitionError> for StreamError {
    fn from(error: DefinitionError) -> Self {
        match error {
            DefinitionError::Fields(fields) => StreamError::Fields(fields),
            DefinitionError::Rule(rule) => StreamError::BadRequest(rule),
        }
    }
}

impl From<SettingsError> for StreamError {
    fn from(error: SettingsError) -> Self {
        match error {
            SettingsError::Store(error) => StreamError::Store(error),
            SettingsError::Secret(error) => StreamError::Secret(error),
        }
    }
}

impl From<DeliveryError> for StreamError {
    fn from(error: DeliveryError) -> Self {
        match error {
            DeliveryError::Store(error) => StreamError::Store(error),
            DeliveryError::NoStream => NO_STREAM,
            DeliveryError::NoDelivery => NO_HISTORY,
            other => StreamError::BadRequest(other.to_string()),
        }
    }
}
