//! `GET /console/api/proof`: what proves each field, as `docs/proof.md` has it. That document is held true by a test
//! of its own, so the pages show no second copy of it.

use std::sync::OnceLock;

use axum::Json;
use serde::Serialize;

const DOCUMENT: &str = include_str!("../../../../docs/proof.md");

#[derive(Serialize)]
struct Field {
    /// `Block`, `Transaction`, `Receipt` …
    object: String,
    field: String,
    ethereum: String,
    op_stack: String,
    other: String,
    note: String,
}

pub async fn proof_table() -> Json<&'static serde_json::Value> {
    static TABLE: OnceLock<serde_json::Value> = OnceLock::new();
    Json(TABLE.get_or_init(|| serde_json::json!(fields(DOCUMENT))))
}

/// Rows of the tables whose first column is `field`, under the heading they stand below.
fn fields(document: &str) -> Vec<Field> {
    let (mut object, mut is_table, mut rows) = (String::new(), false, Vec::new());
    for line in document.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            heading.clone_into(&mut object);
        }
        let cells = line.strip_prefix('|').and_then(|line| line.trim_end().strip_suffix('|'));
        let Some(cells) = cells else {
            is_table = false;
            continue;
        };
        let cells: Vec<&str> = cells.split('|').map(str::trim).collect();
        let [field, ethereum, op_stack, other, note] = cells.as_slice() else { continue };
        if *field == "field" {
            is_table = true;
        } else if is_table && !field.starts_with('-') {
            rows.push(Field {
                object: object.clone(),
                field: field.replace('`', ""),
                ethereum: (*ethereum).to_owned(),
                op_stack: (*op_stack).to_owned(),
                other: (*other).to_owned(),
                note: note.replace('`', ""),
            });
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_has_a_row_for_what_the_pages_show() {
        let rows = fields(DOCUMENT);
        let proof = |object: &str, field: &str| {
            let row = rows.iter().find(|row| row.object == object && row.field == field);
            row.map(|row| (row.ethereum.as_str(), row.other.as_str()))
        };
        let objects: std::collections::BTreeSet<&str> =
            rows.iter().map(|row| row.object.as_str()).collect();
        assert!(objects.contains("Transaction") && objects.contains("Receipt"), "{objects:?}");
        assert_eq!(proof("Transaction", "from"), Some(("recovery", "recovery")));
        assert_eq!(proof("Transaction", "gasPrice"), Some(("derived", "node's word")));
        assert_eq!(proof("Receipt", "status"), Some(("root", "root")));
        assert_eq!(proof("Log", "topics"), Some(("root", "root")));
        assert!(rows.iter().all(|row| !row.ethereum.is_empty() && !row.field.starts_with('-')));
        assert!(rows.len() > 80, "{}", rows.len());
    }
}
