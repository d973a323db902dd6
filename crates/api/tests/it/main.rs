//! The HTTP server from outside, in one process: what it answers for sales and prices, and what no
//! bytes may do to it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that is surprised has to fail, and says where"
)]

mod all_answers;
mod any_bytes;
mod batches;
mod cached_responses;
mod console;
mod date_to_block;
mod fake_node;
mod h2;
mod lowest_price;
mod nft_market;
mod nft_refusals;
mod nft_trades;
mod plain;
mod price_from_node;
mod price_hostile;
mod price_memory;
mod price_pools;
mod price_refusals;
mod recorded;
mod refusals;
mod second_hop;
mod socket;
mod sockets;
mod stopping;
mod strangers;
mod test_server;
mod token_market;
mod token_price;
mod wallet_rows;
