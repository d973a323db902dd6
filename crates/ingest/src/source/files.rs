//! Blocks from files: `.json` (one record, or a list), `.jsonl` (one a line), plain, `.gz` or `.zst`.
//!
//! Lines are read one at a time with a limit, so a file of any size needs little memory and a file
//! that is not what it says ends in an error that names the file and the line.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use model::raw::{Block, Malformed};

use super::record::{read_record, split_list};

/// A record of the largest real blocks with both traces stays far below this.
const RECORD_BYTES_MAX: u64 = 1 << 30;

#[derive(Debug, thiserror::Error)]
pub enum BlockFileError {
    #[error("cannot read {path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{path}, record {record}: {source}")]
    Malformed { path: PathBuf, record: usize, source: Malformed },
    #[error("{path}: unknown kind of file; take .json or .jsonl, also with .gz or .zst behind")]
    UnknownKind { path: PathBuf },
}

/// The records of one file, read as they are asked for.
pub struct Records {
    path: PathBuf,
    reader: Box<dyn BufRead + Send>,
    lines: bool,
    record: usize,
    done: bool,
    /// Of a list that was read whole, what is still to be handed out; last first.
    listed: Vec<Result<Block, Malformed>>,
}

pub fn open(path: &Path) -> Result<Records, BlockFileError> {
    let unknown = || BlockFileError::UnknownKind { path: path.to_owned() };
    let io = |source| BlockFileError::Io { path: path.to_owned(), source };
    let name = path.file_name().and_then(|n| n.to_str()).ok_or_else(unknown)?;
    let file = File::open(path).map_err(io)?;
    let (name, reader): (&str, Box<dyn Read + Send>) = if let Some(name) = name.strip_suffix(".gz")
    {
        (name, Box::new(flate2::read::MultiGzDecoder::new(BufReader::new(file))))
    } else if let Some(name) = name.strip_suffix(".zst") {
        (name, Box::new(zstd::Decoder::new(file).map_err(io)?))
    } else {
        (name, Box::new(file))
    };
    let lines = match Path::new(name).extension().and_then(|e| e.to_str()) {
        Some("jsonl" | "ndjson") => true,
        Some("json") => false,
        _ => return Err(unknown()),
    };
    let reader = Box::new(BufReader::with_capacity(1 << 16, reader));
    Ok(Records { path: path.to_owned(), reader, lines, record: 0, done: false, listed: Vec::new() })
}

impl Records {
    fn next_text(&mut self) -> std::io::Result<Vec<u8>> {
        let mut text = Vec::new();
        let mut limited = self.reader.by_ref().take(RECORD_BYTES_MAX + 1);
        if self.lines {
            limited.read_until(b'\n', &mut text)?;
        } else {
            limited.read_to_end(&mut text)?;
            self.done = true;
        }
        if text.len() as u64 > RECORD_BYTES_MAX {
            return Err(std::io::Error::other("a record of more than 1 GiB"));
        }
        Ok(text)
    }
}

impl Iterator for Records {
    type Item = Result<Block, BlockFileError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(read) = self.listed.pop() {
                self.record += 1;
                let (path, record) = (self.path.clone(), self.record);
                return Some(read.map_err(|source| BlockFileError::Malformed {
                    path,
                    record,
                    source,
                }));
            }
            if self.done {
                return None;
            }
            match self.next_text() {
                Ok(text) if text.is_empty() => self.done = true,
                Ok(text) if text.iter().all(u8::is_ascii_whitespace) => {
                    self.record += usize::from(self.lines);
                }
                Ok(text) => self.listed = self.read(&text),
                Err(source) => {
                    self.done = true;
                    return Some(Err(BlockFileError::Io { path: self.path.clone(), source }));
                }
            }
        }
    }
}

impl Records {
    fn read(&self, text: &[u8]) -> Vec<Result<Block, Malformed>> {
        if self.lines {
            return vec![read_record(text)];
        }
        match split_list(text) {
            Ok(records) => records.into_iter().rev().map(read_record).collect(),
            Err(malformed) => vec![Err(malformed)],
        }
    }
}
