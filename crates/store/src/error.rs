//! What can go wrong in the store.

use std::path::PathBuf;

use alloy_primitives::B256;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("store engine: {0}")]
    Engine(#[from] fjall::Error),
    #[error("cannot use the data folder {path}: {source}")]
    Folder { path: PathBuf, source: std::io::Error },
    #[error(
        "the data folder {path} is in use by another headwater process; stop it, or give this one \
         a folder of its own with --data"
    )]
    InUse { path: PathBuf },
    #[error(
        "the data folder {path} was written in format {found}; this build reads format {known}. \
         Use the build that wrote it, or import into a new folder"
    )]
    UnknownFormat { path: PathBuf, found: u32, known: u32 },
    #[error("block {number} does not follow the stored block {neighbour}: {expected} is not {got}")]
    Detached { number: u64, neighbour: u64, expected: B256, got: B256 },
    #[error("block {number} is stored with another hash: {stored}")]
    Occupied { number: u64, stored: B256 },
    #[error("block {number} is not stored and cannot be reverted")]
    NotStored { number: u64 },
    #[error("no such generation of facts of chain {chain} is in the making")]
    NotBuilding { chain: u64 },
    #[error("a stored row of table {table} cannot be read back")]
    BrokenRow { table: &'static str },
}

impl Error {
    /// Whether the same call may succeed later without anyone changing anything.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Error::Engine(fjall::Error::Io(_)))
    }
}
