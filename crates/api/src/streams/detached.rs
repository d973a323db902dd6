//! Changes are carried through, also where the client goes away or the answer comes too late.

use streams::StreamError;
use tracing::Instrument;

use super::refused::Refused;
use crate::error::ApiError;

pub async fn detached<T: Send + 'static>(
    work: impl Future<Output = Result<T, StreamError>> + Send + 'static,
) -> Result<T, Refused> {
    match tokio::spawn(work.in_current_span()).await {
        Ok(done) => Ok(done?),
        Err(error) => Err(ApiError::Internal(Box::new(error)).into()),
    }
}
