//! Who may read the folder: its owner. It holds keys' hashes and the secret that signs cursors.

use std::fs::{Metadata, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::fs::Mode;

const FOLDER: u32 = 0o700;
const FILE: u32 = 0o600;
/// Others may keep files of their own in the folder; those are left as they are.
const OURS: [&str; 6] = ["version", "lock", "durable", "keyspaces", "segments", "index"];
const OUR_ENDS: [&str; 3] = [".jnl", ".damaged", ".sock"];

/// Files and folders that this process makes from here on are its owner's alone: the engine makes them
/// at any time, and asks for no mode.
pub fn private_from_now_on() {
    rustix::process::umask(Mode::from_raw_mode(0o077));
}

/// Takes from everybody else what an older build or another umask gave them, of the folder and of what
/// is the store's in it. Says how many were open.
pub fn tighten(folder: &Path) -> std::io::Result<u64> {
    let mut tightened = one(folder, &std::fs::metadata(folder)?);
    for entry in std::fs::read_dir(folder)?.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_ours = OURS.contains(&&*name) || OUR_ENDS.iter().any(|end| name.ends_with(end));
        if is_ours {
            tightened += all_below(&entry.path());
        }
    }
    Ok(tightened)
}

/// The engine removes files at any time; what is gone is closed enough.
fn all_below(path: &Path) -> u64 {
    let Ok(metadata) = std::fs::symlink_metadata(path) else { return 0 };
    let mut tightened = one(path, &metadata);
    if metadata.is_dir() {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        tightened += entries.map(|entry| all_below(&entry.path())).sum::<u64>();
    }
    tightened
}

fn one(path: &Path, metadata: &Metadata) -> u64 {
    let mode = metadata.permissions().mode();
    if metadata.is_symlink() || mode & 0o077 == 0 {
        return 0;
    }
    let wanted = if metadata.is_dir() { FOLDER } else { FILE };
    if let Err(error) = std::fs::set_permissions(path, Permissions::from_mode(wanted)) {
        let mode = format!("{:o}", mode & 0o777);
        tracing::warn!(path = %path.display(), mode, %error, "others can read this, and it cannot be changed");
        return 0;
    }
    1
}
