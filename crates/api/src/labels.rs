//! Names for addresses, from CSV files of the operator: address, label, entity, logo.

use std::path::{Path, PathBuf};

use alloy_primitives::Address;
use alloy_primitives::map::HashMap;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Label {
    pub label: Option<String>,
    pub entity: Option<String>,
    pub logo: Option<String>,
}

#[derive(Debug, thiserror::Error)]
#[error("labels file {path}{}: {why}", .line.map(|l| format!(", line {l}")).unwrap_or_default())]
pub struct LabelsError {
    path: PathBuf,
    line: Option<u64>,
    why: String,
}

#[derive(Debug, Default)]
pub struct Labels(HashMap<Address, Label>);

impl Labels {
    pub fn read(paths: &[PathBuf]) -> Result<Self, LabelsError> {
        let mut labels = Labels::default();
        for path in paths {
            labels.read_file(path)?;
        }
        Ok(labels)
    }

    fn read_file(&mut self, path: &Path) -> Result<(), LabelsError> {
        let error = |line, why: String| LabelsError { path: path.to_owned(), line, why };
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .comment(Some(b'#'))
            .from_path(path)
            .map_err(|e| error(None, e.to_string()))?;
        for record in reader.records() {
            let record = record.map_err(|e| error(None, e.to_string()))?;
            let line = record.position().map(csv::Position::line);
            let text = record.get(0).unwrap_or_default();
            // The first line may name the columns.
            if text.eq_ignore_ascii_case("address") {
                continue;
            }
            let address = text.parse::<Address>().map_err(|_| {
                error(line, format!("'{text}' is not an address"))
            })?;
            let column = |i| record.get(i).filter(|t| !t.is_empty()).map(str::to_owned);
            let label = Label { label: column(1), entity: column(2), logo: column(3) };
            self.0.insert(address, label);
        }
        Ok(())
    }

    pub fn get(&self, address: &Address) -> Option<&Label> {
        self.0.get(address)
    }
}
