//! The segments of an open store, as its one writer knows them.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use model::chain::ChainId;

use super::bodies::Bodies;
use super::change::SegmentChange;
use super::segment_row::SegmentRow;
use crate::Error;
use crate::embedded::engine::{Snapshot, Table};
use crate::embedded::folder::Damage;

pub struct Segments {
    bodies: Arc<Bodies>,
    /// One that has reached this is not appended to.
    pub(super) segment_bytes: u64,
    state: Mutex<State>,
    /// The file that was appended to last. Held while the disk is waited for; whoever only wants to know how large
    /// segments are does not need it.
    appending: Mutex<Option<(u64, File)>>,
}

struct State {
    rows: BTreeMap<u64, SegmentRow>,
    next_id: u64,
    /// Segments that nothing leads to, oldest first, with who may still read them.
    doomed: VecDeque<(Weak<()>, u64)>,
}

/// A file that could not be written.
pub struct AppendFailure {
    pub path: PathBuf,
    pub error: std::io::Error,
}

impl Segments {
    /// Every segment must be there, and as long as the engine says.
    pub fn open(
        bodies: Arc<Bodies>,
        (snapshot, table): (&Snapshot, &Table),
        segment_bytes: u64,
    ) -> Result<Self, Error> {
        let mut rows = BTreeMap::new();
        for item in snapshot.iter(table) {
            let (key, row) = item.into_inner()?;
            let id = key.as_ref().try_into().map(u64::from_be_bytes).ok();
            let row = id.zip(SegmentRow::unpack(&row));
            let (id, row) = row.ok_or(Error::Broken { what: "row of a segment" })?;
            rows.insert(id, row);
        }
        for (id, row) in &rows {
            check_length(&bodies, *id, row.bytes)?;
        }
        let files = bodies.files.list();
        let files = files.map_err(|source| Error::Folder { path: bodies.files.path(0), source })?;
        let newest = rows.keys().chain(&files).max().copied();
        for id in files.into_iter().filter(|id| !rows.contains_key(id)) {
            // Of a write that never came to be, or already removed from the engine.
            if let Err(error) = bodies.files.remove(id) {
                let path = bodies.files.path(id);
                tracing::warn!(file = %path.display(), %error, "a segment that nothing leads to stays");
            }
        }
        let state =
            State { next_id: newest.map_or(1, |newest| newest + 1), rows, doomed: VecDeque::new() };
        let (state, appending) = (Mutex::new(state), Mutex::new(None));
        Ok(Segments { bodies, segment_bytes, state, appending })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn next_id(&self) -> u64 {
        self.state().next_id
    }

    pub(super) fn row(&self, id: u64) -> Option<SegmentRow> {
        self.state().rows.get(&id).copied()
    }

    pub(super) fn newest_of(&self, chain: ChainId) -> Option<u64> {
        let state = self.state();
        let mut newest_first = state.rows.iter().rev();
        newest_first.find(|(_, row)| row.chain == chain).map(|(id, _)| *id)
    }

    /// Those of which more is dead than alive.
    pub fn mostly_dead(&self) -> Vec<(u64, ChainId)> {
        let state = self.state();
        let dead = state.rows.iter().filter(|(_, row)| row.is_mostly_dead());
        dead.map(|(id, row)| (*id, row.chain)).collect()
    }

    /// Of files, and blocks in them.
    pub fn size(&self) -> (u64, u64) {
        let state = self.state();
        state
            .rows
            .values()
            .fold((0, 0), |(bytes, blocks), row| (bytes + row.bytes, blocks + row.live_blocks))
    }

    /// Everything that the change leads to is on disk when this returns. Nothing leads to it yet.
    pub fn append(&self, change: &SegmentChange) -> Result<(), AppendFailure> {
        let mut appending = self.appending.lock().unwrap_or_else(PoisonError::into_inner);
        for (id, (offset, pieces)) in &change.appends {
            // Where it fails, what it wrote is cut off when the file is opened to be appended to again.
            let appended = append(&self.bodies, &mut appending, (*id, *offset), pieces);
            let path = || self.bodies.files.path(*id);
            appended.map_err(|error| AppendFailure { path: path(), error })?;
        }
        Ok(())
    }

    /// The engine has written the rows of the change.
    pub fn settle(&self, change: SegmentChange) {
        let mut state = self.state();
        state.next_id = state.next_id.max(change.next_id);
        let gone: Vec<u64> =
            change.rows().filter(|(_, row)| row.is_none()).map(|(id, _)| id).collect();
        state.rows.extend(change.rows);
        if !gone.is_empty() {
            // An open file would keep its room.
            let mut appending = self.appending.lock().unwrap_or_else(PoisonError::into_inner);
            appending.take_if(|(open, _)| gone.contains(open));
            let readers = self.bodies.end_of_readers();
            for id in gone {
                state.rows.remove(&id);
                state.doomed.push_back((Arc::downgrade(&readers), id));
            }
        }
        drop(state);
        self.remove_doomed();
    }

    /// Removes the files of segments that nobody can read any more.
    pub fn remove_doomed(&self) {
        let mut state = self.state();
        // Readers of one may read all that were doomed after it, so they go in order.
        while let Some((readers, id)) = state.doomed.front()
            && readers.strong_count() == 0
        {
            let id = *id;
            if let Err(error) = self.bodies.files.remove(id) {
                let path = self.bodies.files.path(id);
                tracing::warn!(file = %path.display(), %error, "a segment of pruned blocks stays until the next start");
            }
            state.doomed.pop_front();
        }
    }
}

fn append(
    bodies: &Bodies,
    appending: &mut Option<(u64, File)>,
    (id, mut offset): (u64, u64),
    pieces: &[Vec<u8>],
) -> std::io::Result<()> {
    let file = match appending.take() {
        Some((open, file)) if open == id => file,
        _ => bodies.files.open_to_append(id, offset)?,
    };
    for piece in pieces {
        file.write_all_at(piece, offset)?;
        offset += piece.len() as u64;
    }
    file.sync_data()?;
    *appending = Some((id, file));
    Ok(())
}

fn check_length(bodies: &Bodies, id: u64, bytes: u64) -> Result<(), Error> {
    let path = bodies.files.path(id);
    let what = match bodies.files.length(id) {
        Ok(length) if length >= bytes => return Ok(()),
        Ok(length) => format!("it ends at byte {length}, and {bytes} bytes of it count"),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => "it is missing".to_owned(),
        Err(source) => return Err(Error::Folder { path, source }),
    };
    let Damage { file, what } = Damage::of(path, what);
    Err(Error::Damaged { file, what })
}
