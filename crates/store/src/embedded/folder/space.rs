//! How much room is left where the store is. Asked before every write, so what was found counts for a
//! moment.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::Error;
use crate::disk_room::DiskRoom;

/// As long as what was found counts. A write takes far less than the reserve in this time.
const FRESH_FOR: Duration = Duration::from_millis(200);
/// Unless it is said otherwise, so much must be free, or `SHARE` of a smaller file system.
const FREE_BYTES_MIN: u64 = 1 << 30;
const SHARE: u64 = 20;

pub struct Space {
    path: PathBuf,
    min: Option<u64>,
    found: Mutex<Option<(Instant, DiskRoom)>>,
    /// Once it was full, a little more must be free before writing goes on.
    is_full: std::sync::atomic::AtomicBool,
}

impl Space {
    pub fn new(path: &Path, min: Option<u64>) -> Self {
        Space { path: path.to_owned(), min, found: Mutex::default(), is_full: false.into() }
    }

    /// An error where too little is free.
    pub fn check(&self) -> Result<(), Error> {
        use std::sync::atomic::Ordering::Relaxed;
        // A file system that cannot be asked is left to say so itself when it is written to.
        let Some(room) = self.room() else { return Ok(()) };
        let was_full = self.is_full.load(Relaxed);
        let DiskRoom { free_bytes: free, free_bytes_min: min, .. } = room;
        let min = if was_full { min.saturating_add(min / 8) } else { min };
        let is_full = free < min;
        if is_full != was_full {
            self.is_full.store(is_full, Relaxed);
        }
        if is_full {
            return Err(Error::DiskFull { path: self.path.clone(), free, min });
        }
        Ok(())
    }

    /// None where the file system cannot be asked.
    pub fn room(&self) -> Option<DiskRoom> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, room)) = *found
            && at.elapsed() < FRESH_FOR
        {
            return Some(room);
        }
        let stat = rustix::fs::statvfs(&self.path).ok()?;
        let bytes = |blocks: u64| blocks.saturating_mul(stat.f_frsize);
        let min = self.min.unwrap_or(FREE_BYTES_MIN.min(bytes(stat.f_blocks) / SHARE));
        let (size_bytes, free_bytes) = (bytes(stat.f_blocks), bytes(stat.f_bavail));
        let room = DiskRoom { size_bytes, free_bytes, free_bytes_min: min };
        *found = Some((Instant::now(), room));
        Some(room)
    }
}
