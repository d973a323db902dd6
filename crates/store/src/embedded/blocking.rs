//! Work that may wait for the disk.

/// Runs it here, so that other tasks of the runtime go on meanwhile. That costs waking another thread: what is known to be
/// in memory is read without.
pub fn may_block<T>(work: impl FnOnce() -> T) -> T {
    use tokio::runtime::{Handle, RuntimeFlavor};
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}
