//! Looks at a folder before the engine opens it, and decides: it is new, it is whole, its end may be cut
//! off because nothing durable is lost by that, or it is damaged and left as it is.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

use super::creation;
use super::damage::Damage;
use super::log::{self, LogFile, Tail};
use super::record::{Found, Mark, Record};
use super::versions;
use crate::Error;

/// The engine writes it last when it makes a folder.
pub const VERSION: &str = "version";
pub const TABLES: &str = "keyspaces";
pub const LOCK: &str = "lock";

/// What the folder is, as far as it can be told from outside.
#[derive(Debug, Default)]
pub struct FolderState {
    /// There is an engine in it.
    pub exists: bool,
    /// What is known to be durable; none for a store of an older build.
    pub mark: Option<Mark>,
    /// The first and the last numbered write of the log.
    pub logged: Option<(u64, u64)>,
    /// The file of the log that is written to.
    pub newest_log: PathBuf,
    /// The file of the log that would stand before the oldest of those that are there.
    pub log_before: PathBuf,
    /// Said to whoever reads the log of this process.
    pub warnings: Vec<String>,
}

/// Nothing is changed but for an end of the log that may go, and a store that was never finished.
pub fn look(folder: &Path) -> Result<FolderState, Error> {
    let io = |source| Error::Folder { path: folder.to_owned(), source };
    creation::clear_unfinished(folder)?;
    let found = Record::read(folder).map_err(io)?;
    if !folder.join(VERSION).exists() {
        return match not_an_engine(folder, &found).map_err(io)? {
            Some(damage) => Err(damage.into_error(folder)),
            None => Ok(FolderState::default()),
        };
    }
    let _lock = lock(folder)?;
    let mut state = FolderState { exists: true, ..FolderState::default() };
    state.mark = match found {
        Found::Mark(mark) => Some(mark),
        Found::Nothing => None,
        Found::Damaged => {
            let path = Record::path_in(folder);
            let path = path.display();
            state.warnings.push(format!("{path} is damaged and written anew; the log is whole"));
            None
        }
    };
    tables(folder, state.mark.as_ref()).map_err(|damage| damage.into_error(folder))?;
    let logs = log::read_all(folder).map_err(io)?;
    if let Some((_, damage)) = log::first_gap(&logs) {
        return Err(damage.into_error(folder));
    }
    let end = end_of_log(folder, state.mark.as_ref(), &logs);
    match end.map_err(|damage| damage.into_error(folder))? {
        End::Whole => {}
        End::MayBeCut(file) => {
            let text = "the end of the log, which was not yet durable, is cut off";
            state.warnings.push(format!(
                "{text}: {} at byte {}",
                file.path.display(),
                file.whole_bytes
            ));
            cut(file).map_err(io)?;
        }
        End::Unknown(file) => {
            let kept = move_aside(&file.path, Aside::Copy).map_err(io)?;
            let text = "the end of the log is torn and cut off; it is kept as";
            state.warnings.push(format!("{text} {}", kept.display()));
            cut(file).map_err(io)?;
        }
    }
    let first = logs.iter().find_map(|file| file.writes).map(|(first, _)| first);
    state.logged = first.zip(last_write(&logs));
    if let Some((oldest, newest)) = logs.first().zip(logs.last()) {
        state.newest_log.clone_from(&newest.path);
        state.log_before =
            oldest.path.with_file_name(format!("{}.jnl", oldest.id.saturating_sub(1)));
    }
    Ok(state)
}

/// A process that ended while it made the folder leaves a log without a batch in it; the engine would
/// not open that.
fn not_an_engine(folder: &Path, found: &Found) -> std::io::Result<Option<Damage>> {
    if !folder.join(TABLES).exists() && *found == Found::Nothing {
        return Ok(None);
    }
    let is_used = std::fs::read_dir(folder.join(TABLES)).is_ok_and(|mut it| it.next().is_some());
    let logs = log::read_all(folder)?;
    let is_empty = |file: &LogFile| file.whole_bytes == 0 && file.tail == Tail::Clean;
    if *found != Found::Nothing || is_used || !logs.iter().all(is_empty) {
        return Ok(Some(Damage::of(VERSION, "it is missing, and the tables are there")));
    }
    for file in logs {
        std::fs::remove_file(file.path)?;
    }
    Ok(None)
}

/// Held while the folder is looked at; nobody else may write meanwhile.
pub fn lock(folder: &Path) -> Result<std::fs::File, Error> {
    let path = folder.join(LOCK);
    let file = match OpenOptions::new().read(true).write(true).open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let what = "it is missing; if no other headwater uses the folder, make an empty file of \
                        this name";
            return Err(Damage::of(path, what).into_error(folder));
        }
        Err(source) => return Err(Error::Folder { path, source }),
    };
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => Err(Error::InUse { path: folder.to_owned() }),
        Err(std::fs::TryLockError::Error(source)) => Err(Error::Folder { path, source }),
    }
}

/// The engine takes a table without its list for one that was never made, and makes it anew, empty.
pub fn tables(folder: &Path, mark: Option<&Mark>) -> Result<(), Damage> {
    let root = folder.join(TABLES);
    let Ok(entries) = std::fs::read_dir(&root) else {
        return Err(Damage::of(root, "the folder of tables cannot be read"));
    };
    // The list of tables itself is number 0.
    let known = mark.map_or(&[] as &[u64], |mark| &mark.tables);
    for id in known.iter().copied().chain([0]) {
        versions::check(&root.join(id.to_string()))?;
    }
    for entry in entries {
        let path = match entry {
            Ok(entry) => entry.path(),
            Err(error) => return Err(Damage::of(root, error.to_string())),
        };
        if path.is_dir() && versions::has_list(&path) {
            versions::check(&path)?;
        }
    }
    Ok(())
}

