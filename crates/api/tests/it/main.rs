//! The HTTP server from outside, in one process: what it answers for sales, and what no bytes may
//! do to it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that is surprised has to fail, and says where"
)]

mod any_bytes;
mod house;
mod lowest_price;
mod market;
mod nft_refusals;
mod nft_trades;
mod refusals;
