//! Files of a folder whose names are numbers.

use std::io;
use std::path::Path;

/// The numbers of files whose names end so, whether anything leads to them or not. A folder that is not there has none.
pub fn numbers_in(folder: &Path, end: &str) -> io::Result<Vec<u64>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let mut numbers = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(end));
        numbers.extend(number.and_then(|number| number.parse::<u64>().ok()));
    }
    Ok(numbers)
}
