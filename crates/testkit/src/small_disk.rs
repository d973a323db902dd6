//! A file system of its own, small enough to be filled up. Needs root; where that is not given, a visible
//! `SKIPPED` line.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

const BALLAST: &str = "ballast";
const CHUNK: usize = 1 << 20;
const PAGE: usize = 4096;

/// Mounted on a folder until it is dropped.
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    pub fn mount(folder: &Path, megabytes: u32) -> Option<Self> {
        let size = format!("size={megabytes}m");
        let mount = ["-t", "tmpfs", "-o", &size, "headwater-test"];
        let done = Command::new("mount").args(mount).arg(folder).output();
        if done.is_ok_and(|done| done.status.success()) {
            return Some(SmallDisk(folder.to_owned()));
        }
        eprintln!("SKIPPED: a tmpfs cannot be mounted here (it needs root)");
        None
    }

    /// Takes all the room but for some.
    pub fn take_all_but(&self, bytes_left: u64) {
        let filled = (|| {
            let mut file = OpenOptions::new().create(true).append(true).open(self.ballast())?;
            fill(&mut file, CHUNK)?;
            fill(&mut file, PAGE)?;
            let length = file.metadata()?.len();
            file.set_len(length.saturating_sub(bytes_left))
        })();
        assert!(filled.is_ok(), "{}: {filled:?}", self.0.display());
    }

    pub fn give_back(&self) {
        let removed = std::fs::remove_file(self.ballast());
        assert!(removed.is_ok(), "{}: {removed:?}", self.0.display());
    }

    fn ballast(&self) -> PathBuf {
        self.0.join(BALLAST)
    }
}

/// Until there is no room for this many bytes more.
fn fill(file: &mut File, bytes: usize) -> std::io::Result<()> {
    let bytes = vec![1; bytes];
    loop {
        match file.write_all(&bytes) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::StorageFull => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}
