//! `GET /stats`: what all streams of the tenant added up to, and each of them.

use axum::response::Response;

use super::answer;
use super::caller::Caller;
use super::refused::Refused;
use super::stats_row::StatsRow;

pub async fn get_stats(caller: Caller) -> Result<Response, Refused> {
    let (totals, streams) = caller.streams.stats(caller.tenant()).await?;
    answer::json(&StatsRow::of_all(totals, streams))
}
