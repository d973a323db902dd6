//! Who may read the folder: its owner. It holds keys' hashes and the secret that signs cursors.

use std::fs::{Metadata, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::fs::Mode;

const FOLDER: u32 = 0o700;
const FILE: u32 = 0o600;

/// Files and folders that this process makes from here on are its owner's alone: the engine makes them
/// at any time, and asks for no mode.
pub fn private_from_now_on() {
    rustix::process::umask(Mode::from_raw_mode(0o077));
}

/// Takes from everybody else what an older build or another umask gave them. Says how many were open.
pub fn tighten(folder: &Path) -> std::io::Result<u64> {
    let mut tightened = one(folder, &std::fs::symlink_metadata(folder)?)?;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        // The engine removes files at any time; what is gone is closed enough.
        let Ok(metadata) = entry.metadata() else { continue };
        tightened += if metadata.is_dir() {
            tighten(&entry.path())?
        } else {
            one(&entry.path(), &metadata)?
        };
    }
    Ok(tightened)
}

fn one(path: &Path, metadata: &Metadata) -> std::io::Result<u64> {
    let mode = metadata.permissions().mode();
    if metadata.is_symlink() || mode & 0o077 == 0 {
        return Ok(0);
    }
    let wanted = if metadata.is_dir() { FOLDER } else { FILE };
    std::fs::set_permissions(path, Permissions::from_mode(wanted))?;
    Ok(1)
}
