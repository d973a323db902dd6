//! Something in the folder is not as it was written: which file, and what about it.

use std::path::{Path, PathBuf};

use crate::Error;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    pub file: PathBuf,
    pub what: String,
}

impl Damage {
    pub fn of(file: impl Into<PathBuf>, what: impl Into<String>) -> Self {
        Damage { file: file.into(), what: what.into() }
    }

    pub fn into_error(self, folder: &Path) -> Error {
        Error::Damaged { file: folder.join(self.file), what: self.what }
    }
}
