//! The key file: one JSON document, replaced as a whole, so a reader sees the old or the new one.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeyRow {
    /// For people: which key is meant, without being able to use it.
    pub id: String,
    pub sha256: String,
    pub tenant: String,
    pub name: String,
    pub created_at: String,
    /// Compute units per second; the server's own limit where none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units_per_second: Option<u32>,
}

#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    #[error("cannot use the key file {path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    #[error("the key file {path} is not what this build writes: {source}")]
    Malformed { path: PathBuf, source: serde_json::Error },
    #[error("no key with id {0}")]
    Unknown(String),
}

#[derive(Clone, Debug)]
pub struct KeyFile {
    path: PathBuf,
}

impl KeyFile {
    pub fn in_folder(data: &Path) -> Self {
        KeyFile { path: data.join("keys.json") }
    }

    fn io(&self, source: std::io::Error) -> KeyFileError {
        KeyFileError::Io { path: self.path.clone(), source }
    }

    /// No file is no keys.
    pub fn read(&self) -> Result<Vec<KeyRow>, KeyFileError> {
        let bytes = match std::fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.io(error)),
        };
        serde_json::from_slice(&bytes)
            .map_err(|source| KeyFileError::Malformed { path: self.path.clone(), source })
    }

    /// When the file last changed; none where there is no file.
    pub fn changed_at(&self) -> Option<std::time::SystemTime> {
        std::fs::metadata(&self.path).and_then(|m| m.modified()).ok()
    }

    pub fn add(&self, row: KeyRow) -> Result<(), KeyFileError> {
        let mut rows = self.read()?;
        rows.push(row);
        self.write(&rows)
    }

    pub fn remove(&self, id: &str) -> Result<KeyRow, KeyFileError> {
        let mut rows = self.read()?;
        let place = rows.iter().position(|row| row.id == id);
        let place = place.ok_or_else(|| KeyFileError::Unknown(id.to_owned()))?;
        let row = rows.remove(place);
        self.write(&rows)?;
        Ok(row)
    }

    fn write(&self, rows: &[KeyRow]) -> Result<(), KeyFileError> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(|e| self.io(e))?;
        let text = serde_json::to_vec_pretty(rows)
            .map_err(|source| KeyFileError::Malformed { path: self.path.clone(), source })?;
        let fresh = self.path.with_extension("json.new");
        std::fs::write(&fresh, text).map_err(|e| self.io(e))?;
        std::fs::File::open(&fresh).and_then(|f| f.sync_all()).map_err(|e| self.io(e))?;
        std::fs::rename(&fresh, &self.path).map_err(|e| self.io(e))
    }
}
