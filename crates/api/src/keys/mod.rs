//! API keys: made, kept as hashes in a file of the data folder, checked on every request.
//!
//! The file can be changed by `headwater keys` while a server runs; the server notices.

mod file;
mod ring;
#[cfg(test)]
mod tests;

pub use file::{KeyFile, KeyFileError, KeyRow};
pub use ring::{KeyRing, Owner};

use rand::RngCore;
use sha2::{Digest, Sha256};

/// What is stored of a key.
pub fn hash(key: impl AsRef<[u8]>) -> [u8; 32] {
    Sha256::digest(key.as_ref()).into()
}

/// 32 random bytes from the operating system, as hex behind a prefix that secret scanners can learn.
pub fn fresh() -> String {
    let mut bytes = [0u8; 32];
    rand::rng().fill_bytes(&mut bytes);
    format!("hw_{}", alloy_primitives::hex::encode(bytes))
}
