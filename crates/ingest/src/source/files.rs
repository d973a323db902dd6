//! Blocks from files: `.json` (one record, or a list), `.jsonl` (one a line), plain, `.gz` or `.zst`.
//!
//! Records are read one at a time with a limit, so a file of any size needs little memory and a file
//! that is not what it says ends in an error that names the file and the place.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use model::raw::{Block, Malformed};

use super::record::read_record;
use super::record_texts::{FileLayout, RecordTexts, TextError};

/// As much as one answer of a node may have (`rpc.response_bytes_max`); the largest real blocks with
/// traces stay far below.
const RECORD_BYTES_MAX: usize = 256 << 20;

#[derive(Debug, thiserror::Error)]
pub enum BlockFileError {
    #[error("cannot read {path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{path}, record {record}: {source}")]
    Malformed { path: PathBuf, record: usize, source: Malformed },
    #[error(
        "{path}, record {record} at byte {at}: more than {limit} bytes, which no block has; the file was \
         read up to there"
    )]
    TooLarge { path: PathBuf, record: usize, at: u64, limit: usize },
    #[error("{path}: unknown kind of file; take .json or .jsonl, also with .gz or .zst behind")]
    UnknownKind { path: PathBuf },
}

/// The records of one file, read as they are asked for.
pub struct Records {
    path: PathBuf,
    texts: RecordTexts<Box<dyn BufRead + Send>>,
    record: usize,
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
    let form = match Path::new(name).extension().and_then(|e| e.to_str()) {
        Some("jsonl" | "ndjson") => FileLayout::Lines,
        Some("json") => FileLayout::Document,
        _ => return Err(unknown()),
    };
    let reader: Box<dyn BufRead + Send> = Box::new(BufReader::with_capacity(1 << 16, reader));
    let texts = RecordTexts::new(reader, form, RECORD_BYTES_MAX);
    Ok(Records { path: path.to_owned(), texts, record: 0 })
}

impl Iterator for Records {
    type Item = Result<Block, BlockFileError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let next = self.texts.next()?;
            self.record += 1;
            let text = match next {
                Ok(text) => text,
                Err(error) => return Some(Err(self.error(error))),
            };
            if !text.iter().all(u8::is_ascii_whitespace) {
                let (path, record) = (self.path.clone(), self.record);
                let malformed = |source| BlockFileError::Malformed { path, record, source };
                return Some(read_record(&text).map_err(malformed));
            }
        }
    }
}

impl Records {
    fn error(&self, error: TextError) -> BlockFileError {
        let (path, record) = (self.path.clone(), self.record);
        match error {
            TextError::Io(source) => BlockFileError::Io { path, source },
            TextError::TooLarge { at, limit } => {
                BlockFileError::TooLarge { path, record, at, limit }
            }
            TextError::Malformed { at, what } => {
                let source = Malformed::new("list", &format!("{what}, at byte {at}"));
                BlockFileError::Malformed { path, record, source }
            }
        }
    }
}
