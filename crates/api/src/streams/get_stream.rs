//! `GET /streams/evm/{id}`: one stream.

use axum::response::Response;

use super::answer;
use super::caller::Caller;
use super::refused::Refused;
use super::stream_id;
use crate::params::Path;

pub async fn get_stream(caller: Caller, Path(id): Path<String>) -> Result<Response, Refused> {
    let id = stream_id::read("id", &id)?;
    answer::json(&caller.streams.get(caller.tenant(), id)?)
}
