//! CSV files of the operator: read line by line, and a mistake is named with its file and line.

use std::path::{Path, PathBuf};

use alloy_primitives::Address;

#[derive(Debug, thiserror::Error)]
#[error("{what} file {path}{}: {why}", .line.map(|l| format!(", line {l}")).unwrap_or_default())]
pub struct FileError {
    what: &'static str,
    path: PathBuf,
    line: Option<u64>,
    why: String,
}

pub struct OperatorFile<'a> {
    /// What it is a file of, for the message.
    pub what: &'static str,
    pub path: &'a Path,
}

impl OperatorFile<'_> {
    /// Calls `take` with the trimmed columns of each line that is neither empty nor a comment.
    pub fn read(
        &self,
        mut take: impl FnMut(&[&str]) -> Result<(), String>,
    ) -> Result<(), FileError> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .comment(Some(b'#'))
            .from_path(self.path)
            .map_err(|e| self.error(None, e.to_string()))?;
        for record in reader.records() {
            let record = record.map_err(|e| self.error(None, e.to_string()))?;
            let columns: Vec<&str> = record.iter().collect();
            let line = record.position().map(csv::Position::line);
            take(&columns).map_err(|why| self.error(line, why))?;
        }
        Ok(())
    }

    fn error(&self, line: Option<u64>, why: String) -> FileError {
        FileError { what: self.what, path: self.path.to_owned(), line, why }
    }
}

pub fn address(text: &str) -> Result<Address, String> {
    text.parse().map_err(|_| format!("'{text}' is not an address"))
}
