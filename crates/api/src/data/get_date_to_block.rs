//! `GET /api/v2.2/dateToBlock`: the stored block that was made closest to a date; of two equally close
//! ones the earlier.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use model::chain::Operation;
use store::BlockSummary;

use super::response::DataResponse;
use super::row::Row;
use crate::app::App;
use crate::clock::now_s;
use crate::date;
use crate::error::ApiError;
use crate::hosts::Key;
use crate::params::Query;
use crate::profile::Profile;

/// Compute units of one answer.
const UNITS: u32 = 1;

pub async fn get_date_to_block(
    State(app): State<App>,
    key: Key,
    headers: HeaderMap,
    query: Query,
) -> Result<Response, ApiError> {
    let served = app.served_for(Operation::DateToBlock, query.get("chain"))?;
    let date = unix_seconds(&query)?;
    key.owner.throttle.take(UNITS)?;
    let (view, chain) = (app.parts.store.view().await?, served.chain.id);
    let coverage = Arc::new(view.coverage(chain).await?);
    let before = view.last_block_until(chain, date).await?;
    let after = view.first_block_from(chain, date).await?;
    let mut closest: Option<BlockSummary> = None;
    for number in [before, after].into_iter().flatten() {
        let found = view.block_summary(chain, number).await?;
        let distance = |block: &BlockSummary| (block.timestamp.abs_diff(date), block.number);
        closest = closest.into_iter().chain(found).min_by_key(distance);
    }
    let Some(block) = closest else {
        let why = format!("no block of {} is indexed yet", served.chain.slug);
        return Err(ApiError::Unavailable(why));
    };
    let parent_hash = view.parent_hash(chain, block.number).await?;
    let mut body = Vec::with_capacity(320);
    let mut row = Row::begin(&mut body, Profile::choose(&headers, app.parts.config.wire_profile));
    row.text("date", Some(&format!("{}+00:00", date::iso_no_zone(date))));
    row.integer("block", block.number);
    row.integer("timestamp", block.timestamp);
    row.time("block_timestamp", block.timestamp);
    row.hash("hash", Some(block.hash));
    row.hash("parent_hash", parent_hash);
    row.end();
    // A block between these two, were it stored, would be closer.
    let reach = (before.unwrap_or(0), after.unwrap_or(u64::MAX));
    Ok(DataResponse::ok(body, coverage, reach).send(served, UNITS))
}

/// The date that was asked for; now where none was.
fn unix_seconds(query: &Query) -> Result<u64, ApiError> {
    let Some(text) = query.get("date") else { return Ok(now_s()) };
    let date = date::parse(text).map_err(|error| ApiError::BadRequest(format!("date: {error}")))?;
    u64::try_from(date.seconds_at_or_before())
        .map_err(|_| ApiError::bad_value("date", text, "is before 1970"))
}
