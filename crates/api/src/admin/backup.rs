//! `/admin/v1/backup`: a copy of the store in a folder of this machine, one at a time. Begun only through
//! the socket in the data folder: a key must not decide where this process writes files.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use store::{BackupProgress, Manifest};

use super::{Admin, LocalSocket};
use crate::app::App;
use crate::error::ApiError;
use crate::lock::lock;
use crate::params::JsonBody;
use crate::{clock, date};

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackupOrder {
    /// From the root; it must not exist, or be empty.
    pub folder: PathBuf,
}

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
    fn begin(&self, folder: PathBuf) -> Result<Arc<BackupProgress>, ApiError> {
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

    fn end(&self, outcome: Result<Manifest, store::Error>) {
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

    fn status(&self) -> BackupStatus {
        let last = lock(&self.last);
        let (rows_done, rows_total) = (last.1.rows(), last.1.rows_total());
        BackupStatus { rows_done, rows_total, ..last.0.clone() }
    }

    /// One that is under way ends soon, and leaves nothing.
    pub fn stop(&self) {
        lock(&self.last).1.stop();
    }
}

pub async fn status(State(app): State<App>, _: Admin) -> Json<BackupStatus> {
    Json(app.backups.status())
}

/// Progress is told by `GET` on the same path. It goes on when nobody asks any more.
pub async fn begin(
    State(app): State<App>,
    _: Admin,
    local: Option<Extension<LocalSocket>>,
    JsonBody(order): JsonBody<BackupOrder>,
) -> Result<Response, ApiError> {
    if local.is_none() {
        let why = "a backup is begun on the server's machine: headwater backup DIR";
        return Err(ApiError::BadRequest(why.into()));
    }
    let folder = order.folder;
    if !folder.is_absolute() {
        let shown = folder.display().to_string();
        return Err(ApiError::bad_value("folder", &shown, "is not a path from the root"));
    }
    let progress = app.backups.begin(folder.clone())?;
    tracing::info!(folder = %folder.display(), "backup started");
    tokio::spawn(async move {
        let taken_at = date::iso_millis_utc(clock::now_s());
        let request = store::BackupRequest { folder, taken_at };
        app.backups.end(app.parts.store.backup(request, progress).await);
    });
    Ok(StatusCode::ACCEPTED.into_response())
}
