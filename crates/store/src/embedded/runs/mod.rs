//! Index rows of blocks that were stored in bulk, as sorted runs in memory until they are written into a file.
//!
//! In: the index rows of one commit of history. Out: the same rows, in the order of their keys, merged with what tables and
//! files hold. Writing them into the engine's tables one by one costs more than all other work on a block: each is
//! searched for its place among millions. So a commit sorts them and keeps them in memory, and writes to the table
//! `index_runs` which blocks they are of: they follow from the blocks, and are made again when the store is opened.
//! `fold` writes many runs into a file at once (docs/adr/0013, 0020). Whoever reads a table through a view
//! sees all. Counts of wallets do not know of runs: whoever counts adds their rows.
//! Must not know: what the rows mean.

mod builder;
mod merge;
mod pending;
mod run;
mod run_rows;
mod sorted_rows;

pub use builder::RunBuilder;
pub use merge::Merged;
pub use pending::PendingRuns;
pub use run::{Run, RunTable};
pub use run_rows::{RunRows, merged_rows};
pub use sorted_rows::{SortedRows, start_of_key};

#[cfg(test)]
mod tests;
