//! The data host: one file per operation, named like it, and one line in `routes`. The rest is what
//! operations share.

pub mod chain_view;
mod coverage_headers;
mod get_date_to_block;
mod get_nft_lowest_price;
mod get_nft_trades;
mod get_token_price;
mod get_wallet_transactions;
mod paging;
pub mod price;
pub mod response;
mod row;
mod trade_row;
mod wallet_params;
mod wallet_row;

use axum::Router;
use axum::routing::get;

use crate::app::App;

pub fn routes() -> Router<App> {
    Router::new()
        .route("/api/v2.2/{address}", get(get_wallet_transactions::get_wallet_transactions))
        .route("/api/v2.2/dateToBlock", get(get_date_to_block::get_date_to_block))
        .route("/api/v2.2/nft/{address}/trades", get(get_nft_trades::get_nft_trades))
        .route(
            "/api/v2.2/nft/{address}/lowestprice",
            get(get_nft_lowest_price::get_nft_lowest_price),
        )
        .route("/api/v2.2/erc20/{address}/price", get(get_token_price::get_token_price))
}
