//! From a node or a file to the store: fetch, verify, commit; follow the head, fill the past.
//!
//! In: upstreams of a chain, files of block records, or stored blocks to be read anew. Out: commits to
//! the store, and a word after each. Must not know: HTTP serving, wire shapes, who asks.

mod backfill;
mod chain;
mod config;
mod error;
mod facts;
mod follow;
pub mod import;
mod progress;
pub mod redecode;
mod reorg;
pub mod source;
pub mod verify;

pub use chain::{ChainIngest, Options};
pub use config::{Config, Redecode, SenderCheck, TraceUse};
pub use error::Error;
pub use progress::{Progress, Reorg, Snapshot, Task};
