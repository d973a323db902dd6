//! Format 4 to 5: transactions are found by their hash, logs by their addresses and topics, and blocks whose receipts
//! are not known are listed. All of it follows from the blocks.

use std::ops::Bound;

use model::facts::Facts;

use super::old_rows::{block_of, groups_of};
use super::{PLACE_KEY, Upgrade};
use crate::Error;
use crate::block::VerifiedBlock;
use crate::embedded::engine::{Durability, Op, Slice};
use crate::embedded::read::{BlockParts, View};
use crate::embedded::segments::BodyReader;
use crate::embedded::write::prepare;

/// Of the rows that may be looked at in one go, a block is so many.
const ROWS_PER_BLOCK: usize = 64;

pub fn run(upgrade: &Upgrade) -> Result<(), Error> {
    let total = upgrade.open.tables.headers.rows();
    let (_, mut last) = upgrade.place()?;
    let mut done = 0;
    while let Some((blocks, reached)) = index_some(upgrade, &last)? {
        done += blocks;
        last = reached;
        upgrade.tell(done.min(total), total);
    }
    upgrade.tell(total, total);
    upgrade.finish()
}

/// Says how many blocks it was, and the key of the last; none where there are no more.
fn index_some(upgrade: &Upgrade, last: &[u8]) -> Result<Option<(u64, Vec<u8>)>, Error> {
    let from = if last.is_empty() { Bound::Unbounded } else { Bound::Excluded(last) };
    let view = upgrade.open.view()?;
    let blocks_at_once = (upgrade.rows_at_once / ROWS_PER_BLOCK).max(1);
    let headers = view.snapshot.range::<&[u8]>(&view.tables.headers, (from, Bound::Unbounded));
    let mut ops = Vec::new();
    let (mut blocks, mut reached) = (0, None);
    for item in headers.take(blocks_at_once) {
        let key = item.key()?;
        add_rows(&view, &key, &mut ops)?;
        blocks += 1;
        reached = Some(key.to_vec());
    }
    let Some(reached) = reached else { return Ok(None) };
    let place = [&[0], reached.as_slice()].concat();
    let key = Slice::from(PLACE_KEY.as_bytes());
    ops.push(Op { table: view.tables.meta.clone(), key, value: Some(place.into()) });
    upgrade.write(ops, Durability::Process)?;
    Ok(Some((blocks, reached)))
}

fn add_rows(view: &View, key: &[u8], ops: &mut Vec<Op>) -> Result<(), Error> {
    let place = block_of(key)?;
    let groups = groups_of(&view.snapshot, &view.tables, place)?;
    let body = BodyReader::of_groups(view, place, &groups)?;
    let read = view.block_with_body(place, body, BlockParts::Everything)?;
    let Some((block, proof)) = read else { return Ok(()) };
    let (chain, _) = place;
    let block = prepare(chain, VerifiedBlock { block, proof, facts: Facts::default() });
    block.for_each_index_row(chain, |index, key, value| {
        let table = index.table(&view.tables).clone();
        ops.push(Op { table, key: Slice::from(key), value: Some(value.into()) });
    });
    Ok(())
}
