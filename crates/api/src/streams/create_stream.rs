//! `PUT /streams/evm`: always makes a new stream.

use axum::response::Response;

use super::answer;
use super::caller::Caller;
use super::detached::detached;
use super::json_bytes::JsonBytes;
use super::refused::Refused;

pub async fn create_stream(
    caller: Caller,
    JsonBytes(body): JsonBytes,
) -> Result<Response, Refused> {
    let (streams, tenant) = caller.owned();
    let created = detached(async move { streams.create(&tenant, &body).await }).await?;
    answer::json(&created)
}
