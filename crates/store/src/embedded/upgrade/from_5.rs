//! Format 5 to 6: transactions, logs and traces leave their tables and become bodies in segments; counts of wallets with
//! few rows go.
//!
//! Block by block, in the order of the headers. The old rows stay until the new format counts, and are then
//! cleared table by table: until then the folder holds both.

use std::collections::BTreeSet;
use std::ops::Bound;

use model::chain::ChainId;

use super::old_rows::{block_of, groups_of};
use super::{PLACE_KEY, Upgrade};
use crate::Error;
use crate::embedded::counts::Count;
use crate::embedded::engine::{Durability, Op, Slice, Snapshot, Table};
use crate::embedded::keys;
use crate::embedded::open_db::OpenDb;
use crate::embedded::segments::{Bodies, Dictionary, PackedBody, SegmentChange, train};

pub const BLOCKS_AT_ONCE: usize = 1024;
const COUNTS_AT_ONCE: usize = 20_000;
/// A part ends earlier where its bodies are large.
const APPEND_BYTES_MAX: usize = 16 << 20;
/// Blocks that dictionaries are trained on, from all over the chain.
const SAMPLED_BLOCKS: u64 = 400;
/// The one step there is.
const BODIES: u8 = 0;

pub fn run(upgrade: &Upgrade) -> Result<(), Error> {
    let total = upgrade.open.tables.headers.rows();
    let (_, mut last) = upgrade.place()?;
    if last.is_empty() {
        train_all(upgrade)?;
    }
    let mut done = 0;
    loop {
        let (blocks, reached) = move_some(upgrade, &last)?;
        done += blocks;
        upgrade.tell(done.min(total), total);
        match reached {
            Some(key) => last = key,
            None => break,
        }
    }
    drop_counts_of_few(upgrade)?;
    upgrade.tell(total, total);
    upgrade.finish()
}

/// Only wallets with many rows are counted from here on, and no total says when it last changed. Doing it twice
/// changes nothing.
fn drop_counts_of_few(upgrade: &Upgrade) -> Result<(), Error> {
    let table = &upgrade.open.tables.wallet_counts;
    let mut ops = Vec::new();
    let mut is_kept = false;
    for item in Snapshot::of(&upgrade.open.db).iter(table) {
        let (key, row) = item.into_inner()?;
        let is_total = keys::is_total(&key);
        let count = Count::unpack(&row).ok_or(Error::Broken { what: "count of a wallet" })?;
        if is_total {
            is_kept = count.is_many();
        }
        if is_kept && !is_total {
            continue;
        }
        let value = is_kept.then(|| Slice::from(count.pack()));
        ops.push(Op { table: table.clone(), key, value });
        if ops.len() >= COUNTS_AT_ONCE {
            upgrade.write(std::mem::take(&mut ops), Durability::Process)?;
        }
    }
    upgrade.write(ops, Durability::Process)
}

/// What was cut off after the new format counted is done by the next start.
pub fn clear_old_tables(open: &OpenDb) -> Result<(), Error> {
    let t = &open.tables;
    let mut cleared = false;
    for table in [&t.txs, &t.logs, &t.traces] {
        if Snapshot::of(&open.db).iter(table).next().is_some() {
            table.clear()?;
            cleared = true;
        }
    }
    if cleared { open.persist().map_err(|failure| failure.error) } else { Ok(()) }
}

