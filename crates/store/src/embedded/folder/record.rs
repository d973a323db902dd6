//! The record of what is durable: one small file beside the engine's, by which the next start knows
//! whether the engine still has all that it once said to be on disk.
//!
//! Two slots of one page each are written in turn, after the engine's own write is on disk and without
//! waiting for the disk again. So after a power loss the record may be older than the store, and never
//! newer; a slot that was torn leaves the other.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

const FILE: &str = "durable";
const MAGIC: &[u8; 8] = b"hwdurbl1";
const SLOT_BYTES: usize = 4096;
const HASH_BYTES: usize = 8;
/// More chains than this are not named when something is missing; that it is missing is noticed all the
/// same.
const CHAINS_MAX: usize = 100;
const TABLES_MAX: usize = 128;

/// How far a chain was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainMark {
    pub chain: u64,
    /// Its newest journal entry.
    pub seq: u64,
    /// Its newest block; none where it has none.
    pub newest: Option<u64>,
}

/// What the store was known to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Which store this is; the store has it, too.
    pub identity: [u8; 16],
    /// Writes so far. Each carries its number, so none can be missing in between.
    pub writes: u64,
    pub chains: Vec<ChainMark>,
    /// The numbers by which the engine knows our tables.
    pub tables: Vec<u64>,
}

pub struct Record {
    file: File,
    path: PathBuf,
    /// Which of the slots is written next, and the number in front of it.
    saves: u64,
}

/// What was found of a record.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    /// There is none: the store is new, or of an older build.
    Nothing,
    /// There is a file, and nothing in it can be read.
    Damaged,
    Mark(Mark),
}

impl Record {
    pub fn path_in(folder: &Path) -> PathBuf {
        folder.join(FILE)
    }

    /// The newer of the slots that are whole.
    pub fn read(folder: &Path) -> std::io::Result<Found> {
        match std::fs::read(Self::path_in(folder)) {
            Ok(bytes) => Ok(newest(&bytes).map_or(Found::Damaged, |(_, mark)| Found::Mark(mark))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Found::Nothing),
            Err(error) => Err(error),
        }
    }

    /// Opens it for writing, makes it where there is none, and waits for the disk.
    pub fn open(folder: &Path, mark: &Mark) -> std::io::Result<Self> {
        let path = Self::path_in(folder);
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).read(true).write(true).mode(0o600);
        let file = options.open(&path)?;
        let mut bytes = vec![0; 2 * SLOT_BYTES];
        let known = file.read_at(&mut bytes, 0)?;
        let saves = newest(bytes.get(..known).unwrap_or_default()).map_or(0, |(saves, _)| saves);
        let mut record = Record { file, path, saves };
        record.save(mark)?;
        record.file.sync_all()?;
        File::open(folder)?.sync_all()?;
        Ok(record)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `mark` must be on disk already.
    pub fn save(&mut self, mark: &Mark) -> std::io::Result<()> {
        let saves = self.saves + 1;
        let slot = pack(saves, mark);
        self.file.write_all_at(&slot, (saves % 2) * SLOT_BYTES as u64)?;
        self.saves = saves;
        Ok(())
    }
}

fn newest(bytes: &[u8]) -> Option<(u64, Mark)> {
    bytes.chunks(SLOT_BYTES).filter_map(unpack).max_by_key(|(saves, _)| *saves)
}

fn pack(saves: u64, mark: &Mark) -> Vec<u8> {
    let mut out = Vec::with_capacity(SLOT_BYTES);
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&saves.to_be_bytes());
    out.extend_from_slice(&mark.identity);
    out.extend_from_slice(&mark.writes.to_be_bytes());
    let chains = mark.chains.get(..CHAINS_MAX).unwrap_or(&mark.chains);
    out.push(chains.len() as u8);
    for chain in chains {
        out.extend_from_slice(&chain.chain.to_be_bytes());
        out.extend_from_slice(&chain.seq.to_be_bytes());
        out.push(u8::from(chain.newest.is_some()));
        out.extend_from_slice(&chain.newest.unwrap_or(0).to_be_bytes());
    }
    let tables = mark.tables.get(..TABLES_MAX).unwrap_or(&mark.tables);
    out.push(tables.len() as u8);
    tables.iter().for_each(|id| out.extend_from_slice(&id.to_be_bytes()));
    out.resize(SLOT_BYTES - HASH_BYTES, 0);
    let hash = xxh3_64(&out);
    out.extend_from_slice(&hash.to_be_bytes());
    out
}

