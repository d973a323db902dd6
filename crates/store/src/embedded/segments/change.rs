//! What one write does to segments: bodies that are appended, and bodies that nothing leads to any more.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use model::chain::ChainId;

use super::body_row::{BodyRow, Place};
use super::pack::PackedBody;
use super::record::{HEADER_BYTES, header_of};
use super::segment_row::SegmentRow;
use super::writer::Segments;

pub struct SegmentChange {
    segments: Arc<Segments>,
    /// As they are after the write.
    pub(super) rows: BTreeMap<u64, SegmentRow>,
    /// By segment: where they begin, and their bytes, piece by piece. They are megabytes, and are not copied together.
    pub(super) appends: BTreeMap<u64, (u64, Vec<Vec<u8>>)>,
    /// The segment of each chain that is written to.
    open: HashMap<ChainId, u64>,
    /// Nothing is appended to these: what is in them is to be moved.
    closed: BTreeSet<u64>,
    pub(super) next_id: u64,
}

impl SegmentChange {
    pub fn new(segments: &Arc<Segments>, closed: BTreeSet<u64>) -> Self {
        SegmentChange {
            next_id: segments.next_id(),
            segments: segments.clone(),
            rows: BTreeMap::new(),
            appends: BTreeMap::new(),
            open: HashMap::new(),
            closed,
        }
    }

    /// Bytes to be appended.
    pub fn append_bytes(&self) -> usize {
        self.appends.values().flat_map(|(_, pieces)| pieces).map(Vec::len).sum()
    }

    /// They are on disk; nothing leads to them yet.
    pub fn appended(&mut self) {
        self.appends.clear();
    }

    /// Says what is to be written of it into the engine.
    pub fn append(&mut self, (chain, number): (ChainId, u64), body: PackedBody) -> BodyRow {
        let PackedBody { dictionaries, frames, bytes: body } = body;
        let id = self.segment_for(chain);
        let row = self.row(id).unwrap_or(SegmentRow::new(chain));
        let record_bytes = HEADER_BYTES + body.len() as u64;
        let (_, pieces) = self.appends.entry(id).or_insert_with(|| (row.bytes, Vec::new()));
        pieces.push(header_of((chain, number), &body));
        pieces.push(body);
        let after = SegmentRow {
            chain,
            bytes: row.bytes + record_bytes,
            live_blocks: row.live_blocks + 1,
            live_bytes: row.live_bytes + record_bytes,
        };
        self.rows.insert(id, after);
        BodyRow { place: Place::Segment { id, offset: row.bytes }, dictionaries, frames }
    }

    /// Nothing leads to this body after the write.
    pub fn free(&mut self, place: Place, body_bytes: u64) {
        let Place::Segment { id, .. } = place else { return };
        let Some(row) = self.row(id) else { return };
        let after = SegmentRow {
            live_blocks: row.live_blocks.saturating_sub(1),
            live_bytes: row.live_bytes.saturating_sub(HEADER_BYTES + body_bytes),
            ..row
        };
        self.rows.insert(id, after);
    }

    /// Rows to be written with it; none for a segment that is removed.
    pub fn rows(&self) -> impl Iterator<Item = (u64, Option<&SegmentRow>)> {
        self.rows.iter().map(|(id, row)| (*id, Some(row).filter(|row| row.live_blocks > 0)))
    }

    fn row(&self, id: u64) -> Option<SegmentRow> {
        self.rows.get(&id).copied().or_else(|| self.segments.row(id))
    }

    fn segment_for(&mut self, chain: ChainId) -> u64 {
        let known = self.open.get(&chain).copied().or_else(|| self.segments.newest_of(chain));
        let has_room = |id: u64| {
            let bytes = self.row(id).map_or(0, |row| row.bytes);
            bytes < self.segments.segment_bytes && !self.closed.contains(&id)
        };
        let id = known.filter(|id| has_room(*id)).unwrap_or_else(|| {
            let id = self.next_id;
            self.next_id += 1;
            id
        });
        self.open.insert(chain, id);
        id
    }
}
