//! An index file that is open for reading. It never changes; once nothing leads to it, it goes with its last reader.

use std::fs::File;
use std::io;
use std::ops::Bound;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::entries::{Entries, PartAt};
use super::file_row::{FileShape, TableShape};
use super::rows_block::RowsReader;
use super::rows_part::RowsPart;
use super::rows_walk::KeyBounds;
use super::writer::{CHECKSUM_BYTES, LISTED, checksum};
use crate::Error;
use crate::embedded::engine;
use crate::embedded::page_cache::will_need;
use crate::embedded::runs::RunTable;

/// What is read at once is bounded, whatever a damaged row says.
const PART_BYTES_MAX: u64 = 1 << 28;
/// A part is about so large.
const PART_BYTES_GUESS: u64 = 4 << 10;

pub struct IndexFile {
    pub id: u64,
    path: PathBuf,
    file: File,
    shape: FileShape,
    /// As in `RunTable::ALL`.
    roots: [Entries; 4],
    cache: Arc<PartCache>,
    is_doomed: AtomicBool,
}

/// Parts of files that were read lately, by file and offset.
pub type PartCache = Cache<(u64, u64), Part, PartWeight>;

#[derive(Clone)]
pub enum Part {
    Rows(Arc<RowsPart>),
    List(Arc<Entries>),
}

#[derive(Clone)]
pub struct PartWeight;

impl Weighter<(u64, u64), Part> for PartWeight {
    fn weight(&self, _: &(u64, u64), part: &Part) -> u64 {
        64 + match part {
            Part::Rows(rows) => rows.memory_bytes(),
            Part::List(list) => list.memory_bytes(),
        }
    }
}

pub fn part_cache(bytes: u64) -> Arc<PartCache> {
    let items = usize::try_from(bytes / PART_BYTES_GUESS).unwrap_or(1).max(16);
    Arc::new(Cache::with_weighter(items, bytes, PartWeight))
}

