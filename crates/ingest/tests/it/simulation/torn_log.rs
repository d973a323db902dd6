//! The engine's log as a power loss leaves it: of what was written since the store was opened, the end, or a
//! page in the middle, never came to the disk.
//!
//! The store of the simulation waits for the disk only where it must: when it opens, and before it removes a file that
//! something on disk may still lead to. It notes each time how far that was.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rand::Rng;
use rand::rngs::StdRng;

const CHUNK: usize = 64 << 10;
const PAGE: u64 = 4096;

/// What of a log is known to be on disk.
pub struct DurableLog {
    log: PathBuf,
    bytes: u64,
    /// The store's own note of it.
    noted: Vec<u8>,
}

impl DurableLog {
    /// All that is written by now.
    pub fn of(store: &Path) -> Self {
        let log = newest_log(store);
        DurableLog { bytes: written(&log), log, noted: noted(store) }
    }

    /// False where nothing was written since, and where more became durable: how much of the log cannot be told from
    /// outside, and no power loss takes that.
    pub fn tear(&self, store: &Path, random: &mut StdRng) -> bool {
        if noted(store) != self.noted {
            return false;
        }
        let log = newest_log(store);
        let from = if log == self.log { self.bytes } else { 0 };
        let end = written(&log);
        if end <= from {
            return false;
        }
        let at = random.random_range(from..end);
        let file = OpenOptions::new().write(true).open(&log).unwrap();
        if random.random() {
            file.set_len(at).unwrap();
        } else {
            let page = vec![0; usize::try_from(PAGE.min(end - at)).unwrap()];
            file.write_all_at(&page, at).unwrap();
        }
        true
    }
}

fn noted(store: &Path) -> Vec<u8> {
    std::fs::read(store.join("durable")).unwrap()
}

fn newest_log(store: &Path) -> PathBuf {
    let files = std::fs::read_dir(store).unwrap().map(|entry| entry.unwrap().path());
    let number = |path: &PathBuf| {
        let name = path.file_name()?.to_str()?;
        name.strip_suffix(".jnl")?.parse::<u64>().ok()
    };
    files.filter(|path| number(path).is_some()).max_by_key(number).unwrap()
}

/// Bytes up to the last that is not zero: the file is made long and filled from the start.
fn written(log: &Path) -> u64 {
    let file = File::open(log).unwrap();
    let zeros = vec![0; CHUNK];
    let mut end = file.metadata().unwrap().len();
    while end > 0 {
        let from = end.saturating_sub(CHUNK as u64);
        let mut chunk = vec![0; usize::try_from(end - from).unwrap()];
        file.read_exact_at(&mut chunk, from).unwrap();
        if chunk != zeros[..chunk.len()] {
            let last = chunk.iter().rposition(|byte| *byte != 0).unwrap();
            return from + last as u64 + 1;
        }
        end = from;
    }
    0
}
