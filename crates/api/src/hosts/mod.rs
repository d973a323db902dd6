//! The hosts' own endpoints, and what their handlers share.

mod key;
pub mod node_rpc;
pub mod operations;

pub use key::Key;

/// Runs work that may read from disk so that other requests go on meanwhile.
pub fn off_the_reactor<T>(work: impl FnOnce() -> T) -> T {
    use tokio::runtime::{Handle, RuntimeFlavor};
    match Handle::try_current().map(|h| h.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}
