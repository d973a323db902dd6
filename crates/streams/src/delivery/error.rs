//! Why something could not be sent that somebody asked for.

#[derive(Debug, thiserror::Error)]
pub enum DeliveryError {
    #[error("there is no such stream")]
    NoStream,
    #[error("there is no such delivery, or its payload is no longer kept (streams.retention_days)")]
    NoDelivery,
    #[error("the delivery still waits for its first attempt")]
    Waiting,
    #[error("the delivery is being sent right now")]
    InFlight,
    #[error("{0}")]
    Failed(String),
    #[error("the server is stopping")]
    Stopping,
    #[error("the configuration of streams cannot be used: {0}")]
    Config(String),
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl DeliveryError {
    pub fn is_retryable(&self) -> bool {
        match self {
            DeliveryError::Waiting | DeliveryError::InFlight | DeliveryError::Stopping => true,
            DeliveryError::Store(error) => error.is_retryable(),
            _ => false,
        }
    }
}
