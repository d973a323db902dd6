//! `GET /streams/evm`: the tenant's streams.

use axum::extract::State;
use axum::response::Response;
use streams::{ListQuery, Status, StreamAnchor, StreamList};

use super::answer;
use super::caller::Caller;
use super::list_page::ListPage;
use super::list_params;
use super::refused::Refused;
use crate::app::App;
use crate::cursor::QuestionDigest;
use crate::params::Query;

pub async fn get_streams(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Response, Refused> {
    let text = query.get("status");
    let words = Status::ALL.map(|status| (status.name(), status));
    let status = text.map(|text| list_params::one_of("status", text, &words)).transpose()?;
    let question = QuestionDigest::builder()
        .field("operation", "GetStreams")
        .field("tenant", caller.tenant())
        .field("status", text.unwrap_or_default())
        .finish();
    let page = ListPage::<StreamAnchor>::read(&app, &query, question)?;
    let asked = ListQuery { status, after: page.after, limit: page.limit };
    let StreamList { streams, next, total } = caller.streams.list(caller.tenant(), asked);
    answer::json(&page.answer(&app, streams, next, total))
}
