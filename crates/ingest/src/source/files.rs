//! Blocks from files: `.json` (one record, a list, or a genesis file), `.jsonl` (one a line), `.rlp` (blocks as nodes export
//! them), `.era1` (archives of history with receipts), plain, `.gz` or `.zst`.
//!
//! Records are read one at a time with a limit, so a file of any size needs little memory and a file
//! that is not what it says ends in an error that names the file and the place.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use model::raw::{Block, Malformed};

use super::era1::Era1Blocks;
use super::record::read_record;
use super::record_texts::{FileLayout, RecordTexts, TextError};
use super::rlp::{RlpBlocks, RlpError};

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
    #[error(
        "{path}: unknown kind of file; take .json, .jsonl, .rlp or .era1, also with .gz or .zst behind"
    )]
    UnknownKind { path: PathBuf },
}

/// The records of one file, read as they are asked for.
pub struct Records {
    path: PathBuf,
    content: RlpContent,
    record: usize,
}

enum RlpContent {
    Texts(RecordTexts<Box<dyn BufRead + Send>>),
    Blocks(Box<dyn Iterator<Item = Result<Block, RlpError>> + Send>),
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
    let reader: Box<dyn BufRead + Send> = Box::new(BufReader::with_capacity(1 << 16, reader));
    let texts = |reader, form| RlpContent::Texts(RecordTexts::new(reader, form, RECORD_BYTES_MAX));
    let content = match Path::new(name).extension().and_then(|e| e.to_str()) {
        Some("jsonl" | "ndjson") => texts(reader, FileLayout::Lines),
        Some("json") => texts(reader, FileLayout::Document),
        Some("rlp") => RlpContent::Blocks(Box::new(RlpBlocks::new(reader, RECORD_BYTES_MAX))),
        Some("era1") => RlpContent::Blocks(Box::new(Era1Blocks::new(reader, RECORD_BYTES_MAX))),
        _ => return Err(unknown()),
    };
    Ok(Records { path: path.to_owned(), content, record: 0 })
}

impl Iterator for Records {
    type Item = Result<Block, BlockFileError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let texts = match &mut self.content {
                RlpContent::Texts(texts) => texts,
                RlpContent::Blocks(blocks) => {
                    let next = blocks.next()?;
                    self.record += 1;
                    return Some(next.map_err(|error| self.rlp_error(error)));
                }
            };
            let next = texts.next()?;
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
    fn rlp_error(&self, error: RlpError) -> BlockFileError {
        let (path, record) = (self.path.clone(), self.record);
        match error {
            RlpError::Io(source) => BlockFileError::Io { path, source },
            RlpError::Malformed(source) => BlockFileError::Malformed { path, record, source },
        }
    }

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
