//! A store of an older format from its checked-in bytes.

use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;

/// A tar archive, packed: a header of 512 bytes with name and size, then the file, filled up to 512.
pub fn unpack(packed: &[u8], into: &Path) {
    let mut archive = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut archive).unwrap();
    let mut rest = archive.as_slice();
    while let Some((header, behind)) = rest.split_first_chunk::<512>() {
        let text = |range| str::from_utf8(&header[range]).unwrap().trim_end_matches('\0');
        let name: &str = text(0..100);
        if name.is_empty() {
            break;
        }
        let size = usize::from_str_radix(text(124..136).trim(), 8).unwrap();
        let path = into.join(name);
        if name.ends_with('/') {
            std::fs::create_dir_all(path).unwrap();
        } else {
            std::fs::write(path, &behind[..size]).unwrap();
        }
        rest = &behind[size.next_multiple_of(512)..];
    }
}
