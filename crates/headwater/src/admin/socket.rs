//! The socket in the data folder.

use std::fs::Permissions;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

use anyhow::{Context, Result};
use tokio::net::UnixListener;

use super::socket_path;

/// Made in a folder that nobody else can enter and moved into place with its permissions, so that there
/// is no moment in which others could connect. The caller holds the store, so a socket that is there
/// already is what a process that crashed left behind.
pub fn bind(folder: &Path) -> Result<UnixListener> {
    let path = socket_path(folder);
    let private = folder.join(format!(".socket-{}", std::process::id()));
    let bound = (|| {
        std::fs::DirBuilder::new().mode(0o700).recursive(true).create(&private)?;
        let fresh = private.join("s");
        let _ = std::fs::remove_file(&fresh);
        let listener = UnixListener::bind(short(&fresh)?.path())?;
        std::fs::set_permissions(&fresh, Permissions::from_mode(0o600))?;
        std::fs::rename(&fresh, &path)?;
        std::io::Result::Ok(listener)
    })();
    let _ = std::fs::remove_dir(&private);
    bound.with_context(|| format!("cannot make the socket {}", path.display()))
}

/// One that is left behind does no harm: nobody listens there.
pub fn remove(folder: &Path) {
    let _ = std::fs::remove_file(socket_path(folder));
}

/// The longest path that the system takes for a socket.
const PATH_BYTES_MAX: usize = 107;

/// A path to the same file that is short enough: a long one goes through an open folder.
pub(super) struct ShortPath {
    path: std::path::PathBuf,
    _folder: Option<std::fs::File>,
}

impl ShortPath {
    pub fn path(&self) -> &Path {
        &self.path
    }
}

pub(super) fn short(path: &Path) -> std::io::Result<ShortPath> {
    use std::os::fd::AsRawFd;
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Ok(ShortPath { path: path.to_owned(), _folder: None });
    };
    if path.as_os_str().len() <= PATH_BYTES_MAX {
        return Ok(ShortPath { path: path.to_owned(), _folder: None });
    }
    let folder = std::fs::File::open(folder)?;
    let path = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name);
    Ok(ShortPath { path, _folder: Some(folder) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_socket_is_the_owners_alone_and_replaces_one_that_was_left_behind() {
        let scratch = tempfile::tempdir().unwrap();
        // Longer than a socket's path may be.
        let folder = scratch.path().join("x".repeat(120));
        std::fs::create_dir(&folder).unwrap();
        drop(bind(&folder).unwrap());
        let _listener = bind(&folder).unwrap();
        let path = socket_path(&folder);
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let short = short(&path).unwrap();
        tokio::net::UnixStream::connect(short.path()).await.unwrap();
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing else is left");
    }
}
