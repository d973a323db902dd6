//! What an engine that was opened must have, and what it means when it cannot be opened.

use std::path::Path;
use std::time::{Duration, Instant};

use model::panic_text;

use super::engine::{self, Cause, Slice, Table};
use super::folder::{self, ChainMark, Damage, FolderState, WRITES_KEY};
use super::open_db::IDENTITY_KEY;
use crate::Error;

/// Looking for the file that the engine could not read takes no longer.
const DIAGNOSIS_MAX: Duration = Duration::from_secs(20);

/// An engine that could not be opened.
pub fn opening(error: fjall::Error, path: &Path) -> Error {
    match error {
        fjall::Error::Locked => Error::InUse { path: path.to_owned() },
        fjall::Error::InvalidVersion(_) => {
            let what = format!("the engine does not know this version: {error}");
            Damage::of(folder::VERSION, what).into_error(path)
        }
        fjall::Error::Io(source) if is_refused(source.kind()) => {
            Error::Folder { path: path.to_owned(), source }
        }
        other => match engine::cause_of(&other) {
            Cause::Damaged | Cause::Other => {
                let found = folder::find_damaged_file(
                    &path.join("keyspaces"),
                    Instant::now() + DIAGNOSIS_MAX,
                );
                let what = format!("the engine cannot open it: {other}");
                found.unwrap_or(Damage::of(path, what)).into_error(path)
            }
            cause => match engine::failed("open", path, other) {
                // Nobody tries it again.
                Error::Engine { action, path, source, retryable, .. } if cause == Cause::Full => {
                    let advice = "make room on its file system, and start again";
                    Error::Engine { action, path, source, advice, retryable }
                }
                error => error,
            },
        },
    }
}

/// By the operator's choice, not by damage.
fn is_refused(kind: std::io::ErrorKind) -> bool {
    matches!(kind, std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem)
}

/// One that stopped while it was opened.
pub fn panicked(path: &Path, panic: &(dyn std::any::Any + Send)) -> Error {
    let what = format!("the engine stopped while opening it: {}", panic_text(panic));
    let found = folder::find_damaged_file(&path.join("keyspaces"), Instant::now() + DIAGNOSIS_MAX);
    found.unwrap_or(Damage::of(path, what)).into_error(path)
}

/// Holds what the engine has against what was durable.
pub fn check_nothing_is_lost(meta: &Table, state: &FolderState) -> Result<(), Damage> {
    let read = |found: Result<Option<Slice>, Error>| {
        found.map_err(|error| match error {
            Error::Engine { path, source, .. } => Damage::of(path, source.to_string()),
            other => Damage::of("keyspaces", other.to_string()),
        })
    };
    let writes = number_at(read(meta.get(WRITES_KEY))?);
    let logged = state.logged.map_or(0, |(_, last)| last);
    let durable = state.mark.as_ref().map_or(0, |mark| mark.writes);
    if writes < durable.max(logged) {
        let missing = durable.max(logged) - writes;
        let what = format!(
            "the last {missing} durable writes are neither in it nor in the tables{}",
            lost(state)
        );
        return Err(Damage::of(&state.newest_log, what));
    }
    if let Some(mark) = &state.mark
        && let Some(identity) = read(meta.get(IDENTITY_KEY))?
        && *identity != mark.identity
    {
        let what = "it was written for another store: files of two stores are mixed";
        return Err(Damage::of("durable", what));
    }
    // What stood in front of the log's first write must be in files.
    let first = state.logged.map_or(0, |(first, _)| first);
    let in_files = number_at(read(meta.get_from_files(WRITES_KEY))?);
    if first > in_files + 1 {
        let what = format!(
            "writes {} to {} are neither in the tables nor in the log: this older file of the log is missing",
            in_files + 1,
            first - 1
        );
        return Err(Damage::of(&state.log_before, what));
    }
    Ok(())
}

/// How far each chain was.
fn lost(state: &FolderState) -> String {
    let chains = state.mark.iter().flat_map(|mark| &mark.chains);
    let chains: Vec<String> = chains
        .map(|ChainMark { chain, seq, newest }| {
            let newest = newest.map_or("none".to_owned(), |number| number.to_string());
            format!("chain {chain}: journal up to entry {seq}, newest block {newest}")
        })
        .collect();
    if chains.is_empty() { String::new() } else { format!("; it held {}", chains.join("; ")) }
}

/// As rows of `meta` have them; 0 where there is none.
pub fn number_at(row: Option<Slice>) -> u64 {
    row.and_then(|row| row.as_ref().try_into().ok()).map_or(0, u64::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_made_for_want_of_room_does_not_promise_to_go_on() {
        let full = fjall::Error::Io(std::io::Error::from_raw_os_error(28));
        let told = opening(full, Path::new("/d")).to_string();
        assert!(told.contains("make room on its file system, and start again"), "{told}");
    }
}
