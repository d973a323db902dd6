//! `/admin/v1/backup`: a copy of the store in a folder of this machine, one at a time. Begun only through
//! the socket in the data folder: a key must not decide where this process writes files.

use std::path::PathBuf;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};

use super::json_body::JsonBody;
use super::{Admin, LocalSocket};
use crate::app::App;
use crate::backups::BackupStatus;
use crate::error::ApiError;
use crate::{clock, date};

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackupOrder {
    /// From the root; it must not exist, or be empty.
    pub folder: PathBuf,
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
