//! `POST /streams/evm/{id}/duplicate`: another stream like it.

use axum::response::Response;

use super::answer;
use super::caller::Caller;
use super::detached::detached;
use super::refused::Refused;
use super::stream_id;
use crate::params::Path;

pub async fn duplicate_stream(caller: Caller, Path(id): Path<String>) -> Result<Response, Refused> {
    let id = stream_id::read("id", &id)?;
    let (streams, tenant) = caller.owned();
    let copy = detached(async move { streams.duplicate(&tenant, id).await }).await?;
    answer::json(&copy)
}
