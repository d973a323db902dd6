//! Writes an index file, once, from its beginning to its end.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::{Xxh3, xxh3_64_with_seed};

use super::entries::{Entries, PartAt};
use super::file_row::{FileShape, TableShape};
use super::key_form::{KeyParts, put_together, take_apart};
use super::rows_block::RowsBlock;
use crate::Error;
use crate::embedded::engine;
use crate::embedded::runs::RunTable;

/// Rows of one part, packed: what is read to find one of them.
const PART_BYTES: usize = 4 << 10;
/// Parts in one list of parts.
pub const LISTED: usize = 256;
/// In front of every part.
pub const CHECKSUM_BYTES: usize = 8;
const BROKEN: Error = Error::Broken { what: "index row" };

pub struct IndexFileWriter {
    path: PathBuf,
    file: BufWriter<File>,
    hasher: Xxh3,
    at: u64,
    lowest: u64,
    tables: [TableShape; 4],
    table: Option<TableWriter>,
}

/// The table that is being written.
struct TableWriter {
    table: RunTable,
    block: RowsBlock,
    /// What the part is found by: after the last key before it, and as short as that lets it be.
    begins: Vec<u8>,
    last_key: Vec<u8>,
    /// In parts that are written.
    rows_before: u64,
    shape: TableShape,
    lists: Entries,
    list: Entries,
}

/// Begins with it, so that the same bytes in another place are not taken for it.
pub fn checksum(part: &[u8], offset: u64) -> [u8; CHECKSUM_BYTES] {
    xxh3_64_with_seed(part, offset).to_be_bytes()
}

impl IndexFileWriter {
    /// No row is of a block below `lowest`.
    pub fn create(path: &Path, lowest: u64) -> Result<Self, Error> {
        let file = File::create(path).map_err(failed_to_write(path))?;
        Ok(IndexFileWriter {
            path: path.to_owned(),
            file: BufWriter::with_capacity(1 << 20, file),
            hasher: Xxh3::new(),
            at: 0,
            lowest,
            tables: Default::default(),
            table: None,
        })
    }

    /// Rows of this table follow.
    pub fn begin(&mut self, table: RunTable) -> Result<(), Error> {
        self.end()?;
        self.table = Some(TableWriter {
            table,
            block: RowsBlock::new(table, self.lowest),
            begins: Vec::new(),
            last_key: Vec::new(),
            rows_before: 0,
            shape: TableShape::default(),
            lists: Entries::default(),
            list: Entries::default(),
        });
        Ok(())
    }

    /// `key` is without its chain.
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        let table = self.table.as_ref().ok_or(BROKEN)?.table;
        self.put_parts(take_apart(table, key).ok_or(BROKEN)?, value)
    }

    /// In the order of keys.
    pub fn put_parts(&mut self, key: KeyParts<'_>, value: &[u8]) -> Result<(), Error> {
        let writer = self.table.as_mut().ok_or(BROKEN)?;
        if writer.block.is_empty() {
            writer.begins.clear();
            put_together(writer.table, key, &mut writer.begins);
            let pairs = writer.begins.iter().zip(&writer.last_key);
            let shared = pairs.take_while(|(a, b)| a == b).count();
            writer.begins.truncate(shared + 1);
        }
        writer.block.push(key, value).ok_or(BROKEN)?;
        writer.shape.rows += 1;
        if writer.block.len() < PART_BYTES {
            return Ok(());
        }
        writer.last_key.clear();
        put_together(writer.table, key, &mut writer.last_key);
        self.end_block()
    }

    fn end_block(&mut self) -> Result<(), Error> {
        let Some(mut writer) = self.table.take() else { return Ok(()) };
        if !writer.block.is_empty() {
            let part = self.write_part(&writer.block.take())?;
            writer.list.push(&writer.begins, part, writer.rows_before);
            writer.rows_before = writer.shape.rows;
            writer.shape.parts += 1;
        }
        if writer.list.len() >= LISTED {
            self.end_list(&mut writer)?;
        }
        self.table = Some(writer);
        Ok(())
    }

    fn end_list(&mut self, writer: &mut TableWriter) -> Result<(), Error> {
        let list = std::mem::take(&mut writer.list);
        if let Some((begins, rows_before)) = list.first() {
            let part = self.write_part(&list.pack())?;
            writer.lists.push(begins, part, rows_before);
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Error> {
        self.end_block()?;
        let Some(mut writer) = self.table.take() else { return Ok(()) };
        self.end_list(&mut writer)?;
        writer.shape.root = self.write_part(&writer.lists.pack())?;
        *writer.table.of_mut(&mut self.tables) = writer.shape;
        Ok(())
    }

    fn write_part(&mut self, part: &[u8]) -> Result<PartAt, Error> {
        let offset = self.at;
        for bytes in [checksum(part, offset).as_slice(), part] {
            self.hasher.update(bytes);
            self.file.write_all(bytes).map_err(failed_to_write(&self.path))?;
            self.at += bytes.len() as u64;
        }
        Ok(PartAt { offset, bytes: self.at - offset })
    }

    /// It is on disk, by its name, when this returns.
    pub fn finish(mut self) -> Result<FileShape, Error> {
        self.end()?;
        let failed = failed_to_write(&self.path);
        let file = self.file.into_inner().map_err(|error| failed(error.into_error()))?;
        file.sync_all().map_err(failed)?;
        if let Some(folder) = self.path.parent() {
            File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
        }
        let (bytes, hash) = (self.at, self.hasher.digest128());
        Ok(FileShape { bytes, hash, lowest: self.lowest, tables: self.tables })
    }
}

fn failed_to_write(path: &Path) -> impl Fn(io::Error) -> Error + Copy + use<'_> {
    move |error| engine::failed("write", path, fjall::Error::Io(error))
}