fn unpack(slot: &[u8]) -> Option<(u64, Mark)> {
    let (rest, hash) = slot.split_last_chunk::<HASH_BYTES>()?;
    if slot.len() != SLOT_BYTES || xxh3_64(rest) != u64::from_be_bytes(*hash) {
        return None;
    }
    let mut rest = rest.strip_prefix(MAGIC)?;
    let rest = &mut rest;
    let saves = number(rest)?;
    let identity = take(rest)?;
    let writes = number(rest)?;
    let [chains] = take::<1>(rest)?;
    let chains = (0..chains).map(|_| {
        let (chain, seq) = (number(rest)?, number(rest)?);
        let [has_blocks] = take::<1>(rest)?;
        let newest = Some(number(rest)?).filter(|_| has_blocks != 0);
        Some(ChainMark { chain, seq, newest })
    });
    let chains = chains.collect::<Option<Vec<_>>>()?;
    let [tables] = take::<1>(rest)?;
    let tables = (0..tables).map(|_| number(rest)).collect::<Option<Vec<_>>>()?;
    Some((saves, Mark { identity, writes, chains, tables }))
}

fn take<const N: usize>(input: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = input.split_first_chunk::<N>()?;
    *input = rest;
    Some(*taken)
}

fn number(input: &mut &[u8]) -> Option<u64> {
    take::<8>(input).map(u64::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(writes: u64) -> Mark {
        let chains = vec![
            ChainMark { chain: 1, seq: 7, newest: Some(u64::MAX) },
            ChainMark { chain: u64::MAX, seq: 0, newest: None },
        ];
        Mark { identity: [3; 16], writes, chains, tables: (1..30).collect() }
    }

    #[test]
    fn the_newer_slot_counts_and_a_torn_one_leaves_the_other() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Record::read(dir.path()).unwrap(), Found::Nothing);
        let mut record = Record::open(dir.path(), &mark(1)).unwrap();
        for writes in 2..=5 {
            record.save(&mark(writes)).unwrap();
            assert_eq!(Record::read(dir.path()).unwrap(), Found::Mark(mark(writes)));
        }
        drop(record);
        // Opening it again goes on with the other slot.
        let record = Record::open(dir.path(), &mark(6)).unwrap();
        let whole = std::fs::read(record.path()).unwrap();
        for torn in [0, SLOT_BYTES - 1, SLOT_BYTES, 2 * SLOT_BYTES - 1] {
            let mut bytes = whole.clone();
            bytes[torn] ^= 1;
            std::fs::write(record.path(), &bytes).unwrap();
            let newer_is_torn = torn < SLOT_BYTES;
            let expected = mark(if newer_is_torn { 5 } else { 6 });
            assert_eq!(Record::read(dir.path()).unwrap(), Found::Mark(expected), "{torn}");
        }
        std::fs::write(record.path(), b"").unwrap();
        assert_eq!(Record::read(dir.path()).unwrap(), Found::Damaged);
    }

    #[test]
    fn a_store_of_very_many_chains_still_fits() {
        let chains = (0..1000).map(|chain| ChainMark { chain, seq: 1, newest: None }).collect();
        let many = Mark { chains, tables: (0..1000).collect(), ..mark(9) };
        let slot = pack(1, &many);
        assert_eq!(slot.len(), SLOT_BYTES);
        let (_, found) = unpack(&slot).unwrap();
        assert_eq!((found.writes, found.chains.len(), found.tables.len()), (9, 100, 128));
    }
}
