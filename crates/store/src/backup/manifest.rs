//! `manifest.json` of a backup: the moment it holds, its files, and checksums over both.

use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_128;

use super::folder::create_file;
use super::{refuse, refused};
use crate::Error;

const FILE: &str = "manifest.json";
/// Raised when the files of a backup change their form.
const LAYOUT: u32 = 1;
const CHECKSUM: &str = "checksum";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    layout: u32,
    /// Whose rows these are.
    pub engine: String,
    /// The format of the rows.
    pub store_format: u32,
    pub headwater_version: String,
    pub taken_at: String,
    pub chains: Vec<ChainMoment>,
    pub tables: Vec<TableFile>,
}

/// One chain as the backup holds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainMoment {
    pub id: u64,
    pub head_number: u64,
    pub head_hash: String,
    /// Stored blocks, as ranges.
    pub coverage: String,
    pub journal_seq: u64,
    pub generation: u8,
    /// What `digest` says of the chain at that moment.
    pub digest: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableFile {
    pub table: String,
    pub file: String,
    pub rows: u64,
    pub bytes: u64,
    /// XXH3, 128 bits, over the whole file.
    pub checksum: String,
}

impl Manifest {
    pub(crate) fn new(engine: &str, store_format: u32, taken_at: String) -> Self {
        Manifest {
            layout: LAYOUT,
            engine: engine.to_owned(),
            store_format,
            headwater_version: env!("CARGO_PKG_VERSION").to_owned(),
            taken_at,
            chains: Vec::new(),
            tables: Vec::new(),
        }
    }

    pub fn rows(&self) -> u64 {
        self.tables.iter().map(|table| table.rows).sum()
    }

    pub(crate) fn write(&self, folder: &Path) -> Result<(), Error> {
        let path = folder.join(FILE);
        let text = self.to_text().map_err(|error| refuse(&path, error))?;
        let mut file = create_file(&path).map_err(refused(&path))?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(refused(&path))
    }

    fn to_text(&self) -> serde_json::Result<String> {
        let mut value = serde_json::to_value(self)?;
        let sum = checksum(&value);
        if let Value::Object(fields) = &mut value {
            fields.insert(CHECKSUM.to_owned(), sum.into());
        }
        Ok(serde_json::to_string_pretty(&value)? + "\n")
    }

    pub(crate) fn read(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(FILE);
        let text = std::fs::read_to_string(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => refuse(folder, "is no backup: it has no manifest.json"),
            _ => refuse(&path, error),
        })?;
        let damaged = |why: String| refuse(&path, format!("is damaged: {why}"));
        let mut value: Value = serde_json::from_str(&text).map_err(|e| damaged(e.to_string()))?;
        let told = value.as_object_mut().and_then(|fields| fields.remove(CHECKSUM));
        if told != Some(checksum(&value).into()) {
            return Err(damaged("its checksum is another".into()));
        }
        let layout = value.get("layout").and_then(Value::as_u64).unwrap_or_default();
        if layout != u64::from(LAYOUT) {
            let why = format!("has layout {layout}; this build reads {LAYOUT}. Use a newer build");
            return Err(refuse(&path, why));
        }
        serde_json::from_value(value).map_err(|error| damaged(error.to_string()))
    }
}

/// Over the fields in the order of their names, without blanks.
fn checksum(value: &Value) -> String {
    format!("{:032x}", xxh3_128(value.to_string().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_comes_back_and_a_changed_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut manifest = Manifest::new("embedded", 4, "2024-03-01T10:00:00.000Z".into());
        manifest.tables.push(TableFile {
            table: "headers".into(),
            file: "headers.rows".into(),
            rows: 7,
            bytes: 700,
            checksum: "ab".into(),
        });
        manifest.write(folder.path()).unwrap();
        assert_eq!(Manifest::read(folder.path()).unwrap(), manifest);
        let path = folder.path().join(FILE);
        let text = std::fs::read_to_string(&path).unwrap();
        for (from, to) in [("700", "701"), ("headers", "heeders"), ("\"rows\": 7", "\"rows\": ")] {
            std::fs::write(&path, text.replace(from, to)).unwrap();
            let error = Manifest::read(folder.path()).unwrap_err().to_string();
            assert!(error.contains("manifest.json") && error.contains("damaged"), "{error}");
        }
        std::fs::remove_file(&path).unwrap();
        let error = Manifest::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("has no manifest.json"), "{error}");
    }
}
