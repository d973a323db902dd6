//! Applying and reverting blocks.
//!
//! `prepare` turns a block into rows: pure, and done by many workers at once. `Store::commit` writes
//! prepared blocks, takes others back, and appends the journal, in one atomic batch. Taking a block
//! back prepares it again from what is stored and removes the same rows.

use alloy_primitives::map::{HashMap, HashSet};
use alloy_primitives::{Address, B256};
use fjall::{Keyspace, PersistMode};
use model::chain::ChainId;
use model::proof::Proof;
use model::raw::{Block, Receipt};
use model::wallets::parties;

use crate::counts::{Count, Deltas, apply};
use crate::coverage::Coverage;
use crate::journal::{Entry, EntryKind};
use crate::open::Store;
use crate::rows::{Stamp, pack_frames, pack_header, pack_logs, pack_tx};
use crate::{Error, keys};

/// A block as rows, ready to be written or removed.
pub struct Prepared {
    pub number: u64,
    pub hash: B256,
    pub parent_hash: B256,
    pub timestamp: u64,
    pub tx_count: u32,
    header: Vec<u8>,
    txs: Vec<Vec<u8>>,
    logs: Vec<(u32, Vec<u8>)>,
    traces: Vec<(u32, Vec<u8>)>,
    wallets: Vec<Party>,
}

struct Party {
    address: Address,
    index: u32,
    direct: bool,
}

impl Prepared {
    /// Memory held, for those who keep many waiting.
    pub fn bytes(&self) -> usize {
        let rows = self.txs.iter().chain(self.logs.iter().map(|(_, row)| row));
        let rows = rows.chain(self.traces.iter().map(|(_, row)| row));
        rows.map(Vec::len).sum::<usize>() + self.header.len() + self.wallets.len() * 28
    }
}

pub fn prepare(chain: ChainId, block: &Block, proof: Proof) -> Prepared {
    let stamp = Stamp {
        number: block.number,
        hash: block.hash,
        timestamp: block.timestamp,
        proof,
        tx_count: block.txs.len() as u32,
        has_traces: block.traces.is_some(),
    };
    let mut prepared = Prepared {
        number: block.number,
        hash: block.hash,
        parent_hash: block.parent_hash,
        timestamp: block.timestamp,
        tx_count: stamp.tx_count,
        header: pack_header(&stamp, &block.header),
        txs: Vec::with_capacity(block.txs.len()),
        logs: Vec::new(),
        traces: Vec::new(),
        wallets: Vec::with_capacity(block.txs.len() * 2),
    };
    for (i, tx) in block.txs.iter().enumerate() {
        let index = i as u32;
        let receipt = block.receipts.get(i).and_then(Option::as_ref);
        let mut frames = block.traces.iter().flatten().nth(i).map_or(&[][..], Vec::as_slice);
        prepared.add_parties(index, &parties(tx, receipt, frames));
        let bare = receipt.map(|r| without_logs(r, proof));
        let bare = bare.as_ref().map(|(receipt, of_logs)| (receipt, *of_logs));
        prepared.txs.push(pack_tx(&stamp, chain, index, tx, bare));
        if let Some(logs) = receipt.and_then(|r| r.logs.as_ref()).filter(|l| !l.is_empty()) {
            prepared.logs.push((index, pack_logs(tx, logs)));
        }
        // The root repeats the transaction. A block read back from the store has none.
        if frames.first().is_some_and(|f| f.path.is_empty()) {
            frames = frames.get(1..).unwrap_or_default();
        }
        if !frames.is_empty() {
            prepared.traces.push((index, pack_frames(frames)));
        }
    }
    prepared
}

/// In a verified block a receipt's bloom is that of its logs, so it need not be kept.
fn without_logs(receipt: &Receipt, proof: Proof) -> (Receipt, bool) {
    let mut bare = Receipt { logs: None, ..receipt.clone() };
    if receipt.logs.as_ref().is_some_and(Vec::is_empty) {
        bare.logs = Some(Vec::new());
    }
    let of_logs = proof.has(Proof::RECEIPTS) && bare.logs_bloom.is_some();
    if of_logs {
        bare.logs_bloom = None;
    }
    (bare, of_logs)
}

impl Prepared {
    fn add_parties(&mut self, index: u32, parties: &model::wallets::Parties) {
        let direct = parties.direct.iter().map(|a| (*a, true));
        let internal = parties.internal.iter().map(|a| (*a, false));
        for (address, direct) in direct.chain(internal) {
            self.wallets.push(Party { address, index, direct });
        }
    }
}