impl IndexFile {
    /// It must be as long as it was written; what is read of it is looked at then.
    pub fn open(
        (id, path): (u64, PathBuf),
        shape: &FileShape,
        cache: &Arc<PartCache>,
    ) -> Result<Self, Error> {
        let damaged = |what: String| Error::Damaged { file: path.clone(), what };
        let file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(damaged("it is missing".to_owned()));
            }
            other => other.map_err(|source| Error::Folder { path: path.clone(), source })?,
        };
        let length = file.metadata().map_err(|source| Error::Folder { path: path.clone(), source });
        let length = length?.len();
        if length != shape.bytes {
            return Err(damaged(format!(
                "it has {length} bytes, and {} were written",
                shape.bytes
            )));
        }
        let mut file = IndexFile {
            id,
            path,
            file,
            shape: *shape,
            roots: Default::default(),
            cache: cache.clone(),
            is_doomed: AtomicBool::new(false),
        };
        for table in RunTable::ALL {
            if file.table(table).rows > 0 {
                let root = file.table(table).root;
                let entries = Entries::unpack(&file.read_part(root)?);
                *table.of_mut(&mut file.roots) = entries.ok_or_else(|| file.damaged_at(root))?;
            }
        }
        Ok(file)
    }

    pub fn path(&self) -> &std::path::Path {
        &self.path
    }

    pub fn table(&self, table: RunTable) -> &TableShape {
        table.of(&self.shape.tables)
    }

    /// It is removed when nobody reads it any more.
    pub fn doom(&self) {
        self.is_doomed.store(true, Ordering::Relaxed);
    }

    /// The part in which the key is, if it is there at all.
    pub fn part_of(&self, table: RunTable, key: &[u8]) -> Result<u64, Error> {
        let list = table.of(&self.roots).find(key);
        let place = self.list(table, list)?.find(key);
        Ok((list * LISTED + place) as u64)
    }

    /// How many rows lie between two keys, these included, whether they count or not.
    pub fn count(&self, table: RunTable, low: &[u8], high: &[u8]) -> Result<u64, Error> {
        if self.table(table).rows == 0 {
            return Ok(0);
        }
        let (first, last) = (self.part_of(table, low)?, self.part_of(table, high)?);
        let (low, high) = (Bound::Included(low), Bound::Included(high));
        if first == last {
            return self.count_in_part(table, first, (low, high));
        }
        let after_first =
            self.rows_before(table, last)?.checked_sub(self.rows_before(table, first + 1)?);
        let between = after_first.ok_or_else(|| self.damaged())?;
        let in_first = self.count_in_part(table, first, (low, Bound::Unbounded))?;
        Ok(in_first + between + self.count_in_part(table, last, (Bound::Unbounded, high))?)
    }

    /// Those in all parts before it.
    fn rows_before(&self, table: RunTable, part: u64) -> Result<u64, Error> {
        let list = self.list(table, part as usize / LISTED)?;
        list.rows_before(part as usize % LISTED).ok_or_else(|| self.damaged())
    }

    fn count_in_part(
        &self,
        table: RunTable,
        part: u64,
        bounds: KeyBounds<'_>,
    ) -> Result<u64, Error> {
        self.rows(table, part)?.count(bounds).ok_or_else(|| self.damaged())
    }

    /// Rows of a part, by its number.
    pub fn rows(&self, table: RunTable, part: u64) -> Result<Arc<RowsPart>, Error> {
        let at = self.part_at(table, part)?;
        let key = (self.id, at.offset);
        if let Some(Part::Rows(rows)) = self.cache.get(&key) {
            return Ok(rows);
        }
        let rows = Arc::new(RowsPart::new(table, self.shape.lowest, self.read_part(at)?));
        self.cache.insert(key, Part::Rows(rows.clone()));
        Ok(rows)
    }

    /// They will be read soon.
    pub fn will_need(&self, table: RunTable, part: u64) -> Result<(), Error> {
        let at = self.part_at(table, part)?;
        if !self.cache.contains_key(&(self.id, at.offset)) {
            will_need(&self.file, at.offset, at.bytes);
        }
        Ok(())
    }

    /// The same, one after the other, for whoever reads all of it once.
    pub fn read_rows(&self, table: RunTable, part: u64) -> Result<RowsReader<Vec<u8>>, Error> {
        let bytes = self.read_part(self.part_at(table, part)?)?;
        Ok(RowsReader::new(table, self.shape.lowest, bytes))
    }

    pub fn damaged(&self) -> Error {
        Error::Damaged {
            file: self.path.clone(),
            what: "its rows are not what was written".to_owned(),
        }
    }

    fn part_at(&self, table: RunTable, part: u64) -> Result<PartAt, Error> {
        let part = part as usize;
        let at = self.list(table, part / LISTED)?.get(part % LISTED);
        at.ok_or_else(|| self.damaged())
    }

    fn list(&self, table: RunTable, index: usize) -> Result<Arc<Entries>, Error> {
        let at = table.of(&self.roots).get(index).ok_or_else(|| self.damaged())?;
        let key = (self.id, at.offset);
        if let Some(Part::List(list)) = self.cache.get(&key) {
            return Ok(list);
        }
        let list = Entries::unpack(&self.read_part(at)?);
        let list = Arc::new(list.ok_or_else(|| self.damaged_at(at))?);
        self.cache.insert(key, Part::List(list.clone()));
        Ok(list)
    }

    /// Without its checksum, which it has.
    fn read_part(&self, at: PartAt) -> Result<Vec<u8>, Error> {
        if at.bytes > PART_BYTES_MAX || at.offset.saturating_add(at.bytes) > self.shape.bytes {
            return Err(self.damaged_at(at));
        }
        let mut part = vec![0; at.bytes as usize];
        let read = self.file.read_exact_at(&mut part, at.offset);
        read.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => self.damaged_at(at),
            _ => engine::failed("read", &self.path, fjall::Error::Io(error)),
        })?;
        let noted = part.first_chunk::<CHECKSUM_BYTES>().copied();
        part.drain(..CHECKSUM_BYTES.min(part.len()));
        if noted != Some(checksum(&part, at.offset)) {
            return Err(self.damaged_at(at));
        }
        Ok(part)
    }

    fn damaged_at(&self, at: PartAt) -> Error {
        let what = format!("index rows at byte {} are not what was written", at.offset);
        Error::Damaged { file: self.path.clone(), what }
    }
}

impl Drop for IndexFile {
    fn drop(&mut self) {
        if *self.is_doomed.get_mut()
            && let Err(error) = std::fs::remove_file(&self.path)
        {
            let path = self.path.display();
            tracing::warn!(file = %path, %error, "a merged index file stays until the next start");
        }
    }
}
