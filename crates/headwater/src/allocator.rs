//! The allocator, and its one setting that differs from its default.
//!
//! Blocks come by the megabyte, and what one leaves is taken by the next within milliseconds. The allocator hands freed
//! memory back to the system after ten of them, and the kernel clears every page of it when it is wanted again: a tenth of the
//! time that history takes. The setting is read from the environment before `main`, so a command that runs for long starts its
//! program once more, with it set, in the same process.

use std::os::unix::process::CommandExt;
use std::process::Command;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How long freed memory is kept, in milliseconds. What an operator sets stays.
const SETTING: &str = "MIMALLOC_PURGE_DELAY";
const KEPT_MS: &str = "1000";

/// Comes back where the setting is there, or where the program cannot be started again: then it only works a little more.
pub fn keep_freed_memory() {
    if std::env::var_os(SETTING).is_some() {
        return;
    }
    let Ok(program) = std::env::current_exe() else { return };
    let mut arguments = std::env::args_os();
    let mut command = Command::new(program);
    if let Some(name) = arguments.next() {
        command.arg0(name);
    }
    let _cannot = command.args(arguments).env(SETTING, KEPT_MS).exec();
}
