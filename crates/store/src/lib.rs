//! Where blocks and what follows from them live.
//!
//! In: verified blocks (`write::prepare`, then `Store::commit`). Out: answers to questions, each in
//! a file of its own under `read/`. One block is one atomic write together with its journal entry,
//! durable before anyone is told. Whatever a block wrote can be taken back by its number and hash.
//! Must not know: nodes, HTTP, wire shapes.

mod buckets;
mod counts;
mod coverage;
mod digest;
mod editions;
mod error;
mod facts;
mod generations;
mod groups;
mod journal;
mod keys;
mod open;
pub mod read;
mod rows;
mod statistics;
mod tables;
mod tokens;
mod write;

pub use coverage::Coverage;
pub use error::Error;
pub use generations::{Building, Fingerprint, Generations};
pub use journal::{Entry, EntryKind};
pub use open::{Options, Store};
pub use read::View;
pub use statistics::TableStatistics;
pub use write::{Change, Committed, Decoded, Prepared, prepare};
