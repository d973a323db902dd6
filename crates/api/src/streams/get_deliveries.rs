//! `GET /streams/evm/{id}/deliveries`: a stream's deliveries by number, rising, so that a receiver that finds a hole can
//! fill it itself. Not in the live service.

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;

use super::answer;
use super::caller::Caller;
use super::delivery_row::DeliveryRow;
use super::list_page::{ListAnswer, ListPage};
use super::refused::Refused;
use super::{list_params, stream_id};
use crate::app::App;
use crate::cursor::QuestionDigest;
use crate::error::ApiError;
use crate::params::{Path, Query};

const LIMIT_DEFAULT: usize = 100;
/// A page ends early past this: payloads may be megabytes each.
const PAYLOAD_BYTES_MAX: u64 = 32 << 20;
/// Read at once, so that no more than these are in memory beyond the page.
const BATCH: usize = 4;

#[derive(Serialize)]
struct DeliveryList {
    result: Vec<DeliveryRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

pub async fn get_deliveries(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    query: Query,
) -> Result<Response, Refused> {
    let id = stream_id::read("id", &id)?;
    let from = first_number(&query)?;
    let question = QuestionDigest::builder()
        .field("operation", "GetDeliveries")
        .field("tenant", caller.tenant())
        .field("stream", id)
        .finish();
    let limit = list_params::limit_if(&query)?.unwrap_or(LIMIT_DEFAULT);
    let page = ListPage::<u64>::with_limit(&app, &query, question, limit)?;
    let mut seq = page.after.map_or(from, |last| last.saturating_add(1));
    let (mut rows, mut last, mut bytes) = (Vec::new(), None, 0);
    let more = loop {
        let wanted = (limit - rows.len()).min(BATCH);
        if wanted == 0 || bytes > PAYLOAD_BYTES_MAX {
            break true;
        }
        let batch = caller.streams.deliveries(caller.tenant(), id, seq, wanted).await?;
        let is_last = batch.len() < wanted;
        for (delivery, body) in batch {
            bytes += body.len() as u64;
            seq = delivery.seq.saturating_add(1);
            last = Some(delivery.seq);
            rows.push(DeliveryRow::new(&delivery, body));
        }
        if is_last {
            break false;
        }
    };
    // How many there are in all is the newest one's number, which `x-sequence` tells.
    let ListAnswer { result, cursor, .. } = page.answer(&app, rows, last.filter(|_| more), 0);
    answer::json(&DeliveryList { result, cursor })
}

fn first_number(query: &Query) -> Result<u64, ApiError> {
    let Some(text) = query.get("from") else { return Ok(1) };
    let refused = || ApiError::invalid_param("from", text, "should be a whole number from 1 on");
    text.parse::<u64>().ok().filter(|number| *number > 0).ok_or_else(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_from_one() {
        let first = |text| first_number(&Query::of(&[("from", text)]));
        assert_eq!(first("").unwrap(), 1);
        assert_eq!(first("17").unwrap(), 17);
        for wrong in ["0", "-1", "x", "1.5", "18446744073709551616"] {
            let error = first(wrong).unwrap_err();
            assert_eq!(error.status(), 422, "{wrong}");
            assert!(error.body().contains("should be a whole number from 1 on"), "{wrong}");
        }
    }
}
