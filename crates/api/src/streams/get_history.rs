//! `GET /history`: deliveries whose last attempt failed, newest first.

use axum::extract::State;
use axum::response::Response;
use store::ListAnchor;

use super::answer;
use super::attempt_filter::AttemptFilter;
use super::attempt_list::{AttemptList, AttemptPage};
use super::caller::Caller;
use super::history_row::{HistoryRow, LastAttempt};
use super::list_page::ListPage;
use super::list_params;
use super::refused::Refused;
use crate::app::App;
use crate::params::Query;

/// A page with payloads ends early past this: bodies may be megabytes each.
const PAYLOAD_BYTES_MAX: usize = 32 << 20;

pub async fn get_history(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Response, Refused> {
    let filter = AttemptFilter::read(&query, &app.parts.table)?;
    let without_payload = list_params::flag(&query, "excludePayload")?;
    let question = filter.question("GetHistory", caller.tenant());
    let page = ListPage::<ListAnchor>::read(&app, &query, question)?;
    let list = AttemptList { caller: &caller, filter, only_failed: true };
    let AttemptPage { rows, mut next, total } = list.page(&page).await?;
    let (mut result, mut bytes) = (Vec::with_capacity(rows.len()), 0);
    let all = rows.len();
    for (anchor, delivery, log) in rows {
        let body = if without_payload { None } else { list.body(&delivery).await? };
        bytes += body.as_ref().map_or(0, |body| body.len());
        let attempt = LastAttempt {
            at_ms: anchor.at_ms,
            retries: log.retries,
            error: log.error,
            webhook_url: log.webhook_url,
            tag: log.tag,
        };
        result.push(HistoryRow::new(&delivery, attempt, body));
        if bytes > PAYLOAD_BYTES_MAX && result.len() < all {
            next = Some(anchor);
            break;
        }
    }
    answer::json(&page.answer(&app, result, next, total))
}
