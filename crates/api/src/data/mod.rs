//! The data host: one file per operation, named like it.

mod coverage_headers;
pub mod get_nft_lowest_price;
pub mod get_nft_trades;
pub mod get_token_price;
pub mod get_wallet_transactions;
mod paging;
pub mod price;
pub mod response;
mod row;
mod trade_row;
mod wallet_params;
mod wallet_row;
