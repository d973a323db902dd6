//! A part of an index file in memory, as it lies on disk: it holds hundreds of rows of which a few are wanted, so it is gone
//! through, and only those are put together.

use std::ops::Bound;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;

use super::restarts::Restarts;
use super::rows_block::RowsReader;
use super::rows_key::RowsKey;
use super::rows_walk::{KeyBounds, RowsWalk};
use crate::embedded::runs::{RunTable, SortedRows};

/// A page asks twice, for its rows and for how many there are. What is asked for more often gets restarts: making them goes
/// through the whole part.
const USES_WITHOUT: u32 = 2;
/// What restarts take, of the part's own bytes.
const RESTARTS_SHARE: u64 = 4;

pub struct RowsPart {
    table: RunTable,
    lowest: u64,
    bytes: Bytes,
    uses: AtomicU32,
    /// None where the bytes are not what was written.
    restarts: OnceLock<Option<Restarts>>,
}

impl RowsPart {
    /// No row is of a block below `lowest`.
    pub fn new(table: RunTable, lowest: u64, bytes: Vec<u8>) -> Self {
        let (uses, restarts) = (AtomicU32::new(0), OnceLock::new());
        RowsPart { table, lowest, bytes: bytes.into(), uses, restarts }
    }

    /// With its restarts, whether they are made already or not.
    pub fn memory_bytes(&self) -> u64 {
        let bytes = self.bytes.len() as u64;
        bytes + bytes / RESTARTS_SHARE
    }

    /// Row by row. Keys are without their chain, as everywhere here.
    pub fn walk(&self, bounds: KeyBounds<'_>) -> RowsWalk {
        let mut walk = RowsWalk::new(self.table, self.reader(), bounds);
        if let Some(restarts) = self.restarts() {
            walk.skip(restarts);
        }
        walk
    }

    /// None where the bytes are not what was written.
    pub fn between(&self, bounds: KeyBounds<'_>) -> Option<SortedRows> {
        let mut found = SortedRows::default();
        let mut walk = self.walk(bounds);
        while walk.step()? {
            found.push_with(|key| walk.put_key(key), walk.value());
        }
        Some(found)
    }

    /// None where the bytes are not what was written.
    pub fn count(&self, bounds: KeyBounds<'_>) -> Option<u64> {
        if let Some(restarts) = self.restarts() {
            let (low, high) = bounds;
            let before = match low {
                Bound::Unbounded => 0,
                Bound::Included(key) => self.rows_up_to(restarts, key, false)?,
                Bound::Excluded(key) => self.rows_up_to(restarts, key, true)?,
            };
            let up_to = match high {
                Bound::Unbounded => restarts.rows(),
                Bound::Included(key) => self.rows_up_to(restarts, key, true)?,
                Bound::Excluded(key) => self.rows_up_to(restarts, key, false)?,
            };
            return Some(up_to.saturating_sub(before));
        }
        let mut rows = 0;
        let mut walk = RowsWalk::new(self.table, self.reader(), bounds);
        while walk.step()? {
            rows += 1;
        }
        Some(rows)
    }

    /// How many rows lie before a key, or before it and at it.
    fn rows_up_to(&self, restarts: &Restarts, key: &[u8], with_key: bool) -> Option<u64> {
        let key = RowsKey::new(self.table, key);
        let (mut reader, mut rows) = restarts.before(&key).unwrap_or_else(|| (self.reader(), 0));
        while !reader.is_done() {
            reader.read()?;
            let order = key.compare(&reader);
            if order.is_gt() || (order.is_eq() && !with_key) {
                break;
            }
            rows += 1;
        }
        Some(rows)
    }

    fn reader(&self) -> RowsReader<Bytes> {
        RowsReader::new(self.table, self.lowest, self.bytes.clone())
    }

    fn restarts(&self) -> Option<&Restarts> {
        if self.uses.fetch_add(1, Ordering::Relaxed) < USES_WITHOUT {
            return None;
        }
        self.restarts.get_or_init(|| Restarts::of(self.reader())).as_ref()
    }
}
