//! A copy of everything in a folder, as it was at one moment, and a store made from such a folder.
//!
//! The folder holds a manifest and one file of rows for each table. Files are the same for every engine;
//! what is in a row is the engine's business, and the manifest names the engine.
//! Must not know: which tables an engine has.

mod folder;
mod manifest;
mod progress;
mod rows_file;

use std::path::{Path, PathBuf};

pub(crate) use folder::{UnfinishedFolder, check_is_empty, clear};
pub use manifest::{ChainMoment, Manifest, TableFile};
pub use progress::BackupProgress;
pub(crate) use rows_file::{RowsReader, RowsWriter};

use crate::Error;

/// Where a backup goes.
#[derive(Clone, Debug)]
pub struct BackupRequest {
    /// Must not exist, or be empty.
    pub folder: PathBuf,
    /// For the manifest; this crate has no clock.
    pub taken_at: String,
}

/// What is wrong with a backup, or with the place for it.
pub(crate) fn refuse(path: &Path, why: impl ToString) -> Error {
    Error::Backup { path: path.to_owned(), why: why.to_string() }
}

pub(crate) fn refused(path: &Path) -> impl Fn(std::io::Error) -> Error {
    move |error| refuse(path, error)
}