#[derive(Debug)]
enum End<'a> {
    Whole,
    /// What is behind it was never durable.
    MayBeCut(&'a LogFile),
    /// The log alone cannot tell; the tables can, once they are open.
    Unknown(&'a LogFile),
}

/// Decides from what was durable what may be missing.
fn end_of_log<'a>(
    folder: &Path,
    mark: Option<&Mark>,
    logs: &'a [LogFile],
) -> Result<End<'a>, Damage> {
    let Some((newest, older)) = logs.split_last() else {
        return Err(Damage::of(folder.join("0.jnl"), "the log is missing"));
    };
    // These were on disk before the next one was begun.
    if let Some(broken) = older.iter().find(|file| file.tail != Tail::Clean) {
        let what = format!("it is broken from byte {} on", broken.whole_bytes);
        return Err(Damage::of(&broken.path, what));
    }
    let last = last_write(logs);
    let durable = mark.map(|mark| mark.writes);
    let lost = match (durable, last) {
        (Some(durable), Some(last)) => durable.saturating_sub(last),
        _ => 0,
    };
    if lost > 0 {
        let at = newest.whole_bytes;
        let how = if newest.tail == Tail::Clean { "ends" } else { "is broken" };
        let what = format!("it {how} at byte {at}; the last {lost} durable writes are missing");
        return Err(Damage::of(&newest.path, what));
    }
    Ok(match (newest.tail, durable, last) {
        (Tail::Clean, ..) => End::Whole,
        (_, Some(_), Some(_)) => End::MayBeCut(newest),
        (_, Some(_), None) => End::Unknown(newest),
        (Tail::CutOff, None, _) => End::MayBeCut(newest),
        (Tail::Damaged, None, _) => {
            let what = format!("it is broken from byte {} on", newest.whole_bytes);
            return Err(Damage::of(&newest.path, what));
        }
    })
}

/// The newest numbered write of the log.
pub fn last_write(logs: &[LogFile]) -> Option<u64> {
    logs.iter().rev().find_map(|file| file.writes).map(|(_, last)| last)
}

/// Ends the file behind its last whole batch.
pub fn cut(file: &LogFile) -> std::io::Result<()> {
    let open = OpenOptions::new().write(true).open(&file.path)?;
    open.set_len(file.whole_bytes)?;
    open.sync_all()
}

/// Whether the file stays where it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Aside {
    Copy,
    Move,
}

/// Keeps a damaged file under a name of its own, which says so. Nothing is ever overwritten.
pub fn move_aside(path: &Path, aside: Aside) -> std::io::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let numbered = |n: u32| {
        path.with_file_name(match n {
            0 => format!("{name}.damaged"),
            n => format!("{name}.{n}.damaged"),
        })
    };
    let free = (0..).map(numbered).find(|path| !path.exists()).unwrap_or_default();
    match aside {
        Aside::Copy => drop(std::fs::copy(path, &free)?),
        Aside::Move => std::fs::rename(path, &free)?,
    }
    Ok(free)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(tail: Tail, writes: Option<(u64, u64)>) -> LogFile {
        let path = PathBuf::from("/d/3.jnl");
        LogFile { id: 3, path, whole_bytes: 100, tail, batches: writes, writes }
    }

    fn decide(durable: Option<u64>, logs: &[LogFile]) -> &'static str {
        let mark = durable.map(|writes| Mark { writes, ..Mark::default() });
        match end_of_log(Path::new("/d"), mark.as_ref(), logs) {
            Ok(End::Whole) => "whole",
            Ok(End::MayBeCut(_)) => "cut",
            Ok(End::Unknown(_)) => "unknown",
            Err(_) => "damaged",
        }
    }

    #[test]
    fn the_end_goes_only_where_nothing_durable_is_lost() {
        let nine = Some((5, 9));
        let cases = [
            // Durable writes, what follows the whole batches, whole batches.
            (Some(9), Tail::Clean, nine, "whole"),
            (Some(4), Tail::Clean, nine, "whole"),
            (Some(10), Tail::Clean, nine, "damaged"),
            (Some(9), Tail::CutOff, nine, "cut"),
            (Some(9), Tail::Damaged, nine, "cut"),
            (Some(10), Tail::CutOff, nine, "damaged"),
            (Some(10), Tail::Damaged, nine, "damaged"),
            // The log was begun anew, or an older build wrote all of it.
            (Some(10), Tail::Clean, None, "whole"),
            (Some(10), Tail::CutOff, None, "unknown"),
            (Some(10), Tail::Damaged, None, "unknown"),
            (None, Tail::Clean, nine, "whole"),
            (None, Tail::CutOff, nine, "cut"),
            (None, Tail::Damaged, nine, "damaged"),
            (None, Tail::Damaged, None, "damaged"),
        ];
        for (durable, tail, writes, expected) in cases {
            assert_eq!(decide(durable, &[log(tail, writes)]), expected, "{durable:?} {tail:?}");
            let older = [log(Tail::CutOff, Some((1, 4))), log(tail, writes)];
            assert_eq!(decide(durable, &older), "damaged", "an older file is broken");
        }
        assert_eq!(decide(Some(1), &[]), "damaged", "the log is missing");
        assert_eq!(decide(None, &[]), "damaged", "the log is missing");
    }
}
