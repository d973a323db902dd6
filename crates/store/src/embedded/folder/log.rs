//! Reads the engine's write-ahead log without changing it: which batches are whole, and what comes after
//! the last of them.
//!
//! A batch is a start (how many items, its number), items, and an end with a hash of the items. The
//! engine takes whatever it cannot read for the end of the log and cuts it off there; one flipped bit
//! may so cost every batch behind it. Here the same bytes are read first, and more strictly.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use rustix::fs::SeekFrom;
use xxhash_rust::xxh3::xxh3_64;

use super::damage::Damage;

/// The key under which every batch notes its number among all writes.
pub const WRITES_KEY: &[u8] = b"writes";
const END_MAGIC: &[u8; 4] = b"FJL\x03";

/// What was found in one file of the log.
#[derive(Debug)]
pub struct LogFile {
    pub id: u64,
    pub path: PathBuf,
    /// Up to here all batches are whole.
    pub whole_bytes: u64,
    pub tail: Tail,
    /// The engine's numbers of the first and the last whole batch.
    pub batches: Option<(u64, u64)>,
    /// Our own numbers of the first and the last whole batch that has one.
    pub writes: Option<(u64, u64)>,
}

/// What comes after the last whole batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// Nothing but room.
    Clean,
    /// A batch that breaks off, as a process leaves it that was killed while it wrote.
    CutOff,
    /// Anything else: bytes that no write and no kill leaves behind.
    Damaged,
}

/// All files of the log, oldest first, each by itself.
pub fn read_all(folder: &Path) -> std::io::Result<Vec<LogFile>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if let Some(id) = name.strip_suffix(".jnl").and_then(|id| id.parse::<u64>().ok()) {
            paths.push((id, path));
        }
    }
    paths.sort();
    paths.into_iter().map(|(id, path)| read_one(id, path)).collect()
}

/// The first place where the files do not go on from one to the next: which file, and what about it.
/// All from this one on are of no use without what is missing.
pub fn first_gap(files: &[LogFile]) -> Option<(usize, Damage)> {
    let mut last = (None, None);
    for (place, file) in files.iter().enumerate() {
        let before = place.checked_sub(1).and_then(|place| files.get(place));
        if let Some(before) = before.filter(|before| before.id + 1 != file.id) {
            let missing = file.path.with_file_name(format!("{}.jnl", before.id + 1));
            return Some((place, Damage::of(missing, "a file of the log is missing")));
        }
        let batches_rise = !matches!((last.0, file.batches), (Some(a), Some((b, _))) if b <= a);
        let none_is_lost = !matches!((last.1, file.writes), (Some(a), Some((b, _))) if b != a + 1);
        if !batches_rise || !none_is_lost {
            let what = "it does not go on where the file before it ends";
            return Some((place, Damage::of(&file.path, what)));
        }
        last.0 = file.batches.map_or(last.0, |(_, newest)| Some(newest));
        last.1 = file.writes.map_or(last.1, |(_, newest)| Some(newest));
    }
    None
}

fn read_one(id: u64, path: PathBuf) -> std::io::Result<LogFile> {
    let bytes = read_data(&path)?;
    // A batch ends in a byte that is not zero, so room behind it is no part of one.
    let written = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let mut file =
        LogFile { id, path, whole_bytes: 0, tail: Tail::Clean, batches: None, writes: None };
    let mut rest = bytes.get(..written).unwrap_or_default();
    loop {
        if rest.is_empty() {
            return Ok(file);
        }
        let batch = match LoggedBatch::read(rest) {
            Ok(batch) => batch,
            Err(broken) => {
                let cut_off = broken == Broken::CutOff && !has_whole_batch(rest);
                file.tail = if cut_off { Tail::CutOff } else { Tail::Damaged };
                return Ok(file);
            }
        };
        if !file.take(&batch) {
            file.tail = Tail::Damaged;
            return Ok(file);
        }
        file.whole_bytes += batch.bytes as u64;
        rest = rest.get(batch.bytes..).unwrap_or_default();
    }
}

impl LogFile {
    /// False where the batch is not the next one.
    fn take(&mut self, batch: &LoggedBatch) -> bool {
        let is_next =
            self.batches.zip(batch.number).is_none_or(|((_, last), number)| number > last);
        let none_is_lost =
            self.writes.zip(batch.write).is_none_or(|((_, last), it)| it == last + 1);
        if is_next && none_is_lost {
            if let Some(number) = batch.number {
                self.batches = Some((self.batches.map_or(number, |it| it.0), number));
            }
            if let Some(number) = batch.write {
                self.writes = Some((self.writes.map_or(number, |it| it.0), number));
            }
        }
        is_next && none_is_lost
    }
}

