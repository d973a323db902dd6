//! The engine's list of files of each table. It notes a hash of the list and does not look at it again;
//! a list that lost a bit may lose a table's files for good, so it is looked at here.

use std::path::Path;

use xxhash_rust::xxh3::xxh3_128;

use super::damage::Damage;

/// The file that names the list in use: its number, its hash, the kind of hash.
const CURRENT: &str = "current";

pub fn check(table: &Path) -> Result<(), Damage> {
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
        Ok(bytes) if xxh3_128(&bytes) == hash => Ok(()),
        Ok(_) => Err(Damage::of(list, "it is not what was written: its hash is another")),
        Err(error) => Err(Damage::of(list, error.to_string())),
    }
}

/// Whether the table is one at all; one that was being made when the process ended is not.
pub fn has_list(table: &Path) -> bool {
    table.join(CURRENT).exists()
}
