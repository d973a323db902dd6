//! Format 3 to 4: journal entries say where they come from, blocks without traces stand in a queue, and
//! a chain's newest sequence and generation share a row.

use std::ops::Bound;

use model::chain::ChainId;

use super::{PLACE_KEY, Upgrade};
use crate::Error;
use crate::embedded::codec::journal::pack_version;
use crate::embedded::codec::rows::unpack_summary;
use crate::embedded::engine::{Durability, Op, Slice, Snapshot, Table};
use crate::embedded::keys;
use crate::journal::{Origin, Version};

/// An entry without an origin.
const OLD_ENTRY_BYTES: usize = 41;
const JOURNAL: u8 = 0;
/// Step 1 is the headers.
const VERSIONS: u8 = 2;

pub fn run(upgrade: &Upgrade) -> Result<(), Error> {
    let t = &upgrade.open.tables;
    let total = t.journal.rows() + t.headers.rows();
    let (mut step, mut last) = upgrade.place()?;
    let mut done = 0;
    while step < VERSIONS {
        let (table, change): (&Table, ChangeFn) = match step {
            JOURNAL => (&t.journal, add_origin),
            _ => (&t.headers, queue_untraced),
        };
        let (rows, reached) = change_some(upgrade, (step, &last), table, change)?;
        done += rows;
        upgrade.tell(done.min(total), total);
        match reached {
            Some(key) => last = key,
            None => (step, last) = (step + 1, Vec::new()),
        }
    }
    move_versions(upgrade)?;
    upgrade.tell(total, total);
    upgrade.finish()
}

/// What one row of the old format needs.
type ChangeFn = fn(&Upgrade, &[u8], &[u8]) -> Option<Op>;

/// Says how many rows were looked at, and the last of them; none where there are no more.
fn change_some(
    upgrade: &Upgrade,
    (step, last): (u8, &[u8]),
    table: &Table,
    change: ChangeFn,
) -> Result<(u64, Option<Vec<u8>>), Error> {
    let from = if last.is_empty() { Bound::Unbounded } else { Bound::Excluded(last) };
    let snapshot = Snapshot::of(&upgrade.open.db);
    let mut ops = Vec::new();
    let (mut rows, mut reached) = (0, None);
    let some = snapshot.range::<&[u8]>(table, (from, Bound::Unbounded)).take(upgrade.rows_at_once);
    for item in some {
        let (key, value) = item.into_inner()?;
        ops.extend(change(upgrade, &key, &value));
        rows += 1;
        reached = Some(key.to_vec());
    }
    let place = match &reached {
        Some(key) => [&[step], key.as_slice()].concat(),
        None => vec![step + 1],
    };
    let key = Slice::from(PLACE_KEY.as_bytes());
    ops.push(Op { table: upgrade.open.tables.meta.clone(), key, value: Some(place.into()) });
    upgrade.write(ops, Durability::Process)?;
    Ok((rows, reached))
}

/// Where blocks of older builds came from was not written down.
fn add_origin(upgrade: &Upgrade, key: &[u8], value: &[u8]) -> Option<Op> {
    if value.len() != OLD_ENTRY_BYTES {
        return None;
    }
    let value = [value, &[Origin::History as u8]].concat();
    let table = upgrade.open.tables.journal.clone();
    Some(Op { table, key: Slice::from(key), value: Some(value.into()) })
}

fn queue_untraced(upgrade: &Upgrade, key: &[u8], value: &[u8]) -> Option<Op> {
    let (chain, number) = key.split_first_chunk::<8>()?;
    let number = u64::from_be_bytes(number.try_into().ok()?);
    let summary = unpack_summary(number, &mut &*value)?;
    if summary.has_traces || summary.tx_count == 0 {
        return None;
    }
    let key = keys::newest_first(ChainId(u64::from_be_bytes(*chain)), number);
    let table = upgrade.open.tables.untraced.clone();
    Some(Op { table, key: Slice::from(key), value: Some(Slice::empty()) })
}

/// The journal's newest sequence had a row of its own, `head/` and the chain.
fn move_versions(upgrade: &Upgrade) -> Result<(), Error> {
    let meta = &upgrade.open.tables.meta;
    let snapshot = Snapshot::of(&upgrade.open.db);
    let mut ops = Vec::new();
    for item in snapshot.prefix(meta, "head/") {
        let (key, value) = item.into_inner()?;
        let broken = Error::Broken { what: "newest sequence of the journal" };
        let chain = keys::last_number(&key).map(ChainId);
        let Some((chain, seq)) = chain.zip(keys::last_number(&value)) else { return Err(broken) };
        let generations = snapshot.get(&upgrade.open.tables.generations, keys::chain(chain))?;
        // The generation in use stands first in its row.
        let generation = generations.and_then(|row| row.first().copied()).unwrap_or_default();
        let row = pack_version(Version { seq, generation });
        let version = Slice::from(keys::version(chain));
        ops.push(Op { table: meta.clone(), key: version, value: Some(row.into()) });
        ops.push(Op { table: meta.clone(), key, value: None });
    }
    upgrade.write(ops, Durability::Process)
}
