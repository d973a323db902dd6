//! The embedded engine: tables of an ordered key-value store in a folder of this machine.
//!
//! Everything that is bytes on disk lives below here: keys, packed rows, counts, generations, upgrades.
//! Reads are quick and done in place; those that may take longer step aside for other tasks. Writes
//! wait for the disk on a thread of their own. Nothing of it is seen outside of the crate.

pub mod announcements;
mod api_keys;
mod backup;
pub mod blocking;
pub mod buckets;
pub mod carried;
mod check;
pub mod codec;
pub mod counts;
pub mod digest;
mod engine;
mod expected_heads;
pub mod facts;
mod file_hash;
mod fold_thread;
mod folder;
mod format;
mod frozen;
mod generations;
mod health;
mod index_files;
mod inner;
mod journal;
pub mod keys;
mod log_words;
mod mend;
mod merge_thread;
mod numbered_files;
mod open;
mod open_db;
mod opening;
mod page_cache;
mod read;
mod readers;
mod repair;
mod restore;
mod runs;
mod segments;
mod sizes;
pub mod streams;
mod suspects;
mod tables;
mod tokens;
mod told_pools;
mod tx_cache;
mod upgrade;
mod upkeep_thread;
mod versions;
mod wallet_changes;
pub mod wallet_counts;
pub mod whole_tx;
mod worker_thread;
mod write;
mod write_turn;

pub use open::Store;
pub use read::View;
pub use repair::repair;
pub use restore::restore;
pub use write::{BodyRows, PackedBlock, body_groups, body_rows};
