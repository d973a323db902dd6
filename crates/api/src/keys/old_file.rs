//! Keys of builds that kept them in a file, `keys.json`: taken into the store once.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use store::{ApiKey, Role, Store};

#[derive(Deserialize)]
struct OldRow {
    id: String,
    sha256: String,
    tenant: String,
    name: String,
    created_at: String,
    units_per_second: Option<u32>,
}

#[derive(Debug, thiserror::Error)]
pub enum OldFileError {
    #[error("cannot use the key file {path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    #[error("the key file {path} is not what older builds wrote: {source}")]
    Malformed { path: PathBuf, source: serde_json::Error },
    #[error("the key file {path} holds a hash that is none: key {id}")]
    Hash { path: PathBuf, id: String },
    #[error(transparent)]
    Store(#[from] store::Error),
}

/// Says how many keys were taken in. The file is renamed, so that it is not read again.
pub async fn take_in_old_file(store: &Store, folder: &Path) -> Result<usize, OldFileError> {
    let path = folder.join("keys.json");
    // A pipe, or whatever else stands there, would be read for ever.
    let is_other = std::fs::metadata(&path).is_ok_and(|found| !found.is_file());
    if is_other {
        let source = std::io::Error::other("it is not a plain file");
        return Err(OldFileError::Io { path, source });
    }
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        Err(source) => return Err(OldFileError::Io { path, source }),
    };
    let rows: Vec<OldRow> = match serde_json::from_slice(&bytes) {
        Ok(rows) => rows,
        Err(source) => return Err(OldFileError::Malformed { path, source }),
    };
    let count = rows.len();
    for row in rows {
        let Ok(hash) = alloy_primitives::hex::decode_to_array::<_, 32>(&row.sha256) else {
            return Err(OldFileError::Hash { path, id: row.id });
        };
        let created_at = row.created_at.parse::<jiff::Timestamp>();
        let created_at = created_at.map_or(0, |at| at.as_second().max(0).unsigned_abs());
        store
            .put_api_key(&ApiKey {
                id: row.id,
                hash,
                tenant: row.tenant,
                name: row.name,
                role: Role::Tenant,
                created_at,
                units_per_second: row.units_per_second,
                methods: store::MethodRules::default(),
            })
            .await?;
    }
    // Held while the file was changed; nobody changes it any more.
    let _ = std::fs::remove_file(path.with_extension("json.lock"));
    let done = path.with_extension("json.imported");
    std::fs::rename(&path, done).map_err(|source| OldFileError::Io { path, source })?;
    Ok(count)
}