/// Says how many blocks were looked at, and the last of them; none where there are no more.
fn move_some(upgrade: &Upgrade, last: &[u8]) -> Result<(u64, Option<Vec<u8>>), Error> {
    let t = &upgrade.open.tables;
    let from = if last.is_empty() { Bound::Unbounded } else { Bound::Excluded(last) };
    let snapshot = Snapshot::of(&upgrade.open.db);
    let mut change = SegmentChange::new(&upgrade.open.segments, BTreeSet::new());
    let mut ops = Vec::new();
    let (mut blocks, mut reached) = (0, None);
    let headers = snapshot.range::<&[u8]>(&t.headers, (from, Bound::Unbounded));
    for item in headers.take(upgrade.rows_at_once) {
        let key = item.key()?;
        let block = block_of(&key)?;
        let groups = groups_of(&snapshot, t, block)?;
        let dictionaries = upgrade.open.bodies.newest_dictionaries(block.0);
        let body = PackedBody::pack(block, &groups, &dictionaries);
        if !body.is_empty() {
            let (table, key) = (t.bodies.clone(), key.clone());
            ops.push(Op { table, key, value: Some(change.append(block, body).pack().into()) });
        }
        blocks += 1;
        reached = Some(key.to_vec());
        if change.append_bytes() >= APPEND_BYTES_MAX {
            break;
        }
    }
    if let Some(key) = &reached {
        let place = [&[BODIES], key.as_slice()].concat();
        let key = Slice::from(PLACE_KEY.as_bytes());
        ops.push(Op { table: t.meta.clone(), key, value: Some(place.into()) });
        let written = upgrade.open.write_bodies(ops, change, Durability::Process, None);
        written.map_err(|failure| failure.error)?;
    }
    Ok((blocks, reached))
}

/// For every chain that has enough to learn from.
fn train_all(upgrade: &Upgrade) -> Result<(), Error> {
    let open = upgrade.open;
    let snapshot = Snapshot::of(&open.db);
    for chain in chains_of(&snapshot, &open.tables.headers)? {
        for number in sampled(&snapshot, &open.tables.headers, chain)? {
            let groups = groups_of(&snapshot, &open.tables, (chain, number))?;
            let known = open.bodies.newest_dictionaries(chain);
            open.bodies.samples.add(chain, Bodies::unlearned(&known), &groups);
        }
        for (kind, sample) in open.bodies.samples.take_full(chain) {
            let Some(bytes) = train(sample) else { continue };
            let id = open.bodies.next_dictionary_id();
            let row = Dictionary::pack_row((chain, kind), &bytes);
            let (table, key) = (open.tables.dictionaries.clone(), Slice::from(id.to_be_bytes()));
            upgrade.write(vec![Op { table, key, value: Some(row.into()) }], Durability::Disk)?;
            open.bodies.add_dictionary(Dictionary::new(id, (chain, kind), &bytes));
        }
    }
    Ok(())
}

fn chains_of(snapshot: &Snapshot, headers: &Table) -> Result<Vec<ChainId>, Error> {
    let mut chains = Vec::new();
    let mut next = Some(0u64);
    while let Some(from) = next {
        let mut rows = snapshot.range(headers, from.to_be_bytes().to_vec()..);
        let Some(key) = rows.next().map(|item| item.key()).transpose()? else { break };
        let (chain, _) = block_of(&key)?;
        chains.push(chain);
        next = chain.0.checked_add(1);
    }
    Ok(chains)
}

/// Numbers of blocks of a chain, evenly apart.
fn sampled(snapshot: &Snapshot, headers: &Table, chain: ChainId) -> Result<Vec<u64>, Error> {
    let mut numbers = Vec::new();
    let prefix = keys::chain(chain);
    let mut ends = snapshot.prefix(headers, prefix);
    let Some(first) = ends.next().map(|item| item.key()).transpose()? else { return Ok(numbers) };
    let newest = ends.next_back().map(|item| item.key()).transpose()?.unwrap_or(first.clone());
    let ((_, first), (_, newest)) = (block_of(&first)?, block_of(&newest)?);
    let step = ((newest - first) / SAMPLED_BLOCKS).max(1);
    let mut at = Some(first);
    while let Some(number) = at.filter(|number| *number <= newest) {
        let mut rows = snapshot.range(headers, keys::block(chain, number)..);
        let Some(key) = rows.next().map(|item| item.key()).transpose()? else { break };
        let (of, found) = block_of(&key)?;
        if of != chain {
            break;
        }
        numbers.push(found);
        at = found.checked_add(step);
    }
    Ok(numbers)
}
