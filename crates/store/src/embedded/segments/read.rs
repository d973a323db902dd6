//! Reads groups of rows out of bodies.

use bytes::Bytes;
use model::chain::ChainId;

use super::bodies::Dictionaries;
use super::body_row::{BodyRow, FrameRef, Place};
use super::frame_hash::{FrameOf, HASH_BYTES, frame_hash};
use super::kind::Kind;
use super::pack::{BodyGroups, PackedBody, rows_of_frame, unpack_frame};
use super::record::HEADER_BYTES;
use crate::Error;
use crate::embedded::engine::Slice;
use crate::embedded::keys;
use crate::embedded::read::View;

const BROKEN: Error = Error::Broken { what: "body of a block" };

/// The body of one block; remembers the last frame of each sort.
pub struct BodyReader<'a> {
    view: &'a View,
    chain: ChainId,
    number: u64,
    row: BodyRow,
    /// The engine's row, and where in it an inline body begins.
    stored: Slice,
    inline_from: usize,
    last: [Option<(FrameRef, Bytes)>; 3],
}

/// A row of a body under the key that it had in a table of its own.
pub type KeyAndRow = ([u8; 20], Bytes);

impl View {
    /// None for a block without transactions, and for one that is not stored.
    pub fn body(&self, chain: ChainId, number: u64) -> Result<Option<BodyReader<'_>>, Error> {
        let stored = self.snapshot.get(&self.tables.bodies, keys::block(chain, number))?;
        stored.map(|stored| BodyReader::new(self, (chain, number), stored)).transpose()
    }

    /// All rows of a kind, of blocks whose keys begin so, sorted by key.
    pub fn body_rows<'a>(
        &'a self,
        kind: Kind,
        prefix: &[u8],
    ) -> impl Iterator<Item = Result<KeyAndRow, Error>> + 'a {
        let bodies = self.snapshot.prefix(&self.tables.bodies, prefix);
        bodies.flat_map(move |item| {
            let rows = item.into_inner().and_then(|(key, stored)| {
                let place = keys::chain_and_number(&key).ok_or(BROKEN)?;
                BodyReader::new(self, place, stored)?.rows(kind)
            });
            match rows {
                Ok(rows) => rows.into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error)],
            }
        })
    }
}

impl<'a> BodyReader<'a> {
    fn new(view: &'a View, (chain, number): (ChainId, u64), stored: Slice) -> Result<Self, Error> {
        let (row, body) = BodyRow::unpack(&stored).ok_or(BROKEN)?;
        let inline_from = stored.len() - body.len();
        let last = [None, None, None];
        Ok(BodyReader { view, chain, number, row, stored, inline_from, last })
    }

    /// One that is not stored as a body yet; none where there is nothing in it.
    pub fn of_groups(
        view: &'a View,
        place: (ChainId, u64),
        groups: &BodyGroups,
    ) -> Result<Option<Self>, Error> {
        let body = PackedBody::pack(place, groups, &Dictionaries::default());
        if body.is_empty() {
            return Ok(None);
        }
        BodyReader::new(view, place, Slice::from(body.inline_row())).map(Some)
    }

    pub fn row(&self) -> &BodyRow {
        &self.row
    }

    /// Whether the group's frame was unpacked lately.
    pub fn is_unpacked(&self, kind: Kind, group: u32) -> bool {
        let Some((frame, start)) = self.row.frame_of(kind, group) else { return true };
        let in_cache = |key| self.view.bodies.frames.contains_key(&key);
        self.is_last(frame) || self.cache_key(start).is_some_and(in_cache)
    }

    fn is_last(&self, frame: &FrameRef) -> bool {
        frame.kind.lead().of(&self.last).as_ref().is_some_and(|known| known.0 == *frame)
    }

    /// Has the group in memory if that takes no waiting for the disk, and says whether it is there. A frame that cannot be
    /// read is not: `group` says why.
    pub fn fetch_now(&mut self, kind: Kind, group: u32) -> bool {
        let Some((frame, start)) = self.row.frame_of(kind, group) else { return true };
        let (frame, start) = (*frame, start);
        if self.is_last(&frame) {
            return true;
        }
        let Some(key @ (id, offset)) = self.cache_key(start) else { return true };
        let bodies = &self.view.bodies;
        let raw = bodies.frames.get(&key).or_else(|| {
            let stored = bodies.files.read_now(id, offset, frame.stored_bytes() as usize)?;
            self.unpack_stored((&frame, start), stored).ok()
        });
        let Some(raw) = raw else { return false };
        *frame.kind.lead().of_mut(&mut self.last) = Some((frame, raw));
        true
    }

    /// The group will be read soon.
    pub fn will_need(&self, kind: Kind, group: u32) {
        let Some((frame, start)) = self.row.frame_of(kind, group) else { return };
        if let Some(key @ (id, offset)) = self.cache_key(start)
            && !self.view.bodies.frames.contains_key(&key)
        {
            self.view.bodies.files.will_need(id, offset, frame.stored_bytes() as usize);
        }
    }

    /// None for a frame that is not in a file.
    fn cache_key(&self, start: u64) -> Option<(u64, u64)> {
        match self.row.place {
            Place::Segment { id, offset } => Some((id, offset + HEADER_BYTES + start)),
            Place::Inline => None,
        }
    }

