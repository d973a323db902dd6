//! The key file: one JSON document, replaced as a whole, so a reader sees the old or the new one.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
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

    /// Which writing of the file is there; none where there is no file.
    pub fn edition(&self) -> Option<Edition> {
        let file = std::fs::metadata(&self.path).ok()?;
        let modified_at = (file.mtime(), file.mtime_nsec());
        Some(Edition { modified_at, inode: file.ino(), bytes: file.len() })
    }

    pub fn add(&self, row: KeyRow) -> Result<(), KeyFileError> {
        self.change(|rows| {
            rows.push(row);
            Ok(())
        })
    }

    pub fn remove(&self, id: &str) -> Result<KeyRow, KeyFileError> {
        self.change(|rows| {
            let place = rows.iter().position(|row| row.id == id);
            let place = place.ok_or_else(|| KeyFileError::Unknown(id.to_owned()))?;
            Ok(rows.remove(place))
        })
    }

    /// One change at a time, whichever process makes it: none is lost.
    fn change<T>(
        &self,
        edit: impl FnOnce(&mut Vec<KeyRow>) -> Result<T, KeyFileError>,
    ) -> Result<T, KeyFileError> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(|e| self.io(e))?;
        let lock = private(&self.path.with_extension("json.lock")).map_err(|e| self.io(e))?;
        lock.lock().map_err(|e| self.io(e))?;
        let mut rows = self.read()?;
        let outcome = edit(&mut rows)?;
        let text = serde_json::to_vec_pretty(&rows)
            .map_err(|source| KeyFileError::Malformed { path: self.path.clone(), source })?;
        self.replace(folder, &text).map_err(|e| self.io(e))?;
        Ok(outcome)
    }

    fn replace(&self, folder: &Path, text: &[u8]) -> std::io::Result<()> {
        let fresh = self.path.with_extension("json.new");
        let mut file = private(&fresh)?;
        file.set_len(0)?;
        file.write_all(text)?;
        file.sync_all()?;
        std::fs::rename(&fresh, &self.path)?;
        File::open(folder)?.sync_all()
    }
}

/// Tells one writing of the file from the next, even two within one tick of the file system's clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edition {
    modified_at: (i64, i64),
    inode: u64,
    bytes: u64,
}

/// A file for its owner's eyes alone: hashes of strong keys cannot be turned back, names can be read.
fn private(path: &Path) -> std::io::Result<File> {
    let file =
        OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)?;
    file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    Ok(file)
}
