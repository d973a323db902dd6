//! Blocks in their own encoding, as nodes export them, into the JSON-RPC form in which all others come.
//!
//! In: RLP of a block, or a genesis file. Out: the block as a node's `eth_getBlockByHash` would say it. Receipts are in
//! neither: such blocks are stored without them.

mod block_json;
mod chain_file;
mod genesis;
mod header_json;
mod item;
#[cfg(test)]
pub mod tests;
mod tx_json;

pub use block_json::block_json_of_parts;
pub use chain_file::{RlpBlocks, RlpError};
pub use genesis::genesis_json;
pub use item::{Item, RlpContent};
