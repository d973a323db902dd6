//! The streams host: one file per operation, named like it, and one line in `routes`. The rest is what
//! operations share. What a stream is and does is the business of the crate `streams`.

mod add_address_to_stream;
mod addresses_body;
mod answer;
mod attempt_filter;
mod attempt_list;
mod block_path;
mod caller;
mod create_stream;
mod delete_address_from_stream;
mod delete_stream;
mod delivery_row;
mod detached;
mod duplicate_stream;
mod get_addresses;
mod get_deliveries;
mod get_history;
mod get_logs;
mod get_settings;
mod get_stats;
mod get_stats_by_stream_id;
mod get_stream;
mod get_stream_block_data_by_number;
mod get_stream_block_data_to_webhook_by_number;
mod get_streams;
mod history_row;
mod json_bytes;
mod json_object;
mod list_page;
mod list_params;
mod log_row;
mod place;
mod refused;
mod relay;
mod replace_address_from_stream;
mod replay_history;
mod set_settings;
mod stats_row;
mod stream_id;
mod update_stream;
mod update_stream_status;

use axum::{Router, middleware};

use crate::app::App;
use crate::routes::Routes;

pub use relay::answer_others;

const STREAM: &str = "/streams/evm/{id}";
const ADDRESS: &str = "/streams/evm/{id}/address";
const BLOCK: &str = "/streams/evm/{chain_id}/block/{block_number}";
const BLOCK_TO_WEBHOOK: &str =
    "/streams/evm/{chain_id}/block-to-webhook/{block_number}/{stream_id}";

/// What has streams answers; what has not hands on.
pub fn router(app: &App) -> Router<App> {
    let relay = middleware::from_fn_with_state(app.clone(), relay::layer);
    routes().into_router().layer(relay)
}

pub fn routes() -> Routes {
    Routes::default()
        .put("/streams/evm", create_stream::create_stream)
        .get("/streams/evm", get_streams::get_streams)
        .get(STREAM, get_stream::get_stream)
        .post(STREAM, update_stream::update_stream)
        .delete(STREAM, delete_stream::delete_stream)
        .post("/streams/evm/{id}/duplicate", duplicate_stream::duplicate_stream)
        .post("/streams/evm/{id}/status", update_stream_status::update_stream_status)
        .get(ADDRESS, get_addresses::get_addresses)
        .post(ADDRESS, add_address_to_stream::add_address_to_stream)
        .patch(ADDRESS, replace_address_from_stream::replace_address_from_stream)
        .delete(ADDRESS, delete_address_from_stream::delete_address_from_stream)
        .get("/streams/evm/{id}/deliveries", get_deliveries::get_deliveries)
        .post(BLOCK, get_stream_block_data_by_number::get_stream_block_data_by_number)
        .post(
            BLOCK_TO_WEBHOOK,
            get_stream_block_data_to_webhook_by_number::get_stream_block_data_to_webhook_by_number,
        )
        .get("/stats", get_stats::get_stats)
        .get("/stats/{stream_id}", get_stats_by_stream_id::get_stats_by_stream_id)
        .get("/settings", get_settings::get_settings)
        .post("/settings", set_settings::set_settings)
        .get("/history", get_history::get_history)
        .get("/history/logs", get_logs::get_logs)
        .post("/history/replay/{stream_id}/{id}", replay_history::replay_history)
}
