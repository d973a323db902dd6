//! What the server remembers of its backups: the one under way, or the last one.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use store::{BackupProgress, Manifest};

use crate::error::ApiError;
use crate::lock::lock;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BackupState {
    /// None since this process started.
    #[default]
    None,
    Running,
    Done,
    Failed,
}

/// The backup under way, or the last one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct BackupStatus {
    pub state: BackupState,
    pub folder: PathBuf,
    pub rows_done: u64,
    /// An estimate.
    pub rows_total: u64,
    /// Of one that is done: the moment it holds, and its files.
    pub manifest: Option<Manifest>,
    pub error: Option<String>,
}

/// What the server remembers of its backups.
#[derive(Default)]
pub struct Backups {
    last: Mutex<(BackupStatus, Arc<BackupProgress>)>,
}

impl Backups {
    pub fn begin(&self, folder: PathBuf) -> Result<Arc<BackupProgress>, ApiError> {
        let mut last = lock(&self.last);
        if last.0.state == BackupState::Running {
            let folder = last.0.folder.display();
            let why = format!("a backup to {folder} is under way; wait until it is done");
            return Err(ApiError::BadRequest(why));
        }
        let progress = Arc::new(BackupProgress::default());
        let state = BackupState::Running;
        *last = (BackupStatus { state, folder, ..BackupStatus::default() }, progress.clone());
        Ok(progress)
    }

    pub fn end(&self, outcome: Result<Manifest, store::Error>) {
        let status = &mut lock(&self.last).0;
        match outcome {
            Ok(manifest) => {
                tracing::info!(folder = %status.folder.display(), "backup finished");
                (status.state, status.manifest) = (BackupState::Done, Some(manifest));
            }
            Err(error) => {
                let folder = status.folder.display();
                tracing::warn!(%folder, %error, "backup failed; no folder was left");
                (status.state, status.error) = (BackupState::Failed, Some(error.to_string()));
            }
        }
    }

    pub fn status(&self) -> BackupStatus {
        let last = lock(&self.last);
        let (rows_done, rows_total) = (last.1.rows(), last.1.rows_total());
        BackupStatus { rows_done, rows_total, ..last.0.clone() }
    }

    /// One that is under way ends soon, and leaves nothing.
    pub fn stop(&self) {
        lock(&self.last).1.stop();
    }
}
