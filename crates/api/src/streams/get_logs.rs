//! `GET /history/logs`: every attempt, newest first.

use axum::extract::State;
use axum::response::Response;
use store::ListAnchor;

use super::answer;
use super::attempt_filter::AttemptFilter;
use super::attempt_list::{AttemptList, AttemptPage};
use super::caller::Caller;
use super::list_page::ListPage;
use super::log_row::LogRow;
use super::refused::Refused;
use crate::app::App;
use crate::params::Query;

pub async fn get_logs(
    State(app): State<App>,
    caller: Caller,
    query: Query,
) -> Result<Response, Refused> {
    let filter = AttemptFilter::read_with_status(&query, &app.parts.table)?;
    let question = filter.question("GetLogs", caller.tenant());
    let page = ListPage::<ListAnchor>::read(&app, &query, question)?;
    let list = AttemptList { caller: &caller, filter, only_failed: false };
    let AttemptPage { rows, next, total } = list.page(&page).await?;
    let result = rows.into_iter().map(LogRow::new).collect();
    answer::json(&page.answer(&app, result, next, total))
}
