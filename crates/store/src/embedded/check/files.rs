//! Whether every file of tables and indexes is byte for byte what was written.

use std::path::Path;

use crate::check::CheckedPart;
use crate::embedded::file_hash::hash_file;
use crate::embedded::index_files::FileSet;
use crate::embedded::tables::Tables;

pub fn check_tables(tables: &Tables) -> CheckedPart {
    let mut part = CheckedPart::new("files of tables");
    for (_, table) in tables.all() {
        for (path, noted) in table.files() {
            // One that is gone was merged into another since the list was read.
            check(&mut part, &path, noted, Gone::IsFine);
        }
    }
    part
}

pub fn check_index(files: &FileSet) -> CheckedPart {
    let mut part = CheckedPart::new("index files");
    for entry in files.all() {
        check(&mut part, entry.file.path(), entry.row.shape.hash, Gone::IsAFault);
    }
    part
}

#[derive(PartialEq)]
enum Gone {
    IsFine,
    IsAFault,
}

fn check(part: &mut CheckedPart, path: &Path, noted: u128, gone: Gone) {
    part.count += 1;
    match hash_file(path) {
        Ok(found) if found == noted => {}
        Ok(_) => part.fault(format!("{}: not what was written", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && gone == Gone::IsFine => {}
        Err(error) => part.fault(format!("{}: {error}", path.display())),
    }
}
