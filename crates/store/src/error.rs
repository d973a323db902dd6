//! What can go wrong in the store.

use std::path::{Path, PathBuf};

use alloy_primitives::B256;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The disk, the database or the way to it.
    #[error("the store could not {action} ({path}): {source}; {advice}")]
    Engine {
        action: &'static str,
        /// The data folder, or the part of it that is concerned.
        path: PathBuf,
        source: Box<dyn std::error::Error + Send + Sync>,
        advice: &'static str,
        /// Whether the same call may succeed later without anyone changing anything.
        retryable: bool,
    },
    #[error(
        "only {free} bytes are free for the data folder {path}, and {min} must be (store.free_bytes_min); \
         make room on its file system; a server that runs goes on by itself"
    )]
    DiskFull { path: PathBuf, free: u64, min: u64 },
    /// Nothing was tried: an earlier write failed and the engine is being opened anew.
    #[error("the store {path} takes no writes now: {reason}; {advice}")]
    Paused { path: PathBuf, reason: String, advice: String },
    /// Nothing was changed.
    #[error("the store is damaged: {file}: {what}. {}", advice_on_damage(.file))]
    Damaged { file: PathBuf, what: String },
    #[error("cannot use the data folder {path}: {source}")]
    Folder { path: PathBuf, source: std::io::Error },
    #[error(
        "the data folder {path} is in use by another headwater process; stop it, or give this one \
         a folder of its own with --data"
    )]
    InUse { path: PathBuf },
    #[error(
        "the store {path} was written in format {found}; this build reads formats {oldest} to {newest}. \
         Use a build that knows it"
    )]
    UnknownFormat { path: PathBuf, found: u32, oldest: u32, newest: u32 },
    #[error("block {number} does not follow the stored block {neighbour}: {expected} is not {got}")]
    Detached { number: u64, neighbour: u64, expected: B256, got: B256 },
    #[error("block {number} is stored with another hash: {stored}")]
    Occupied { number: u64, stored: B256 },
    #[error("block {number} is not stored, or not in the form that this change needs")]
    NotStored { number: u64 },
    #[error("no such generation of facts of chain {chain} is being built")]
    NotBuilding { chain: u64 },
    #[error("the journal reader {name} was moved by somebody else")]
    ReaderMoved { name: String },
    #[error(
        "the journal reader {name} stands at entry {seq}, and the journal ends at {newest}: the chain's database was set \
         back to a moment before that of the main one (docs/cluster.md)"
    )]
    ReaderAhead { name: String, seq: u64, newest: u64 },
    /// A backup, or the place for one, or for what is restored from it.
    #[error("{path} {why}")]
    Backup { path: PathBuf, why: String },
    /// What is copied does not fit what is there.
    #[error("{what}; copy into an empty store, with no server on either")]
    NotEmpty { what: String },
    #[error("a stored {what} cannot be read back; stop the server and run `headwater check`")]
    Broken { what: &'static str },
}

/// The folders in which tables, bodies of blocks and index files lie.
const TABLES: [&str; 3] = ["keyspaces", "segments", "index"];

/// Whether a file of a table, or of bodies, is meant: what it held is nowhere else.
pub(crate) fn is_in_table(file: &Path) -> bool {
    let mut above = file.parent().into_iter().flat_map(Path::components);
    above.any(|part| TABLES.iter().any(|folder| part.as_os_str() == *folder))
}

fn advice_on_damage(file: &Path) -> &'static str {
    if is_in_table(file) {
        "Restore a backup, or fill an empty folder again from the nodes; `headwater repair` mends the log, and \
         cannot mend tables"
    } else {
        "Restore a backup, or run `headwater repair`, which keeps the damaged files and says what is lost, or \
         fill an empty folder again from the nodes"
    }
}

impl Error {
    /// Whether the same call may succeed later without anyone changing anything.
    pub fn is_retryable(&self) -> bool {
        match self {
            Error::Engine { retryable, .. } => *retryable,
            Error::DiskFull { .. } | Error::Paused { .. } => true,
            // The chain moved between a look at the store and the commit that followed from it.
            Error::Detached { .. } | Error::Occupied { .. } | Error::NotStored { .. } => true,
            _ => false,
        }
    }

    /// Whether something that was stored cannot be read back.
    pub fn is_damage(&self) -> bool {
        matches!(self, Error::Damaged { .. } | Error::Broken { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_to_repair_for_what_it_cannot_repair() {
        let told = |file: &str| {
            Error::Damaged { file: file.into(), what: "its hash is another".into() }.to_string()
        };
        for table in ["/d/keyspaces/4/v0", "d/keyspaces/7/current", "/d/segments/2.bodies"] {
            assert!(told(table).contains("cannot mend tables"), "{}", told(table));
        }
        for other in ["/d/0.jnl", "/d/version", "/d/keyspaces", "keyspaces"] {
            assert!(told(other).contains("or run `headwater repair`"), "{}", told(other));
        }
    }
}
