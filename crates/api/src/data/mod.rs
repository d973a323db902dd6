//! The data host: one file per operation, named like it.

mod coverage;
pub mod get_token_price;
pub mod get_wallet_transactions;
pub mod price;
mod row;
mod wallet_asked;
mod wallet_row;
