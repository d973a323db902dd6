//! The hash that the engine notes of every file of a table.

use std::io::Read;
use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

pub fn hash_file(path: &Path) -> std::io::Result<u128> {
    let mut file = std::fs::File::open(path)?;
    let mut hasher = Xxh3::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut buffer)?;
        match buffer.get(..read) {
            Some(bytes) if !bytes.is_empty() => hasher.update(bytes),
            _ => return Ok(hasher.digest128()),
        }
    }
}