/// What one commit does: first take back, newest first, then apply.
#[derive(Default)]
pub struct Change {
    pub revert: Vec<u64>,
    pub apply: Vec<Prepared>,
}

/// What a commit did, told after it is durable.
#[derive(Debug, Clone, PartialEq)]
pub struct Committed {
    pub entries: Vec<Entry>,
    pub coverage: Coverage,
}

impl Store {
    /// Blocks that are stored already with the same hash are passed over. Every block must fit its
    /// stored neighbours; nothing is written otherwise.
    pub fn commit(&self, chain: ChainId, change: Change) -> Result<Committed, Error> {
        let _one_at_a_time = self.inner.writing.lock().unwrap_or_else(|broken| broken.into_inner());
        let view = self.view();
        let mut work = Work {
            store: self,
            chain,
            ops: Vec::new(),
            reverts: !change.revert.is_empty(),
            deltas: Deltas::default(),
            coverage: view.coverage(chain)?,
            seq: view.journal_head(chain)?,
            entries: Vec::new(),
        };
        for number in &change.revert {
            let (block, proof) =
                view.block_for_revert(chain, *number)?.ok_or(Error::NotStored { number: *number })?;
            work.remove(&prepare(chain, &block, proof));
        }
        let fresh = fitting(&view, chain, &change)?;
        for block in change.apply.into_iter().filter(|block| fresh.contains(&block.number)) {
            work.insert(block);
        }
        work.finish()
    }
}

/// The blocks to write, after checking each against its neighbours, stored or in this change.
fn fitting(view: &crate::View, chain: ChainId, change: &Change) -> Result<HashSet<u64>, Error> {
    let stored = |number: u64| match change.revert.contains(&number) {
        true => Ok(None),
        false => view.stamp(chain, number),
    };
    let in_change: HashMap<u64, &Prepared> =
        change.apply.iter().map(|block| (block.number, block)).collect();
    let mut fresh = HashSet::default();
    for block in &change.apply {
        let number = block.number;
        if let Some(present) = stored(number)? {
            if present.hash == block.hash {
                continue;
            }
            return Err(Error::Occupied { number, stored: present.hash });
        }
        if let Some(below) = number.checked_sub(1) {
            let parent = match in_change.get(&below) {
                Some(parent) => Some(parent.hash),
                None => stored(below)?.map(|stamp| stamp.hash),
            };
            if let Some(parent) = parent.filter(|hash| *hash != block.parent_hash) {
                let (expected, got) = (parent, block.parent_hash);
                return Err(Error::Detached { number, neighbour: below, expected, got });
            }
        }
        let above = number.saturating_add(1);
        if !in_change.contains_key(&above)
            && !change.revert.contains(&above)
            && let Some(child) = view.parent_hash(chain, above)?
            && child != block.hash
        {
            let (expected, got) = (child, block.hash);
            return Err(Error::Detached { number, neighbour: above, expected, got });
        }
        fresh.insert(number);
    }
    Ok(fresh)
}

/// One write: no value means removal.
struct Op {
    table: Keyspace,
    key: Vec<u8>,
    value: Option<Vec<u8>>,
}

/// A commit in the making.
struct Work<'a> {
    store: &'a Store,
    chain: ChainId,
    ops: Vec<Op>,
    /// A key may then be removed and written again; only the last of the two counts.
    reverts: bool,
    deltas: Deltas,
    coverage: Coverage,
    seq: u64,
    entries: Vec<Entry>,
}

