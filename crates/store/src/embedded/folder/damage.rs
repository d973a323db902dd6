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
        // Some are named from the folder on, some with it.
        let file = if self.file.starts_with(folder) { self.file } else { folder.join(self.file) };
        Error::Damaged { file, what: self.what }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_named_once_also_where_it_is_relative() {
        for (folder, file, expected) in [
            ("k9c", "k9c/keyspaces/4/v0", "k9c/keyspaces/4/v0"),
            ("k9c", "keyspaces", "k9c/keyspaces"),
            ("/d", "/d/0.jnl", "/d/0.jnl"),
            ("./d", "./d/0.jnl", "./d/0.jnl"),
            ("/d", "durable", "/d/durable"),
        ] {
            let error = Damage::of(file, "gone").into_error(Path::new(folder));
            let Error::Damaged { file: named, .. } = error else { panic!("{error}") };
            assert_eq!(named, Path::new(expected), "{folder} {file}");
        }
    }
}
