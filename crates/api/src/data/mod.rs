//! The data host: one file per operation, named like it, and one line in `routes`. The rest is what
//! operations share.

mod asked;
mod carried;
pub mod chain_view;
mod coverage_headers;
mod frame_gas;
mod get_date_to_block;
mod get_nft_lowest_price;
mod get_nft_trades;
mod get_token_price;
mod get_wallet_transactions;
pub mod not_offered;
mod page_labels;
mod paging;
pub mod price;
pub mod response;
mod row;
mod trade_row;
mod wallet_params;
mod wallet_row;

use axum::routing::{MethodRouter, get};

use crate::app::App;
use crate::routes::Routes;

pub fn routes() -> Routes {
    let operations: [(&str, MethodRouter<App>); 5] = [
        ("{address}", get(get_wallet_transactions::get_wallet_transactions)),
        ("dateToBlock", get(get_date_to_block::get_date_to_block)),
        ("nft/{address}/trades", get(get_nft_trades::get_nft_trades)),
        ("nft/{address}/lowestprice", get(get_nft_lowest_price::get_nft_lowest_price)),
        ("erc20/{address}/price", get(get_token_price::get_token_price)),
    ];
    let mut routes = Routes::default();
    for (path, handler) in operations {
        // With and without a slash at the end: people join paths by hand.
        routes = routes
            .unlisted(&format!("/api/v2.2/{path}/"), handler.clone())
            .get_by(&format!("/api/v2.2/{path}"), handler);
    }
    for path in ["/api/v2.2", "/api/v2.2/", "/v2.2/{address}"] {
        routes = routes.unlisted(path, get(not_offered::no_operation));
    }
    routes
}
