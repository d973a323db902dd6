//! The engine's list of files of each table. It notes a hash of the list and does not look at it again;
//! a list that lost a bit may lose a table's files for good, so it is looked at here.

use std::path::Path;
use std::time::Instant;

use xxhash_rust::xxh3::xxh3_128;

use super::damage::Damage;

/// The file that names the list in use: its number, its hash, the kind of hash.
const CURRENT: &str = "current";

pub fn check(table: &Path) -> Result<(), Damage> {
    read_list(table).map(drop)
}

fn read_list(table: &Path) -> Result<Vec<u8>, Damage> {
    let current = table.join(CURRENT);
    let bytes = match std::fs::read(&current) {
        Ok(bytes) => bytes,
        Err(error) => return Err(Damage::of(current, error.to_string())),
    };
    let parts = bytes.split_first_chunk::<8>().and_then(|(number, rest)| {
        let (hash, kind) = rest.split_first_chunk::<16>()?;
        Some((u64::from_le_bytes(*number), u128::from_le_bytes(*hash), kind))
    });
    let Some((number, hash, [0])) = parts else {
        return Err(Damage::of(current, "it does not have its form"));
    };
    let list = table.join(format!("v{number}"));
    match std::fs::read(&list) {
        Ok(bytes) if xxh3_128(&bytes) == hash => Ok(bytes),
        Ok(_) => Err(Damage::of(list, "it is not what was written: its hash is another")),
        Err(error) => Err(Damage::of(list, error.to_string())),
    }
}

/// Which file of which table is not what its list says, after the engine could not open one of them. Looks
/// no longer than until `deadline`: a large store takes too long to be read for a message.
pub fn find_damaged_file(tables: &Path, deadline: Instant) -> Option<Damage> {
    let folders = std::fs::read_dir(tables).ok()?.flatten().map(|entry| entry.path());
    for folder in folders.filter(|path| has_list(path)) {
        let list = read_list(&folder).ok()?;
        for file in std::fs::read_dir(folder.join("tables")).into_iter().flatten().flatten() {
            if Instant::now() > deadline {
                return None;
            }
            let path = file.path();
            let id = path.file_name().and_then(|name| name.to_str()?.parse::<u64>().ok());
            let (Some(id), Ok(bytes)) = (id, std::fs::read(&path)) else { continue };
            // As it stands in the list: number, kind of hash, hash.
            let number = [id.to_le_bytes().as_slice(), &[0]].concat();
            let entry = [number.as_slice(), &xxh3_128(&bytes).to_le_bytes()].concat();
            let has = |part: &[u8]| list.windows(part.len()).any(|window| window == part);
            // A file that the list does not name at all is left over, and no harm.
            if has(&number) && !has(&entry) {
                return Some(Damage::of(path, "it is not what was written: its hash is another"));
            }
        }
    }
    None
}

/// Whether the table is one at all; one that was being made when the process ended is not.
pub fn has_list(table: &Path) -> bool {
    table.join(CURRENT).exists()
}
