//! `GET /api/v2.2/dateToBlock`: the stored block that was made closest to a date; of two equally close
//! ones the earlier.

use axum::extract::State;
use axum::response::Response;
use model::chain::Operation;
use store::BlockSummary;

use super::asked::Asked;
use super::chain_view::{self, ChainView};
use super::response::{self, DataResponse};
use super::row::Row;
use crate::app::App;
use crate::clock::now_s;
use crate::date;
use crate::error::ApiError;
use crate::hosts::{Key, Refusal};
use crate::params::{OPEN_END, PAST_NEWEST, Query};
use crate::profile::Profile;
use crate::served_chain::ServedChain;

/// Compute units of one answer.
const UNITS: u32 = 1;

pub async fn get_date_to_block(
    State(app): State<App>,
    key: Key,
    asked: Asked,
) -> Result<Response, Refusal> {
    let request = key.admit(DateRequest::read(&app, &asked), UNITS)?;
    Ok(response::finish(request.respond(&app).await, request.served, UNITS))
}

struct DateRequest<'a> {
    served: &'a ServedChain,
    /// None for now.
    date: Option<u64>,
    profile: Profile,
}

impl<'a> DateRequest<'a> {
    fn read(app: &'a App, asked: &Asked) -> Result<Self, ApiError> {
        let (query, profile) = (asked.query()?, asked.profile(app)?);
        let served = app.served_for(Operation::DateToBlock, query.get("chain"))?;
        Ok(DateRequest { served, date: unix_seconds(query)?, profile })
    }

    async fn respond(&self, app: &App) -> Result<DataResponse, ApiError> {
        let (served, chain) = (self.served, self.served.chain.id);
        let date = self.date.unwrap_or_else(now_s);
        let ChainView { view, coverage, .. } =
            ChainView::open(&app.parts.store, &served.chain).await?;
        let before = view.last_block_until(chain, date).await?;
        let after = view.first_block_from(chain, date).await?;
        let mut closest: Option<BlockSummary> = None;
        for number in [before, after].into_iter().flatten() {
            let found = view.block_summary(chain, number).await?;
            let distance = |block: &BlockSummary| (block.timestamp.abs_diff(date), block.number);
            closest = closest.into_iter().chain(found).min_by_key(distance);
        }
        let Some(block) = closest else { return Err(chain_view::no_block(&served.chain)) };
        let parent_hash = view.parent_hash(chain, block.number).await?;
        let mut body = Vec::with_capacity(320);
        let mut row = Row::begin(&mut body, self.profile);
        row.text("date", Some(&format!("{}+00:00", date::iso_no_zone(date))));
        row.integer("block", block.number);
        row.integer("timestamp", block.timestamp);
        row.time("block_timestamp", block.timestamp);
        row.hash("hash", Some(block.hash));
        row.hash("parent_hash", parent_hash);
        row.end();
        // A block between these two, were it stored, would be closer.
        let end = if self.date.is_some() { PAST_NEWEST } else { OPEN_END };
        let reach = (before.unwrap_or(0), after.unwrap_or(end));
        Ok(DataResponse::ok(body, coverage, reach))
    }
}

/// The date that was asked for, if any was.
fn unix_seconds(query: &Query) -> Result<Option<u64>, ApiError> {
    let Some(text) = query.get("date") else { return Ok(None) };
    let date = date::parse(text).map_err(|error| ApiError::BadRequest(format!("date: {error}")))?;
    u64::try_from(date.seconds_at_or_before())
        .map(Some)
        .map_err(|_| ApiError::bad_value("date", text, "is before 1970"))
}
