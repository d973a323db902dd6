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
use std::sync::Arc;

pub(crate) use folder::{UnfinishedFolder, check_is_empty, clear};
pub use manifest::{ChainMoment, Manifest, TableFile};
pub use progress::BackupProgress;
pub(crate) use rows_file::{RowsReader, RowsWriter};

use crate::Error;
use crate::embedded;
use crate::options::Options;
use crate::store::{Engine, Store};

/// Where a backup goes.
#[derive(Clone, Debug)]
pub struct BackupRequest {
    /// Must not exist, or be empty.
    pub folder: PathBuf,
    /// For the manifest; this crate has no clock.
    pub taken_at: String,
}

impl Store {
    /// Copies everything as it is now. Commits wait only while the moment is taken; what is written
    /// later is not part of it. On disk when this returns; a backup that fails leaves no folder.
    pub async fn backup(
        &self,
        request: BackupRequest,
        progress: Arc<BackupProgress>,
    ) -> Result<Manifest, Error> {
        match &self.engine {
            Engine::Embedded(store) => {
                store.run(move |store| store.backup(&request, &progress)).await
            }
        }
    }

    /// Makes a store of a backup in an empty folder, reads it back, and holds it against the manifest.
    pub async fn restore(
        options: &Options,
        from: &Path,
        progress: Arc<BackupProgress>,
    ) -> Result<Manifest, Error> {
        let (options, from) = (options.clone(), from.to_owned());
        let place = options.path.clone();
        let work = move || embedded::restore(&options, &from, &progress);
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|stopped| Err(refuse(&place, format!("was not filled: {stopped}"))))
    }
}

/// What is wrong with a backup, or with the place for it.
pub(crate) fn refuse(path: &Path, why: impl ToString) -> Error {
    Error::Backup { path: path.to_owned(), why: why.to_string() }
}

pub(crate) fn refused(path: &Path) -> impl Fn(std::io::Error) -> Error {
    move |error| refuse(path, error)
}
