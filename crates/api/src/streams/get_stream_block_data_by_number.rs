//! `POST /streams/evm/{chainId}/block/{blockNumber}`: the webhook that a stream as in the body would send of a block.

use axum::extract::State;
use axum::response::Response;

use super::answer;
use super::block_path;
use super::caller::Caller;
use super::json_bytes::JsonBytes;
use super::refused::Refused;
use crate::app::App;
use crate::params::Path;

pub async fn get_stream_block_data_by_number(
    State(app): State<App>,
    caller: Caller,
    Path((chain, number)): Path<(String, String)>,
    JsonBytes(body): JsonBytes,
) -> Result<Response, Refused> {
    let (chain, number) = block_path::read(&app, &chain, &number)?;
    let payload = caller.streams.block_data(caller.tenant(), chain, number, &body).await?;
    Ok(answer::json_text(payload))
}
