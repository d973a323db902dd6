//! Rows of one table in a file: sorted by key, in chunks that each carry a checksum, so that no more than
//! a chunk is in memory and damage is found before it is believed.
//!
//! A file is the magic, then chunks: length, checksum of the rows, checksum of these two, rows. A chunk
//! of length 0 is the last. A row is the length of its key, the key, the length of its value, the value.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::folder::create_file;
use super::manifest::TableFile;
use super::{refuse, refused};
use crate::Error;

const MAGIC: &[u8] = b"headwater rows 1\n";
/// A chunk is written when it is at least this long.
const CHUNK_BYTES: usize = 256 << 10;
const HEAD_BYTES: usize = 20;

pub struct RowsWriter {
    path: PathBuf,
    table: String,
    file: BufWriter<File>,
    chunk: Vec<u8>,
    rows: u64,
    bytes: u64,
    hash: Xxh3,
}

impl RowsWriter {
    pub fn create(folder: &Path, table: &str) -> Result<Self, Error> {
        let path = folder.join(format!("{table}.rows"));
        let file = BufWriter::new(create_file(&path).map_err(refused(&path))?);
        let mut writer = RowsWriter {
            path,
            table: table.to_owned(),
            file,
            chunk: Vec::with_capacity(CHUNK_BYTES * 2),
            rows: 0,
            bytes: 0,
            hash: Xxh3::new(),
        };
        writer.write(MAGIC)?;
        Ok(writer)
    }

    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), Error> {
        for part in [key, value] {
            self.chunk.extend_from_slice(&(part.len() as u32).to_be_bytes());
            self.chunk.extend_from_slice(part);
        }
        self.rows += 1;
        if self.chunk.len() >= CHUNK_BYTES { self.write_chunk() } else { Ok(()) }
    }

    fn write_chunk(&mut self) -> Result<(), Error> {
        let mut chunk = std::mem::take(&mut self.chunk);
        let mut head = Vec::with_capacity(HEAD_BYTES);
        head.extend_from_slice(&(chunk.len() as u32).to_be_bytes());
        head.extend_from_slice(&xxh3_64(&chunk).to_be_bytes());
        head.extend_from_slice(&xxh3_64(&head).to_be_bytes());
        self.write(&head)?;
        self.write(&chunk)?;
        chunk.clear();
        self.chunk = chunk;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
        self.file.write_all(bytes).map_err(refused(&self.path))
    }

    /// On disk when this returns.
    pub fn finish(mut self) -> Result<TableFile, Error> {
        if !self.chunk.is_empty() {
            self.write_chunk()?;
        }
        self.write_chunk()?;
        self.file.flush().map_err(refused(&self.path))?;
        self.file.get_ref().sync_all().map_err(refused(&self.path))?;
        let file = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let checksum = format!("{:032x}", self.hash.digest128());
        Ok(TableFile { table: self.table, file, rows: self.rows, bytes: self.bytes, checksum })
    }
}

pub struct RowsReader {
    path: PathBuf,
    file: BufReader<File>,
    told: TableFile,
    rows: u64,
    bytes: u64,
    hash: Xxh3,
}

/// Rows of one chunk.
pub struct Rows(Vec<u8>);

impl RowsReader {
    pub fn open(folder: &Path, told: &TableFile) -> Result<Self, Error> {
        let path = folder.join(&told.file);
        let file = BufReader::new(File::open(&path).map_err(refused(&path))?);
        let told = told.clone();
        let mut reader = RowsReader { path, file, told, rows: 0, bytes: 0, hash: Xxh3::new() };
        if reader.read(MAGIC.len())? != MAGIC {
            return Err(reader.damaged("it does not begin as a file of rows does"));
        }
        Ok(reader)
    }

    /// The next rows; none at the end of a file that is all that the manifest says.
    pub fn next_chunk(&mut self) -> Result<Option<Rows>, Error> {
        let head = self.read(HEAD_BYTES)?;
        let (told, head_sum) = head.split_at(HEAD_BYTES - 8);
        let (length, sum) = told.split_at(4);
        // The length is believed only with its checksum: no flipped bit makes us ask for gigabytes.
        if xxh3_64(told).to_be_bytes() != head_sum {
            return Err(self.damaged("a chunk's head is broken"));
        }
        let length = u32::from_be_bytes(length.try_into().unwrap_or_default());
        if length == 0 {
            return self.check_end().map(|()| None);
        }
        let rows = self.read(length as usize)?;
        if xxh3_64(&rows).to_be_bytes() != sum {
            return Err(self.damaged("a chunk's rows are broken"));
        }
        let rows = Rows(rows);
        let count = rows.iter().try_fold(0, |count, row| row.map(|_| count + 1));
        self.rows += count.ok_or_else(|| self.damaged("a row is cut off"))?;
        Ok(Some(rows))
    }

