//! Where blocks and what follows from them live.
//!
//! In: verified blocks (`write::prepare`, then `Store::commit`). Out: answers to questions, each in
//! a file of its own under `read/`. One block is one atomic write together with its journal entry,
//! durable before anyone is told. Whatever a block wrote can be taken back by its number and hash.
//! Must not know: nodes, HTTP, wire shapes.

mod coverage;
mod embedded;
mod error;

pub use coverage::Coverage;
pub use embedded::{
    Building, Change, Committed, Decoded, Entry, EntryKind, Fingerprint, Generations, Options,
    Prepared, Store, TableStatistics, View, prepare, read,
};
pub use error::Error;
