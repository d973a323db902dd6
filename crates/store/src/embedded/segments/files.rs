//! The files of segments: read anywhere, appended to by one writer. Knows bytes, not what they mean.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::embedded::numbered_files::numbers_in;
use crate::embedded::page_cache::{read_now, will_need};

/// In the data folder.
pub const FOLDER: &str = "segments";
const END: &str = ".bodies";
/// Kept open for reading.
const OPEN_MAX: usize = 64;

pub struct SegmentFiles {
    folder: PathBuf,
    open: Mutex<HashMap<u64, Arc<File>>>,
}

impl SegmentFiles {
    pub fn new(data: &Path) -> Self {
        SegmentFiles { folder: data.join(FOLDER), open: Mutex::default() }
    }

    pub fn path(&self, id: u64) -> PathBuf {
        self.folder.join(format!("{id}{END}"))
    }

    pub fn read(&self, id: u64, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.file(id)?.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }

    /// None where that would wait for the disk, and where it fails: `read` says why.
    pub fn read_now(&self, id: u64, offset: u64, length: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; length];
        read_now(&*self.file(id).ok()?, offset, &mut bytes).then_some(bytes)
    }

    /// It will be read soon.
    pub fn will_need(&self, id: u64, offset: u64, length: usize) {
        // Whoever reads it learns why there is none.
        if let Ok(file) = self.file(id) {
            will_need(&file, offset, length as u64);
        }
    }

    fn file(&self, id: u64) -> io::Result<Arc<File>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = open.get(&id) {
            return Ok(file.clone());
        }
        let file = Arc::new(File::open(self.path(id))?);
        if open.len() >= OPEN_MAX
            && let Some(other) = open.keys().next().copied()
        {
            open.remove(&other);
        }
        open.insert(id, file.clone());
        Ok(file)
    }

    pub fn length(&self, id: u64) -> io::Result<u64> {
        Ok(std::fs::metadata(self.path(id))?.len())
    }

    /// Those that are there, whether anything leads to them or not.
    pub fn list(&self) -> io::Result<Vec<u64>> {
        numbers_in(&self.folder, END)
    }

    /// For appending at `end`. What lies behind it is cut off, and a file that is new is on disk by its name.
    pub fn open_to_append(&self, id: u64, end: u64) -> io::Result<File> {
        let path = self.path(id);
        let is_new = !path.exists();
        if is_new {
            std::fs::create_dir_all(&self.folder)?;
        }
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        file.set_len(end)?;
        if is_new {
            File::open(&self.folder)?.sync_all()?;
            if let Some(data) = self.folder.parent() {
                File::open(data)?.sync_all()?;
            }
        }
        Ok(file)
    }

    pub fn remove(&self, id: u64) -> io::Result<()> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        match std::fs::remove_file(self.path(id)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }
}
