//! The data host: one file per operation, named like it.

mod coverage;
pub mod get_wallet_transactions;
mod row;
mod wallet_asked;
mod wallet_row;
