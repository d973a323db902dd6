//! Makes one index file of several. A file is merged with others of its size, so a row is written again only as often as
//! the index has become four times as large.

use std::cmp::Ordering;
use std::sync::Arc;

use super::file_row::FileShape;
use super::file_set::{FileEntry, FileSet};
use super::key_form::compare;
use super::rows_block::RowsReader;
use super::writer::IndexFileWriter;
use crate::Error;
use crate::coverage::Coverage;
use crate::embedded::runs::{RunTable, start_of_key};

/// So many of one level make one of the next.
const MERGED_AT_ONCE: usize = 4;
/// Larger ones are left: merging them would take hours, and need as much room again.
const LEVEL_MAX: u8 = 8;

/// Files that are to be merged into one, smaller ones first. Those of `level` and above are left.
pub fn due(set: &FileSet, level: u8) -> Option<Vec<Arc<FileEntry>>> {
    (0..level.min(LEVEL_MAX)).find_map(|level| {
        let of_level = || set.all().iter().filter(|entry| entry.row.level == level);
        let of_chain = |first: &Arc<FileEntry>| {
            let same = of_level().filter(|entry| entry.row.chain == first.row.chain);
            let some: Vec<_> = same.take(MERGED_AT_ONCE).cloned().collect();
            (some.len() == MERGED_AT_ONCE).then_some(some)
        };
        let dead = || of_level().find(|entry| entry.row.is_mostly_dead());
        of_level().find_map(of_chain).or_else(|| dead().map(|entry| vec![entry.clone()]))
    })
}

/// The level of what is made of these.
pub fn level_of(entries: &[Arc<FileEntry>]) -> u8 {
    let highest = entries.iter().map(|entry| entry.row.level).max().unwrap_or(0);
    if entries.len() > 1 { highest.saturating_add(1).min(LEVEL_MAX) } else { highest }
}

/// All rows that count. `between` is called now and then, and says whether to go on.
pub fn merge(
    entries: &[Arc<FileEntry>],
    mut writer: IndexFileWriter,
    between: &mut dyn FnMut() -> Result<bool, Error>,
) -> Result<Option<FileShape>, Error> {
    for table in RunTable::ALL {
        writer.begin(table)?;
        let mut scans = Vec::with_capacity(entries.len());
        for entry in entries {
            scans.extend(Scan::open(entry, table)?);
        }
        while let Some((at, scan)) = least(&mut scans) {
            if scan.is_alive() {
                writer.put_parts(scan.rows.key(), scan.rows.value())?;
            }
            match scan.step()? {
                Step::Row => {}
                Step::Part if between()? => {}
                Step::Part => return Ok(None),
                Step::End => drop(scans.swap_remove(at)),
            }
        }
    }
    writer.finish().map(Some)
}

/// The one with the least key.
fn least(scans: &mut [Scan]) -> Option<(usize, &mut Scan)> {
    scans.iter_mut().enumerate().min_by(|(_, a), (_, b)| a.compare(b))
}

/// All blocks of files.
pub fn blocks_of<'a>(entries: impl Iterator<Item = &'a Arc<FileEntry>>) -> Coverage {
    Coverage::union(entries.map(|entry| &entry.row.blocks))
}

/// The rows of a file, once, past the cache.
struct Scan {
    entry: Arc<FileEntry>,
    table: RunTable,
    part: u64,
    /// At a row.
    rows: RowsReader<Vec<u8>>,
    /// The beginning of its key: most are told apart by it.
    start: u64,
}

enum Step {
    Row,
    /// A row of another part.
    Part,
    End,
}

impl Scan {
    fn open(entry: &Arc<FileEntry>, table: RunTable) -> Result<Option<Self>, Error> {
        if entry.file.table(table).parts == 0 {
            return Ok(None);
        }
        let rows = entry.file.read_rows(table, 0)?;
        let mut scan = Scan { entry: entry.clone(), table, part: 0, rows, start: 0 };
        scan.read()?;
        Ok(Some(scan))
    }

    fn read(&mut self) -> Result<(), Error> {
        self.rows.read().ok_or_else(|| self.entry.file.damaged())?;
        self.start = start_of_key(self.rows.key().head);
        Ok(())
    }

    fn compare(&self, other: &Scan) -> Ordering {
        let same_start = || compare(self.table, &self.rows.key(), &other.rows.key());
        self.start.cmp(&other.start).then_with(same_start)
    }

    fn is_alive(&self) -> bool {
        self.entry.is_all_alive || self.entry.row.blocks.contains(self.rows.key().number)
    }

    fn step(&mut self) -> Result<Step, Error> {
        let is_new = self.rows.is_done();
        if is_new {
            self.part += 1;
            if self.part >= self.entry.file.table(self.table).parts {
                return Ok(Step::End);
            }
            self.rows = self.entry.file.read_rows(self.table, self.part)?;
        }
        self.read()?;
        Ok(if is_new { Step::Part } else { Step::Row })
    }
}
