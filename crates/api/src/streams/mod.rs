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
mod replace_address_from_stream;
mod replay_history;
mod set_settings;
mod stats_row;
mod stream_id;
mod update_stream;
mod update_stream_status;

use axum::Router;
use axum::routing::{get, post, put};

use crate::app::App;

pub fn routes() -> Router<App> {
    Router::new()
        .route("/streams/evm", put(create_stream::create_stream).get(get_streams::get_streams))
        .route(
            "/streams/evm/{id}",
            get(get_stream::get_stream)
                .post(update_stream::update_stream)
                .delete(delete_stream::delete_stream),
        )
        .route("/streams/evm/{id}/duplicate", post(duplicate_stream::duplicate_stream))
        .route("/streams/evm/{id}/status", post(update_stream_status::update_stream_status))
        .route(
            "/streams/evm/{id}/address",
            get(get_addresses::get_addresses)
                .post(add_address_to_stream::add_address_to_stream)
                .patch(replace_address_from_stream::replace_address_from_stream)
                .delete(delete_address_from_stream::delete_address_from_stream),
        )
        .route("/streams/evm/{id}/deliveries", get(get_deliveries::get_deliveries))
        .route(
            "/streams/evm/{chain_id}/block/{block_number}",
            post(get_stream_block_data_by_number::get_stream_block_data_by_number),
        )
        .route(
            "/streams/evm/{chain_id}/block-to-webhook/{block_number}/{stream_id}",
            post(get_stream_block_data_to_webhook_by_number::get_stream_block_data_to_webhook_by_number),
        )
        .route("/stats", get(get_stats::get_stats))
        .route("/stats/{stream_id}", get(get_stats_by_stream_id::get_stats_by_stream_id))
        .route("/settings", get(get_settings::get_settings).post(set_settings::set_settings))
        .route("/history", get(get_history::get_history))
        .route("/history/logs", get(get_logs::get_logs))
        .route("/history/replay/{stream_id}/{id}", post(replay_history::replay_history))
}
