//! `GET /stats/{streamId}`: what one stream added up to.

use axum::response::Response;

use super::answer;
use super::caller::Caller;
use super::refused::Refused;
use super::stats_row::StatsRow;
use super::stream_id;
use crate::params::Path;

pub async fn get_stats_by_stream_id(
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Response, Refused> {
    let id = stream_id::read("streamId", &id)?;
    let totals = caller.streams.stats_of(caller.tenant(), id).await?;
    answer::json(&StatsRow::of_stream(id, totals))
}
