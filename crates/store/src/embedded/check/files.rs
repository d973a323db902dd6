//! Whether every file of the tables is byte for byte what was written.

use std::io::Read;
use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

use crate::check::CheckedPart;
use crate::embedded::tables::Tables;

pub fn check(tables: &Tables) -> CheckedPart {
    let mut part = CheckedPart::new("files of tables");
    for (_, table) in tables.all() {
        for (path, noted) in table.files() {
            part.count += 1;
            match hash(&path) {
                Ok(found) if found == noted => {}
                Ok(_) => part.fault(format!("{}: not what was written", path.display())),
                // Merged into another and removed since the list was read.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => part.fault(format!("{}: {error}", path.display())),
            }
        }
    }
    part
}

fn hash(path: &Path) -> std::io::Result<u128> {
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
