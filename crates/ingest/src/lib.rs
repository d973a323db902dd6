//! From a node or a file to the store: fetch, verify, decode, commit; follow the head, fill the past,
//! complete blocks that came without traces, drop the oldest where only the newest are wanted.
//!
//! In: upstreams of a chain, files of block records, or stored blocks to be decoded again. Out: commits
//! to the store. Must not know: HTTP serving, wire shapes, who asks.

pub mod audit;
mod backfill;
mod chain;
mod commit;
mod config;
mod context;
mod error;
mod finality;
mod flights;
mod follow;
pub mod import;
mod lock;
mod panic;
mod pipeline;
mod progress;
pub mod redecode;
mod reorg;
mod retain;
mod retrace;
mod second_word;
pub mod source;
mod supervise;

pub use ::verify;
pub use chain::{ChainIngest, Options};
pub use config::{Config, Redecode, SenderCheck, TraceUse};
pub use error::Error;
pub use flights::Flights;
pub use pipeline::{DecodeFn, decoder_of};
pub use progress::{
    IngestStatus, Progress, ReorgStatus, RetainStatus, Task, TaskStatus, TraceFailure,
    UnconfirmedRevert,
};
