//! What the system has of a file in memory: read without waiting, and fetched in good time where it is not there.

use std::fs::File;

/// Whether all of it could be read without waiting for the disk. False where that cannot be told, and where reading fails:
/// whoever reads it then learns why.
#[cfg(target_os = "linux")]
pub fn read_now(file: &File, offset: u64, bytes: &mut [u8]) -> bool {
    use rustix::io::{ReadWriteFlags, preadv2};
    let wanted = bytes.len();
    let mut buffers = [std::io::IoSliceMut::new(bytes)];
    preadv2(file, &mut buffers, offset, ReadWriteFlags::NOWAIT) == Ok(wanted)
}

#[cfg(not(target_os = "linux"))]
pub fn read_now(_: &File, _: u64, _: &mut [u8]) -> bool {
    false
}

/// Says early what will be read, so that the disk fetches several parts at once. Waits for nothing. What is in memory
/// already costs next to nothing.
#[cfg(target_os = "linux")]
pub fn will_need(file: &File, offset: u64, bytes: u64) {
    use rustix::fs::{Advice, fadvise};
    // It is advice: without it the part is only read later.
    let _ = fadvise(file, offset, std::num::NonZeroU64::new(bytes), Advice::WillNeed);
}

#[cfg(not(target_os = "linux"))]
pub fn will_need(_: &File, _: u64, _: u64) {}
