//! What the other crates talk about: raw chain objects, the chain table, the families of exchanges,
//! marketplaces, facts, prices, ABI words.
//!
//! No IO, no async, no clock. The same input gives the same output on every machine.

pub mod abi;
pub mod bloom;
pub mod chain;
pub mod exchange_families;
pub mod facts;
mod hex_text;
pub mod marketplaces;
pub mod price;
pub mod printable;
pub mod proof;
pub mod raw;
pub mod token;
pub mod token_bucket;
pub mod wallets;
