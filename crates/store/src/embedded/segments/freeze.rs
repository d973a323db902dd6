//! Moves bodies into segments: those that the head has left behind, and those of segments of which most is
//! dead. What a block is does not change by it, so neither the journal nor the chain's version does.

use std::collections::BTreeSet;

use model::chain::ChainId;

use super::body_row::{BodyRow, Place};
use super::change::SegmentChange;
use crate::Error;
use crate::embedded::engine::{Durability, Op, Slice};
use crate::embedded::keys;
use crate::embedded::open::Store;
use crate::embedded::write_turn::Priority;

/// Following the head, it is looked after whenever a block of such a number came.
pub const FREEZE_EVERY_BLOCKS: u64 = 64;
/// So many of the newest blocks stay in the engine's rows: reverting one of them leaves no gap in a file, and
/// a commit at the head waits for the disk once.
const KEEP_INLINE_BLOCKS: u64 = 128;
/// Bodies of one write: others that want to write wait for no more than this.
const MOVED_AT_ONCE: usize = 64;

impl Store {
    /// Bodies of blocks that the head has left behind go into a segment, many at once.
    pub fn freeze_old(&self, chain: ChainId) -> Result<u64, Error> {
        let mut moved = 0;
        loop {
            let view = self.view()?;
            let Some(newest) = view.coverage(chain)?.newest() else { return Ok(moved) };
            let below = newest.saturating_sub(KEEP_INLINE_BLOCKS);
            let unfrozen = view.snapshot.prefix(&view.tables.unfrozen, keys::chain(chain));
            let mut numbers = Vec::new();
            for item in unfrozen.take(MOVED_AT_ONCE) {
                numbers.extend(keys::last_number(&item.key()?).filter(|number| *number < below));
            }
            drop(view);
            if numbers.is_empty() {
                return Ok(moved);
            }
            moved += self.move_bodies(chain, &numbers, &BTreeSet::new())?;
        }
    }

    /// What is alive in segments that are mostly dead is written again, and their files go.
    pub fn sweep_segments(&self) -> Result<u64, Error> {
        let dead = self.inner.database()?.segments.mostly_dead();
        let ids: BTreeSet<u64> = dead.iter().map(|(id, _)| *id).collect();
        let chains: BTreeSet<ChainId> = dead.into_iter().map(|(_, chain)| chain).collect();
        let mut moved = 0;
        for chain in chains {
            let mut numbers = Vec::new();
            let view = self.view()?;
            for item in view.snapshot.prefix(&view.tables.bodies, keys::chain(chain)) {
                let (key, stored) = item.into_inner()?;
                let row =
                    BodyRow::unpack(&stored).ok_or(Error::Broken { what: "body of a block" })?;
                if matches!(row.0.place, Place::Segment { id, .. } if ids.contains(&id)) {
                    numbers.extend(keys::last_number(&key));
                }
            }
            drop(view);
            for some in numbers.chunks(MOVED_AT_ONCE) {
                moved += self.move_bodies(chain, some, &ids)?;
            }
        }
        Ok(moved)
    }

    /// Those that are still stored, and lie inline or in one of the segments `from`.
    fn move_bodies(
        &self,
        chain: ChainId,
        numbers: &[u64],
        from: &BTreeSet<u64>,
    ) -> Result<u64, Error> {
        let _one_at_a_time = self.inner.writing.take(Priority::Low);
        let open = self.inner.database()?;
        let view = open.view()?;
        let t = &view.tables;
        let mut change = SegmentChange::new(&open.segments, from.clone());
        let mut ops = Vec::new();
        let mut moved = 0;
        for number in numbers {
            let key = keys::block(chain, *number);
            let unfrozen = Op { table: t.unfrozen.clone(), key: Slice::from(key), value: None };
            let Some(body) = view.body(chain, *number)? else {
                ops.push(unfrozen);
                continue;
            };
            match body.row().place {
                Place::Inline => ops.push(unfrozen),
                Place::Segment { id, .. } if from.contains(&id) => {}
                // Moved by somebody else, or written again.
                Place::Segment { .. } => {
                    if from.is_empty() {
                        ops.push(unfrozen);
                    }
                    continue;
                }
            }
            let packed = body.packed()?;
            change.free(body.row().place, body.row().body_bytes());
            let value = Some(change.append((chain, *number), packed).pack().into());
            ops.push(Op { table: t.bodies.clone(), key: Slice::from(key), value });
            moved += 1;
        }
        self.inner.write_bodies(ops, change, Durability::Disk, None)?;
        Ok(moved)
    }
}
