//! The embedded engine: tables of an ordered key-value LSM in a folder of this machine.
//!
//! Everything that is bytes on disk lives below here: keys, packed rows (`codec`), counts, generations.
//! Must not be seen outside of the crate.

mod buckets;
mod codec;
mod counts;
mod digest;
mod editions;
mod facts;
mod generations;
mod journal;
mod keys;
mod open;
pub mod read;
mod statistics;
mod tables;
mod tokens;
mod write;

pub use generations::{Building, Fingerprint, Generations};
pub use journal::{Entry, EntryKind};
pub use open::{Options, Store};
pub use read::View;
pub use statistics::TableStatistics;
pub use write::{Change, Committed, Decoded, Prepared, prepare};
