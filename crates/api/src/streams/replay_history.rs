//! `POST /history/replay/{streamId}/{id}`: sends a delivery again, with the number and the body it has.

use axum::response::Response;
use streams::StreamView;

use super::answer;
use super::caller::Caller;
use super::detached::detached;
use super::history_row::{HistoryRow, LastAttempt};
use super::refused::Refused;
use super::stream_id;
use crate::clock::now_ms;
use crate::params::Path;

pub async fn replay_history(
    caller: Caller,
    Path((stream, id)): Path<(String, String)>,
) -> Result<Response, Refused> {
    let stream = stream_id::read("streamId", &stream)?;
    stream_id::read("id", &id)?;
    let id = id.to_ascii_lowercase();
    let (streams, tenant) = caller.owned();
    let StreamView { definition, .. } = streams.get(&tenant, stream)?;
    let (again, by) = (streams.clone(), tenant.clone());
    let delivery = detached(async move { again.replay(&by, stream, &id).await }).await?;
    let body = streams.body(&tenant, stream, delivery.seq).await?;
    let attempt = LastAttempt {
        at_ms: now_ms(),
        retries: delivery.state.attempts.saturating_sub(1),
        error: delivery.state.error.clone(),
        webhook_url: definition.webhook_url,
        tag: definition.tag,
    };
    answer::json(&HistoryRow::new(&delivery, attempt, body))
}