/// Files are made long and filled from the start; what was never written is not read.
fn read_data(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let (mut end, mut at) = (0, 0);
    while at < length {
        let Ok(data) = rustix::fs::seek(&file, SeekFrom::Data(at)) else { break };
        end = rustix::fs::seek(&file, SeekFrom::Hole(data))?;
        at = end;
    }
    rustix::fs::seek(&file, SeekFrom::Start(0))?;
    let mut bytes = Vec::with_capacity(usize::try_from(end).unwrap_or(0));
    Read::take(&mut file, end).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether a whole batch follows somewhere: then it is not the end of the log that is broken. One begins
/// right behind the end of another.
fn has_whole_batch(bytes: &[u8]) -> bool {
    let behind = |(at, _): (usize, &[u8])| at + END_MAGIC.len();
    let ends = bytes.windows(END_MAGIC.len()).enumerate().filter(|(_, four)| four == END_MAGIC);
    let mut starts = ends.map(behind);
    starts.any(|at| bytes.get(at..).is_some_and(|rest| LoggedBatch::read(rest).is_ok()))
}

#[derive(Debug, PartialEq, Eq)]
enum Broken {
    /// The bytes end in the middle of it.
    CutOff,
    Wrong,
}

struct LoggedBatch {
    bytes: usize,
    /// None where all it does is to clear tables: the engine counts on from the newest row that it finds, so the next
    /// process may use its number again.
    number: Option<u64>,
    write: Option<u64>,
}

const START: u8 = 1;
const ITEM: u8 = 2;
const END: u8 = 3;
const CLEAR: u8 = 4;

impl LoggedBatch {
    fn read(bytes: &[u8]) -> Result<Self, Broken> {
        let mut rest = bytes;
        let input = &mut rest;
        if take::<1>(input)? != [START] {
            return Err(Broken::Wrong);
        }
        let items = u32::from_le_bytes(take(input)?);
        let number = u64::from_le_bytes(take(input)?);
        let from = bytes.len() - input.len();
        let (mut write, mut has_rows) = (None, false);
        for _ in 0..items {
            match take::<1>(input)? {
                [ITEM] => {
                    write = item(input)?.or(write);
                    has_rows = true;
                }
                [CLEAR] => drop(take::<8>(input)?),
                _ => return Err(Broken::Wrong),
            }
        }
        let to = bytes.len() - input.len();
        let [end] = take(input)?;
        let hash = u64::from_le_bytes(take(input)?);
        let magic: [u8; 4] = take(input)?;
        let items = bytes.get(from..to).unwrap_or_default();
        if end != END || magic != *END_MAGIC || xxh3_64(items) != hash {
            return Err(Broken::Wrong);
        }
        let number = has_rows.then_some(number);
        Ok(LoggedBatch { bytes: bytes.len() - input.len(), number, write })
    }
}

/// Our own number of the write, where this is the item that has it.
fn item(input: &mut &[u8]) -> Result<Option<u64>, Broken> {
    let [kind, packing] = take(input)?;
    if !matches!(kind, 0..=2 | 4) || packing > 1 {
        return Err(Broken::Wrong);
    }
    let _table: [u8; 8] = take(input)?;
    let key_bytes = u16::from_le_bytes(take(input)?);
    let value_bytes = u32::from_le_bytes(take(input)?);
    let packed_bytes = u32::from_le_bytes(take(input)?);
    if packing == 0 && value_bytes != packed_bytes {
        return Err(Broken::Wrong);
    }
    let key = take_slice(input, usize::from(key_bytes))?;
    let value = take_slice(input, packed_bytes as usize)?;
    let write = (key == WRITES_KEY).then(|| value.try_into().ok().map(u64::from_be_bytes));
    Ok(write.flatten())
}

fn take<const N: usize>(input: &mut &[u8]) -> Result<[u8; N], Broken> {
    let (taken, rest) = input.split_first_chunk::<N>().ok_or(Broken::CutOff)?;
    *input = rest;
    Ok(*taken)
}

fn take_slice<'a>(input: &mut &'a [u8], length: usize) -> Result<&'a [u8], Broken> {
    let (taken, rest) = input.split_at_checked(length).ok_or(Broken::CutOff)?;
    *input = rest;
    Ok(taken)
}
