//! Says early what of a file will be read, so that the disk fetches several parts at once.

use std::fs::File;

/// Waits for nothing. What is in memory already costs next to nothing.
#[cfg(target_os = "linux")]
pub fn will_need(file: &File, offset: u64, bytes: u64) {
    use rustix::fs::{Advice, fadvise};
    // It is advice: without it the part is only read later.
    let _ = fadvise(file, offset, std::num::NonZeroU64::new(bytes), Advice::WillNeed);
}

#[cfg(not(target_os = "linux"))]
pub fn will_need(_: &File, _: u64, _: u64) {}
