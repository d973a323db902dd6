//! How the token price is put together: its parameters, pools from the store or from a node, and the
//! record in both profiles. Which pool to believe is decided in `model::price`.

mod amounts;
mod explain;
pub mod memory;
mod node_pools;
mod pairs;
pub mod params;
pub mod price_block;
pub mod pricing;
mod quoted_pools;
mod record;
mod refusals;
mod second_hop;
mod stored_pools;