    fn read(&mut self, length: usize) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; length];
        self.file.read_exact(&mut bytes).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => self.damaged("it ends too early"),
            _ => refuse(&self.path, error),
        })?;
        self.hash.update(&bytes);
        self.bytes += length as u64;
        Ok(bytes)
    }

    fn check_end(&mut self) -> Result<(), Error> {
        let more = self.file.read(&mut [0]).map_err(refused(&self.path))?;
        let sum = format!("{:032x}", self.hash.digest128());
        let TableFile { rows, bytes, checksum, .. } = &self.told;
        let as_told = (self.rows, self.bytes, &sum) == (*rows, *bytes, checksum) && more == 0;
        if as_told { Ok(()) } else { Err(self.damaged("it is not the file of the manifest")) }
    }

    fn damaged(&self, why: &str) -> Error {
        refuse(&self.path, format!("is damaged: {why}"))
    }
}

impl Rows {
    /// A row is none where the bytes are not rows.
    pub fn iter(&self) -> impl Iterator<Item = Option<(&[u8], &[u8])>> {
        let mut rest = self.0.as_slice();
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let row = take(&mut rest).and_then(|key| Some((key, take(&mut rest)?)));
            if row.is_none() {
                rest = &[];
            }
            Some(row)
        })
    }
}

fn take<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk::<4>()?;
    let (part, after) = after.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    *rest = after;
    Some(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row = (Vec<u8>, Vec<u8>);

    fn read_all(folder: &Path, told: &TableFile) -> Result<Vec<Row>, Error> {
        let mut reader = RowsReader::open(folder, told)?;
        let mut all = Vec::new();
        while let Some(rows) = reader.next_chunk()? {
            all.extend(rows.iter().flatten().map(|(key, value)| (key.to_vec(), value.to_vec())));
        }
        Ok(all)
    }

    #[test]
    fn rows_come_back_and_every_flip_and_cut_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let mut rows: Vec<Row> = (0u8..40).map(|n| (vec![n], vec![n; usize::from(n)])).collect();
        rows.push((vec![200], vec![7; CHUNK_BYTES]));
        rows.push((vec![201], Vec::new()));
        let mut writer = RowsWriter::create(folder.path(), "some").unwrap();
        rows.iter().for_each(|(key, value)| writer.put(key, value).unwrap());
        let told = writer.finish().unwrap();
        assert_eq!(told.rows, 42);
        assert_eq!(read_all(folder.path(), &told).unwrap(), rows);
        let path = folder.path().join("some.rows");
        let good = std::fs::read(&path).unwrap();
        assert_eq!(told.bytes, good.len() as u64);
        let places =
            (0..2_000).chain((2_000..good.len()).step_by(7_919)).chain(good.len() - 40..good.len());
        for at in places {
            let mut bad = good.clone();
            bad[at] ^= 1 << (at % 8);
            std::fs::write(&path, &bad).unwrap();
            let error = read_all(folder.path(), &told).unwrap_err().to_string();
            assert!(error.contains("some.rows is damaged"), "{at}: {error}");
        }
        for end in [0, 5, 17, 30, good.len() - 1] {
            std::fs::write(&path, &good[..end]).unwrap();
            let error = read_all(folder.path(), &told).unwrap_err().to_string();
            assert!(error.contains("some.rows is damaged: it"), "{end}: {error}");
        }
        std::fs::write(&path, [good.as_slice(), b"x"].concat()).unwrap();
        assert!(read_all(folder.path(), &told).is_err());
    }

    #[test]
    fn a_table_without_rows_has_a_file_too() {
        let folder = tempfile::tempdir().unwrap();
        let told = RowsWriter::create(folder.path(), "none").unwrap().finish().unwrap();
        assert_eq!(read_all(folder.path(), &told).unwrap(), Vec::new());
    }
}
