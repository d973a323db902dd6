//! The engine's list of files of each table. It notes a hash of the list and does not look at it again;
//! a list that lost a bit may lose a table's files for good, so it is looked at here.

use std::path::{Path, PathBuf};
use std::time::Instant;

use xxhash_rust::xxh3::xxh3_128;

use super::damage::Damage;
use crate::embedded::file_hash::hash_file;

/// The file that names the list in use: its number, its hash, the kind of hash.
const CURRENT: &str = "current";
/// Magic, version, kind of hash, hash of the table of contents, where that is and how long.
const TRAILER_BYTES: usize = 4 + 1 + 1 + 16 + 8 + 8;

/// Two hashes that differ in no more bits are no accident: half of 128 would.
const NEARLY_THE_SAME_BITS: u32 = 16;

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
    let damage = match std::fs::read(&list) {
        Ok(bytes) => {
            let found = xxh3_128(&bytes);
            if found == hash {
                return Ok(bytes);
            }
            // Another list has quite another hash; one that is nearly the same was noted so, and lost some bits.
            if (found ^ hash).count_ones() <= NEARLY_THE_SAME_BITS {
                return Err(Damage::of(current, "the hash in it is not the one of its list"));
            }
            Damage::of(&list, "it is not what was written: its hash is another")
        }
        Err(error) => Damage::of(&list, error.to_string()),
    };
    // Which list was meant is told by its hash.
    match list_with(table, hash) {
        Some(meant) => {
            let meant = meant.display();
            Err(Damage::of(current, format!("it names v{number}, and means {meant}")))
        }
        None => Err(damage),
    }
}

fn list_with(table: &Path, hash: u128) -> Option<PathBuf> {
    let files = std::fs::read_dir(table).ok()?.flatten().map(|file| file.path());
    let mut lists = files.filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.strip_prefix('v').is_some_and(|number| number.parse::<u64>().is_ok())
    });
    let found = lists.find(|path| std::fs::read(path).is_ok_and(|bytes| xxh3_128(&bytes) == hash));
    found.and_then(|path| path.file_name().map(PathBuf::from))
}

/// Which file of which table is missing or not what its list says, after the engine could not open one of
/// them. Looks no longer than until `deadline`: a large store takes too long to be read for a message.
pub fn find_damaged_file(tables: &Path, deadline: Instant) -> Option<Damage> {
    let folders = std::fs::read_dir(tables).ok()?.flatten().map(|entry| entry.path());
    for folder in folders.filter(|path| has_list(path)) {
        let list = match read_list(&folder) {
            Ok(list) => list,
            Err(damage) => return Some(damage),
        };
        for (id, noted) in files_in(&list).unwrap_or_default() {
            if Instant::now() > deadline {
                return None;
            }
            let path = folder.join("tables").join(id.to_string());
            match hash_file(&path) {
                Ok(hash) if hash == noted => {}
                Ok(_) => {
                    let what = "it is not what was written: its hash is another";
                    return Some(Damage::of(path, what));
                }
                Err(error) => return Some(Damage::of(path, error.to_string())),
            }
        }
    }
    None
}

/// The number and the hash of every file in a list, which has them level by level and run by run.
fn files_in(list: &[u8]) -> Option<Vec<(u64, u128)>> {
    let mut part = part_of(list, b"tables")?;
    let part = &mut part;
    let mut files = Vec::new();
    let [levels] = take(part)?;
    for _ in 0..levels {
        let [runs] = take(part)?;
        for _ in 0..runs {
            for _ in 0..u32::from_le_bytes(take(part)?) {
                let id = u64::from_le_bytes(take(part)?);
                let [_kind] = take(part)?;
                files.push((id, u128::from_le_bytes(take(part)?)));
                let _seqno: [u8; 8] = take(part)?;
            }
        }
    }
    Some(files)
}

/// A list is an archive: its end tells where its table of contents is, and that where each part is.
fn part_of<'a>(list: &'a [u8], wanted: &[u8]) -> Option<&'a [u8]> {
    let (_, trailer) = list.split_last_chunk::<TRAILER_BYTES>()?;
    let mut at = trailer.strip_prefix(b"SFA!")?.get(1 + 1 + 16..)?;
    let mut contents = list.get(place(&mut at)?..)?.strip_prefix(b"TOC!")?;
    let contents = &mut contents;
    for _ in 0..u32::from_le_bytes(take(contents)?) {
        let (from, length) = (place(contents)?, place(contents)?);
        let name_bytes = usize::from(u16::from_le_bytes(take(contents)?));
        let (name, rest) = contents.split_at_checked(name_bytes)?;
        *contents = rest;
        if name == wanted {
            return list.get(from..from.checked_add(length)?);
        }
    }
    None
}

fn place(input: &mut &[u8]) -> Option<usize> {
    usize::try_from(u64::from_le_bytes(take(input)?)).ok()
}

fn take<const N: usize>(input: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = input.split_first_chunk::<N>()?;
    *input = rest;
    Some(*taken)
}

/// Whether the table is one at all; one that was being made when the process ended is not.
pub fn has_list(table: &Path) -> bool {
    table.join(CURRENT).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whichever_of_the_two_files_lost_a_bit_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let (current, list) = (dir.path().join(CURRENT), dir.path().join("v7"));
        let text = b"a list of files".to_vec();
        let hash = xxh3_128(&text).to_le_bytes();
        let note = [7u64.to_le_bytes().as_slice(), &hash, &[0]].concat();
        let put = |path: &Path, bytes: &[u8]| std::fs::write(path, bytes).unwrap();
        put(&current, &note);
        put(&list, &text);
        check(dir.path()).unwrap();
        for (path, whole) in [(&current, &note), (&list, &text)] {
            for bit in 0..whole.len() * 8 {
                let mut bytes = whole.clone();
                bytes[bit / 8] ^= 1 << (bit % 8);
                put(path, &bytes);
                let damage = check(dir.path()).unwrap_err();
                assert_eq!(damage.file, *path, "bit {bit}: {damage:?}");
            }
            put(path, whole);
        }
        std::fs::remove_file(&list).unwrap();
        assert_eq!(check(dir.path()).unwrap_err().file, list, "it is not there");
    }
}
