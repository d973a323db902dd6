//! `DELETE /streams/evm/{id}`: answers the stream as it was. Clients send an empty object along; it says nothing.

use axum::response::Response;

use super::answer;
use super::caller::Caller;
use super::detached::detached;
use super::refused::Refused;
use super::stream_id;
use crate::params::Path;

pub async fn delete_stream(caller: Caller, Path(id): Path<String>) -> Result<Response, Refused> {
    let id = stream_id::read("id", &id)?;
    let (streams, tenant) = caller.owned();
    let gone = detached(async move { streams.delete(&tenant, id).await }).await?;
    answer::json(&gone)
}
