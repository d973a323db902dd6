//! One file per command.

pub mod audit;
pub mod backup;
pub mod check;
pub mod completions;
pub mod config;
pub mod copy;
pub mod demo;
pub mod digest;
pub mod doctor;
pub mod import;
pub mod init;
pub mod keys;
pub mod listen;
pub mod migrate;
pub mod redecode;
pub mod repair;
pub mod restore;
pub mod serve;
mod signals;
pub mod status;
mod watchdog;

use std::pin::Pin;

use anyhow::Result;

/// Runs a command that asks the store or a server. Boxed, so that the runtime is not compiled anew for each command.
fn run_async<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let work: Pin<Box<dyn Future<Output = Result<T>> + '_>> = Box::pin(work);
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(work)
}
