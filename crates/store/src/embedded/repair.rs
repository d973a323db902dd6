//! Opens a damaged folder at the last write that can be trusted, and says what is lost by that.
//!
//! Only the log is cut: what the tables hold is not changed, and damage in them cannot be mended without
//! what they held. Whatever is cut off or set aside is kept under a name of its own.

use std::path::Path;

use super::folder::{self, Aside, Found, Mark, Record, Tail};
use super::open::Store;
use crate::Error;
use crate::check::CheckProgress;
use crate::error::is_in_table;
use crate::options::Options;
use crate::repair::{LostOfChain, RepairReport};

/// As the engine writes it.
const VERSION_BYTES: &[u8] = b"FJL\x03";

pub fn repair(
    options: &Options,
    progress: &(dyn Fn(CheckProgress) + Send + Sync),
) -> Result<RepairReport, Error> {
    let mut options = options.clone();
    options.create = false;
    let path = options.path.clone();
    let io = |source| Error::Folder { path: path.clone(), source };
    let mut report = RepairReport::default();
    put_markers_back(&path, &mut report).map_err(io)?;
    let lock = folder::lock(&path)?;
    let mark = match Record::read(&path).map_err(io)? {
        Found::Mark(mark) => Some(mark),
        Found::Nothing | Found::Damaged => None,
    };
    report.had_record = mark.is_some();
    // What the tables lost is not in the log.
    folder::tables(&path, mark.as_ref()).map_err(|damage| damage.into_error(&path))?;
    cut_log(&path, &mut report).map_err(io)?;
    drop(lock);
    let store = match Store::open(&options, &|_| ()) {
        Err(Error::Damaged { file, what }) if !is_in_table(&file) => {
            report.steps.push(format!("{}: {what}", file.display()));
            set_record_aside(&path, &mut report).map_err(io)?;
            Store::open(&options, &|_| ())
        }
        other => other,
    };
    let store = match store {
        // A part of the log's beginning is missing: what follows does not fit what the tables have.
        Err(Error::Damaged { file, what }) if !is_in_table(&file) => {
            report.steps.push(format!("{}: {what}", file.display()));
            set_log_aside(&path, 0, &mut report).map_err(io)?;
            Store::open(&options, &|_| ())?
        }
        other => other?,
    };
    let store = log_that_goes_on(store, &options, &mut report)?;
    if !report.steps.is_empty() {
        report.steps.extend(match store.sweep_indexes() {
            Ok(false) => None,
            Ok(true) => Some("index rows of blocks that are lost were removed".to_owned()),
            // The check below tells more.
            Err(error) => Some(format!("index rows of lost blocks may be left: {error}")),
        });
    }
    report.lost = lost(&store, mark.as_ref())?;
    report.check = store.check(progress)?;
    Ok(report)
}

/// Two small files of which it is known what must be in them.
fn put_markers_back(folder: &Path, report: &mut RepairReport) -> std::io::Result<()> {
    if !folder.join("keyspaces").is_dir() {
        return Err(std::io::Error::new(std::io::ErrorKind::NotFound, "there is no store in it"));
    }
    for (name, bytes) in [(folder::VERSION, VERSION_BYTES), (folder::LOCK, b"".as_slice())] {
        let path = folder.join(name);
        let is_good =
            std::fs::read(&path).is_ok_and(|found| found == bytes || name == folder::LOCK);
        if !is_good {
            if path.exists() {
                report.kept.push(folder::move_aside(&path, Aside::Copy)?);
            }
            std::fs::write(&path, bytes)?;
            report.steps.push(format!("{} was made again", path.display()));
        }
    }
    Ok(())
}

/// Ends the log at its first broken or missing part.
fn cut_log(folder: &Path, report: &mut RepairReport) -> std::io::Result<()> {
    let files = folder::read_logs(folder)?;
    let gap = folder::first_gap(&files).map_or(files.len(), |(place, _)| place);
    let broken = files.iter().take(gap).position(|file| file.tail != Tail::Clean);
    if let Some(file) = broken.and_then(|place| files.get(place)) {
        report.kept.push(folder::move_aside(&file.path, Aside::Copy)?);
        folder::cut(file)?;
        let (path, at) = (file.path.display(), file.whole_bytes);
        report.steps.push(format!("{path} is broken at byte {at} and ends there now"));
    }
    // Nothing that comes later may be read without it.
    set_log_aside(folder, broken.map_or(gap, |place| place + 1), report)
}

fn set_log_aside(folder: &Path, from: usize, report: &mut RepairReport) -> std::io::Result<()> {
    for file in folder::read_logs(folder)?.iter().skip(from) {
        report.steps.push(format!("{} cannot be used", file.path.display()));
        report.kept.push(folder::move_aside(&file.path, Aside::Move)?);
    }
    // The engine wants one, and so do we: its absence is how a lost one is noticed.
    if folder::read_logs(folder)?.is_empty() {
        let path = folder.join("0.jnl");
        std::fs::write(&path, b"")?;
        report.steps.push(format!("{} was made, empty", path.display()));
    }
    Ok(())
}

/// Tables may hold writes that the log lost, and the next write would not follow its end: then all rows go into
/// tables, and the log begins anew.
fn log_that_goes_on(
    store: Store,
    options: &Options,
    report: &mut RepairReport,
) -> Result<Store, Error> {
    let io = |source| Error::Folder { path: options.path.clone(), source };
    let last = folder::last_write(&folder::read_logs(&options.path).map_err(io)?);
    let newest = store.last_write()?;
    let is_behind = last.is_some_and(|last| last < newest);
    if report.steps.is_empty() || !is_behind {
        return Ok(store);
    }
    store.settle()?;
    drop(store);
    set_log_aside(&options.path, 0, report).map_err(io)?;
    Store::open(options, &|_| ())
}

fn set_record_aside(folder: &Path, report: &mut RepairReport) -> std::io::Result<()> {
    let record = Record::path_in(folder);
    if record.exists() {
        report.kept.push(folder::move_aside(&record, Aside::Move)?);
    }
    Ok(())
}

fn lost(store: &Store, mark: Option<&Mark>) -> Result<Vec<LostOfChain>, Error> {
    let view = store.view()?;
    let mut lost = Vec::new();
    for known in mark.iter().flat_map(|mark| &mark.chains) {
        let chain = model::chain::ChainId(known.chain);
        let entries = known.seq.saturating_sub(view.version(chain)?.seq);
        let newest_now = view.coverage(chain)?.newest();
        if entries > 0 {
            let newest_before = known.newest;
            lost.push(LostOfChain { chain: known.chain, entries, newest_before, newest_now });
        }
    }
    Ok(lost)
}
