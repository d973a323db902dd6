//! Whether every file of the tables is byte for byte what was written.

use crate::check::CheckedPart;
use crate::embedded::file_hash::hash_file;
use crate::embedded::tables::Tables;

pub fn check(tables: &Tables) -> CheckedPart {
    let mut part = CheckedPart::new("files of tables");
    for (_, table) in tables.all() {
        for (path, noted) in table.files() {
            part.count += 1;
            match hash_file(&path) {
                Ok(found) if found == noted => {}
                Ok(_) => part.fault(format!("{}: not what was written", path.display())),
                // Merged into another and removed since the list was read.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => part.fault(format!("{}: {error}", path.display())),
            }
        }
    }
    part
}