    /// None where the group has no row of this kind.
    pub fn group(&mut self, kind: Kind, group: u32) -> Result<Option<Bytes>, Error> {
        let Some((frame, start)) = self.row.frame_of(kind, group) else { return Ok(None) };
        let (frame, start) = (*frame, start);
        let raw = match frame.kind.lead().of(&self.last) {
            Some((known, raw)) if *known == frame => raw.clone(),
            _ => self.unpacked(&frame, start)?,
        };
        let rows = rows_of_frame(&frame, &raw, kind);
        let mut found = None;
        for row in rows {
            let (at, row) = row.ok_or(BROKEN)?;
            if at >= group {
                found = (at == group).then(|| raw.slice_ref(row));
                break;
            }
        }
        *frame.kind.lead().of_mut(&mut self.last) = Some((frame, raw));
        Ok(found)
    }

    /// All rows of a kind.
    pub fn rows(&self, kind: Kind) -> Result<Vec<KeyAndRow>, Error> {
        let mut all = Vec::new();
        for (frame, start) in self.row.placed().filter(|(frame, _)| frame.kind.has(kind)) {
            let raw = self.unpacked(frame, start)?;
            for row in rows_of_frame(frame, &raw, kind) {
                let (group, row) = row.ok_or(BROKEN)?;
                all.push((keys::in_block(self.chain, self.number, group), raw.slice_ref(row)));
            }
        }
        Ok(all)
    }

    /// The body as it lies, each frame looked at: what is moved is not damaged.
    pub fn packed(&self) -> Result<PackedBody, Error> {
        let mut bytes = Vec::new();
        for (frame, start) in self.row.placed() {
            let stored = self.stored(frame, start)?;
            self.without_hash((frame, start), &stored)?;
            bytes.extend_from_slice(&stored);
        }
        let BodyRow { dictionaries, frames, .. } = self.row.clone();
        Ok(PackedBody { dictionaries, frames, bytes })
    }

    fn of(&self, frame: &FrameRef) -> FrameOf {
        let dictionary = *frame.kind.lead().of(&self.row.dictionaries);
        FrameOf { chain: self.chain, number: self.number, dictionary }
    }

    fn unpacked(&self, frame: &FrameRef, start: u64) -> Result<Bytes, Error> {
        let frames = &self.view.bodies.frames;
        let key = self.cache_key(start);
        if let Some(known) = key.and_then(|key| frames.get(&key)) {
            return Ok(known);
        }
        self.unpack_stored((frame, start), self.stored(frame, start)?)
    }

    /// It is kept where it came from a file.
    fn unpack_stored(&self, at: (&FrameRef, u64), stored: Vec<u8>) -> Result<Bytes, Error> {
        let (frame, start) = at;
        let packed = self.without_hash(at, &stored)?;
        let id = *frame.kind.lead().of(&self.row.dictionaries);
        let dictionary = self.view.bodies.dictionary(id);
        if id != 0 && dictionary.is_none() {
            return Err(Error::Broken { what: "dictionary" });
        }
        let raw = unpack_frame(frame, packed, dictionary.as_deref()).ok_or(BROKEN)?;
        let raw = Bytes::from(raw);
        if let Some(key) = self.cache_key(start) {
            self.view.bodies.frames.insert(key, raw.clone());
        }
        Ok(raw)
    }

    /// With its hash.
    fn stored(&self, frame: &FrameRef, start: u64) -> Result<Vec<u8>, Error> {
        let length = frame.stored_bytes() as usize;
        match self.row.place {
            Place::Inline => {
                let from = self.inline_from + start as usize;
                Ok(self.stored.get(from..from + length).ok_or(BROKEN)?.to_vec())
            }
            Place::Segment { id, offset } => {
                let files = &self.view.bodies.files;
                let read = files.read(id, offset + HEADER_BYTES + start, length);
                read.map_err(|error| unreadable(files.path(id), error))
            }
        }
    }

    /// A frame as it lies, if it has its hash.
    fn without_hash<'b>(
        &self,
        (frame, start): (&FrameRef, u64),
        stored: &'b [u8],
    ) -> Result<&'b [u8], Error> {
        let (hash, packed) = stored.split_first_chunk::<HASH_BYTES>().ok_or(BROKEN)?;
        if *hash == frame_hash(self.of(frame), frame, packed) {
            return Ok(packed);
        }
        Err(match self.row.place {
            Place::Inline => BROKEN,
            Place::Segment { id, offset } => {
                let what = format!(
                    "block {} at byte {} is not what was written",
                    self.number,
                    offset + HEADER_BYTES + start
                );
                Error::Damaged { file: self.view.bodies.files.path(id), what }
            }
        })
    }
}

fn unreadable(file: std::path::PathBuf, error: std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::NotFound => Error::Damaged { file, what: "it is missing".to_owned() },
        std::io::ErrorKind::UnexpectedEof => {
            Error::Damaged { file, what: "it ends before what is stored in it".to_owned() }
        }
        _ => crate::embedded::engine::failed("read", &file, fjall::Error::Io(error)),
    }
}
