//! Copies a data folder as it is at this moment.

use std::path::Path;

pub fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (path, to) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if path.is_dir() {
            copy_folder(&path, &to);
        } else {
            copy_file(&path, &to);
        }
    }
}

/// Files are written from the start and longer than that: what is empty at the end need not be copied.
fn copy_file(from: &Path, to: &Path) {
    let bytes = std::fs::read(from).unwrap();
    let written = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let file = std::fs::File::create(to).unwrap();
    std::io::Write::write_all(&mut &file, &bytes[..written]).unwrap();
    file.set_len(bytes.len() as u64).unwrap();
}
