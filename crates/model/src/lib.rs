//! What the other crates talk about: raw chain objects, the chain table, the families of exchanges,
//! marketplaces, facts, prices, ABI words.
//!
//! No IO, no async, no clock. The same input gives the same output on every machine.

pub mod abi;
pub mod bloom;
pub mod chain;
pub mod exchange_families;
pub mod facts;
pub mod hash_lanes;
mod hex_text;
pub mod marketplaces;
mod panic_text;
pub mod price;
mod printable;
pub mod proof;
pub mod raw;
pub mod rlp;
pub mod token;
pub mod token_bucket;
pub mod wallets;

pub use panic_text::panic_text;
pub use printable::printable;
