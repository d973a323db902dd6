//! The folder of a backup: made under another name, moved into place when all of it is on disk. Only its
//! owner can read it: rows hold secrets of the installation.

use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::{refuse, refused};
use crate::Error;

/// What a file system puts into a folder that it is mounted on.
const LOST_AND_FOUND: &str = "lost+found";

/// Removed when it is dropped before `finish`.
pub struct UnfinishedFolder {
    path: PathBuf,
    wanted: PathBuf,
    is_finished: bool,
}

impl UnfinishedFolder {
    pub fn create(wanted: &Path) -> Result<Self, Error> {
        let Some(name) = wanted.file_name() else {
            return Err(refuse(wanted, "is no name for a new folder"));
        };
        check_is_empty(wanted)?;
        let mut unfinished = name.to_owned();
        unfinished.push(".unfinished");
        let path = wanted.with_file_name(unfinished);
        remove_left_over(&path)?;
        DirBuilder::new().mode(0o700).recursive(true).create(&path).map_err(refused(&path))?;
        Ok(UnfinishedFolder { path, wanted: wanted.to_owned(), is_finished: false })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Every file in it is on disk already.
    pub fn finish(mut self) -> Result<(), Error> {
        sync_folder(&self.path).map_err(refused(&self.path))?;
        // Somebody may have come first. An empty folder is replaced.
        check_is_empty(&self.wanted)?;
        std::fs::rename(&self.path, &self.wanted).map_err(refused(&self.wanted))?;
        self.is_finished = true;
        sync_folder(parent(&self.wanted)).map_err(refused(&self.wanted))
    }
}

impl Drop for UnfinishedFolder {
    fn drop(&mut self) {
        if !self.is_finished {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

/// Of a process that was killed. Anything that is not of a backup is somebody else's.
fn remove_left_over(path: &Path) -> Result<(), Error> {
    let Some(names) = names_in(path)? else { return Ok(()) };
    for name in names {
        let name = name.to_string_lossy();
        if !name.ends_with(".rows") && name != "manifest.json" {
            return Err(refuse(path, format!("is in the way, and holds {name}; move it away")));
        }
    }
    std::fs::remove_dir_all(path).map_err(refused(path))
}

/// None where there is no such folder.
fn names_in(path: &Path) -> Result<Option<Vec<OsString>>, Error> {
    let entries = match std::fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(refuse(path, error)),
    };
    let names = entries.map(|entry| entry.map(|entry| entry.file_name()));
    names.collect::<io::Result<_>>().map(Some).map_err(refused(path))
}

pub fn check_is_empty(path: &Path) -> Result<(), Error> {
    for name in names_in(path)?.unwrap_or_default() {
        if name != LOST_AND_FOUND {
            let name = name.to_string_lossy();
            return Err(refuse(
                path,
                format!("is not empty: it holds {name}. Give another folder"),
            ));
        }
    }
    Ok(())
}

/// Empties a folder again that was empty before.
pub fn clear(path: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_name() == LOST_AND_FOUND {
            continue;
        }
        if entry.file_type()?.is_dir() {
            std::fs::remove_dir_all(entry.path())?;
        } else {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

pub fn create_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

pub fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
