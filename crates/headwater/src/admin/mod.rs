//! How the command line talks to a running server: HTTP over a socket in the data folder that only its
//! owner can open.

mod access;
mod client;
mod socket;

pub use access::StoreAccess;
pub use client::Client;
pub use socket::{bind, remove};

use std::path::{Path, PathBuf};

fn socket_path(folder: &Path) -> PathBuf {
    folder.join("headwater.sock")
}
