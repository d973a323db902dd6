//! The HTTP server from outside, in one process: what no bytes may do to it, and what tokens cost.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that is surprised has to fail, and says where"
)]

mod any_bytes;
mod fake_node;
mod house;
mod market;
mod price_from_node;
mod price_hostile;
mod price_refusals;
mod refusals;
mod token_price;
