//! `POST /streams/evm/{chainId}/block-to-webhook/{blockNumber}/{streamId}`: a block as the stream sees it today, sent
//! once to its webhook. It has no number in the stream's deliveries.

use axum::extract::State;
use axum::response::Response;
use serde_json::json;
use streams::uuid_text;

use super::caller::Caller;
use super::detached::detached;
use super::refused::Refused;
use super::{answer, block_path, stream_id};
use crate::app::App;
use crate::params::Path;

pub async fn get_stream_block_data_to_webhook_by_number(
    State(app): State<App>,
    caller: Caller,
    Path((chain, number, id)): Path<(String, String, String)>,
) -> Result<Response, Refused> {
    let (chain, number) = block_path::read(&app, &chain, &number)?;
    let id = stream_id::read("streamId", &id)?;
    let (streams, tenant) = caller.owned();
    detached(async move { streams.block_to_webhook(&tenant, chain, number, id).await }).await?;
    let chain = format!("{:#x}", chain.0);
    answer::json(&json!({ "streamId": uuid_text(&id), "chainId": chain, "blockNumber": number }))
}
