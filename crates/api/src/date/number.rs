//! Unix time: a text of digits alone, told apart by how many there are.
//!
//! Four, six, seven and eight digits are left to ISO 8601, as moment.js does.

use super::scan::Scan;

pub fn read(text: &str) -> Option<i64> {
    // No chain is older than the epoch, so clients write 0 for "from the beginning".
    if text == "0" {
        return Some(0);
    }
    let mut scan = Scan::new(text);
    let lead = scan.digits()?;
    let millis = match lead.count {
        // Python's `time.time()` prints a fraction.
        9..=11 if scan.take(b'.') => lead.value * 1000 + scan.thousandths()?,
        9..=11 => lead.value * 1000,
        12..=14 => lead.value,
        _ => return None,
    };
    scan.at_end().then_some(millis)
}
