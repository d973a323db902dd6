//! `POST /streams/evm/{id}`: given fields replace, omitted ones stay.

use axum::response::Response;

use super::answer;
use super::caller::Caller;
use super::detached::detached;
use super::json_bytes::JsonBytes;
use super::refused::Refused;
use super::stream_id;
use crate::params::Path;

pub async fn update_stream(
    caller: Caller,
    Path(id): Path<String>,
    JsonBytes(body): JsonBytes,
) -> Result<Response, Refused> {
    let id = stream_id::read("id", &id)?;
    let (streams, tenant) = caller.owned();
    let updated = detached(async move { streams.update(&tenant, id, &body).await }).await?;
    answer::json(&updated)
}