impl Work<'_> {
    fn note(&mut self, kind: EntryKind, number: u64, hash: B256) {
        self.seq += 1;
        self.entries.push(Entry { seq: self.seq, kind, number, hash });
    }

    fn put(&mut self, table: &Keyspace, key: Vec<u8>, value: Vec<u8>) {
        self.ops.push(Op { table: table.clone(), key, value: Some(value) });
    }

    fn insert(&mut self, block: Prepared) {
        let (chain, number) = (self.chain, block.number);
        let t = self.store.inner.tables.clone();
        self.count(&block, 1);
        self.put(&t.headers, keys::block(chain, number), block.header);
        let by_hash = keys::by_hash(chain, block.hash);
        self.put(&t.block_by_hash, by_hash, number.to_be_bytes().to_vec());
        self.put(&t.block_by_time, keys::by_time(chain, block.timestamp, number), Vec::new());
        for (i, row) in block.txs.into_iter().enumerate() {
            self.put(&t.txs, keys::in_block(chain, number, i as u32), row);
        }
        for (index, row) in block.logs {
            self.put(&t.logs, keys::in_block(chain, number, index), row);
        }
        for (index, row) in block.traces {
            self.put(&t.traces, keys::in_block(chain, number, index), row);
        }
        for party in &block.wallets {
            let table = if party.direct { &t.wallet_txs } else { &t.wallet_internal };
            self.put(table, keys::wallet(chain, party.address, number, party.index), Vec::new());
        }
        self.coverage.insert(number);
        self.note(EntryKind::Apply, number, block.hash);
    }

    fn remove(&mut self, block: &Prepared) {
        let (chain, number) = (self.chain, block.number);
        let t = self.store.inner.tables.clone();
        let mut drop = |table: &Keyspace, key| {
            self.ops.push(Op { table: table.clone(), key, value: None });
        };
        drop(&t.headers, keys::block(chain, number));
        drop(&t.block_by_hash, keys::by_hash(chain, block.hash));
        drop(&t.block_by_time, keys::by_time(chain, block.timestamp, number));
        for index in 0..block.tx_count {
            drop(&t.txs, keys::in_block(chain, number, index));
        }
        for (index, _) in &block.logs {
            drop(&t.logs, keys::in_block(chain, number, *index));
        }
        for (index, _) in &block.traces {
            drop(&t.traces, keys::in_block(chain, number, *index));
        }
        for party in &block.wallets {
            let table = if party.direct { &t.wallet_txs } else { &t.wallet_internal };
            drop(table, keys::wallet(chain, party.address, number, party.index));
        }
        self.count(block, -1);
        self.coverage.remove(number);
        self.note(EntryKind::Revert, number, block.hash);
    }

    fn count(&mut self, block: &Prepared, sign: i64) {
        for party in &block.wallets {
            let (direct, internal) = if party.direct { (sign, 0) } else { (0, sign) };
            self.deltas.add(party.address, block.number, direct, internal);
        }
    }

    fn finish(mut self) -> Result<Committed, Error> {
        if self.entries.is_empty() {
            return Ok(Committed { entries: self.entries, coverage: self.coverage });
        }
        self.write_counts()?;
        let t = self.store.inner.tables.clone();
        for i in 0..self.entries.len() {
            if let Some(entry) = self.entries.get(i).copied() {
                self.put(&t.journal, keys::block(self.chain, entry.seq), entry.pack());
            }
        }
        self.put(&t.coverage, keys::chain(self.chain), self.coverage.pack());
        if self.reverts {
            self.keep_last_of_each_key();
        }
        let mut batch = self.store.inner.db.batch();
        for op in self.ops {
            match op.value {
                Some(value) => batch.insert(&op.table, op.key, value),
                None => batch.remove(&op.table, op.key),
            }
        }
        let mode = self.store.inner.durable.then_some(PersistMode::SyncAll);
        batch.durability(mode).commit()?;
        Ok(Committed { entries: self.entries, coverage: self.coverage })
    }

    fn write_counts(&mut self) -> Result<(), Error> {
        let table = self.store.inner.tables.wallet_counts.clone();
        let broken = || Error::BrokenRow { table: "wallet_counts" };
        for (key, is_total, delta) in std::mem::take(&mut self.deltas).into_sorted(self.chain) {
            let old = match table.get(&key)? {
                Some(row) => Count::unpack(&row).ok_or_else(broken)?,
                None => Count::default(),
            };
            let mut new = apply(old, delta).ok_or_else(broken)?;
            new.version = if is_total { self.seq } else { 0 };
            let value = (!new.is_zero()).then(|| new.pack());
            self.ops.push(Op { table: table.clone(), key, value });
        }
        Ok(())
    }

    /// All writes of a batch count as simultaneous, so a key must stand in it only once.
    fn keep_last_of_each_key(&mut self) {
        let mut seen = HashSet::<(u64, Vec<u8>)>::default();
        let mut kept = Vec::with_capacity(self.ops.len());
        for op in std::mem::take(&mut self.ops).into_iter().rev() {
            if seen.insert((op.table.id(), op.key.clone())) {
                kept.push(op);
            }
        }
        self.ops = kept;
    }
}
