//! Where a store is, how it is opened, and what it takes.

use std::path::PathBuf;
use std::time::Duration;

use model::chain::ChainId;

use crate::memory::Memory;

#[derive(Clone, Debug)]
pub struct Options {
    /// The folder of an embedded store; of any other, where this installation keeps files of its own.
    pub path: PathBuf,
    /// The database of a store that is not embedded: `postgres://…`. Empty: the folder.
    pub url: String,
    /// Copies of the database that views may be of, as long as they are not behind what this process knows of.
    pub read_urls: Vec<String>,
    /// Chains that have a database of their own: where it is, `postgres://…`.
    pub placed: Vec<(ChainId, String)>,
    /// Connections to each database at most.
    pub connections_max: usize,
    /// Memory for what was read and for what waits to be written; `Memory` says how it is shared out.
    pub memory_bytes: u64,
    /// Whether a commit waits for the disk. Bulk loads turn it off and call `Store::flush` at the end.
    pub durable: bool,
    /// Files of tables kept open; the engine's own number where none is said.
    pub open_files_max: Option<usize>,
    /// Journal entries kept even when every reader has passed them.
    pub journal_entries_min: u64,
    /// Makes the folder where there is none. Whoever only reads wants an error instead.
    pub create: bool,
    /// Nothing is written while less than this is free on the folder's file system. None: 1 GiB, or a
    /// twentieth of a smaller file system.
    pub free_bytes_min: Option<u64>,
    /// A file of bodies of blocks that has reached this is not appended to.
    pub segment_bytes: u64,
    /// Index rows of history are kept in memory until they take this much, and are then written into a file.
    /// None: their share of `memory_bytes`.
    pub run_bytes: Option<u64>,
    /// A write that takes longer is told of by `Store::write_state`.
    pub commit_stall: Duration,
}

impl Options {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Options {
            path: path.into(),
            url: String::new(),
            read_urls: Vec::new(),
            placed: Vec::new(),
            connections_max: 32,
            memory_bytes: 512 << 20,
            durable: true,
            open_files_max: None,
            journal_entries_min: 100_000,
            create: true,
            free_bytes_min: None,
            segment_bytes: 128 << 20,
            run_bytes: None,
            commit_stall: Duration::from_secs(60),
        }
    }
}

impl Options {
    pub(crate) fn memory(&self) -> Memory {
        let shares = Memory::of(self.memory_bytes);
        Memory { run: self.run_bytes.unwrap_or(shares.run), ..shares }
    }
}

/// How far bringing an older store up to this build's format has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpgradeProgress {
    pub from_format: u32,
    pub to_format: u32,
    pub done: u64,
    /// An estimate.
    pub total: u64,
}

/// A part of the store and what it takes.
#[derive(Clone, Debug)]
pub struct TableSize {
    pub name: &'static str,
    pub disk_bytes: u64,
    /// An estimate: rows overwritten but not yet compacted count too.
    pub rows: u64,
}
