//! Names for addresses, from CSV files of the operator: address, label, entity, logo.

use std::path::PathBuf;

use alloy_primitives::Address;
use alloy_primitives::map::HashMap;

use crate::operator_file::{FileError, OperatorFile, address};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Label {
    pub label: Option<String>,
    pub entity: Option<String>,
    pub logo: Option<String>,
}

#[derive(Debug, Default)]
pub struct Labels(HashMap<Address, Label>);

impl Labels {
    pub fn read(paths: &[PathBuf]) -> Result<Self, FileError> {
        let mut labels = Labels::default();
        for path in paths {
            OperatorFile { what: "labels", path }.read(|columns| labels.add(columns))?;
        }
        Ok(labels)
    }

    fn add(&mut self, columns: &[&str]) -> Result<(), String> {
        let text = columns.first().copied().unwrap_or_default();
        // The first line may name the columns.
        if text.eq_ignore_ascii_case("address") {
            return Ok(());
        }
        let column = |i| columns.get(i).filter(|t: &&&str| !t.is_empty()).map(|t| (*t).to_owned());
        let label = Label { label: column(1), entity: column(2), logo: column(3) };
        self.0.insert(address(text)?, label);
        Ok(())
    }

    pub fn get(&self, address: &Address) -> Option<&Label> {
        self.0.get(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &str) -> Result<Labels, FileError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("labels.csv");
        std::fs::write(&path, content).unwrap();
        Labels::read(&[path])
    }

    #[test]
    fn columns_may_be_named_missing_quoted_or_behind_a_byte_order_mark() {
        let [a, b] = [Address::repeat_byte(0xaa), Address::repeat_byte(0xbb)];
        let text = |t: &str| Some(t.to_owned());
        for content in [
            format!("{a},\"Acme, Inc.\",Acme,https://acme.example\n{b},Bank\n"),
            format!(
                "\u{feff}Address,Label,Entity,Logo\r\n {a} ,\"Acme, Inc.\",Acme,https://acme.example\r\n{b},Bank,,\r\n"
            ),
            format!(
                "# ours\n\n{a:#x},\"Acme, Inc.\",Acme,https://acme.example,more\n{b},first\n{b},Bank"
            ),
        ] {
            let labels = read(&content).unwrap();
            let acme = Label {
                label: text("Acme, Inc."),
                entity: text("Acme"),
                logo: text("https://acme.example"),
            };
            assert_eq!(labels.get(&a), Some(&acme), "{content}");
            assert_eq!(labels.get(&b).and_then(|l| l.label.clone()), text("Bank"), "{content}");
            assert_eq!(labels.get(&Address::ZERO), None);
        }
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let error = read("address\n0x12,x\n").unwrap_err().to_string();
        assert!(error.contains("labels.csv, line 2: '0x12' is not an address"), "{error}");
        assert!(
            Labels::read(&["/no/such.csv".into()])
                .unwrap_err()
                .to_string()
                .contains("/no/such.csv")
        );
    }
}
