//! `GET /streams/evm/{id}/address`: what a stream watches, in the order of the addresses.

use alloy_primitives::Address;
use axum::extract::State;
use axum::response::Response;
use serde::Serialize;

use super::answer;
use super::caller::Caller;
use super::list_page::ListPage;
use super::refused::Refused;
use super::stream_id;
use crate::app::App;
use crate::cursor::QuestionDigest;
use crate::params::{Path, Query};

#[derive(Serialize)]
struct AddressRow {
    address: String,
}

pub async fn get_addresses(
    State(app): State<App>,
    caller: Caller,
    Path(id): Path<String>,
    query: Query,
) -> Result<Response, Refused> {
    let id = stream_id::read("id", &id)?;
    let question = QuestionDigest::builder()
        .field("operation", "GetAddresses")
        .field("tenant", caller.tenant())
        .field("stream", id)
        .finish();
    let page = ListPage::<Address>::read(&app, &query, question)?;
    // One more than asked for, to know whether any follow.
    let asked = caller.streams.addresses(caller.tenant(), id, page.after, page.limit + 1);
    let (mut found, total) = asked.await?;
    let more = found.len() > page.limit;
    found.truncate(page.limit);
    let next = found.last().copied().filter(|_| more);
    let rows = found.iter().map(|address| AddressRow { address: format!("{address:#x}") });
    answer::json(&page.answer(&app, rows.collect(), next, total))
}
