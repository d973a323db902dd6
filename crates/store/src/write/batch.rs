//! One commit in the making: rows to write and to remove, counts, coverage and journal entries,
//! all in one atomic batch.

use alloy_primitives::B256;
use alloy_primitives::map::HashSet;
use fjall::{Keyspace, PersistMode};
use model::chain::ChainId;

use super::{Committed, Prepared};
use crate::counts::{Delta, Deltas};
use crate::coverage::Coverage;
use crate::journal::{Entry, EntryKind};
use crate::open::Store;
use crate::read::View;
use crate::{Error, keys};

/// One write: no value means removal.
struct Op {
    table: Keyspace,
    key: Vec<u8>,
    value: Option<Vec<u8>>,
}

pub struct Batch<'a> {
    pub(super) store: &'a Store,
    pub(super) chain: ChainId,
    ops: Vec<Op>,
    /// Set by a removal: a key may then be written again, and only the last of the two counts.
    reverts: bool,
    pub(super) deltas: Deltas,
    coverage: Coverage,
    pub(super) seq: u64,
    entries: Vec<Entry>,
}

impl<'a> Batch<'a> {
    pub fn new(store: &'a Store, chain: ChainId, view: &View) -> Result<Self, Error> {
        Ok(Batch {
            store,
            chain,
            ops: Vec::new(),
            reverts: false,
            deltas: Deltas::default(),
            coverage: view.coverage(chain)?,
            seq: view.journal_head(chain)?,
            entries: Vec::new(),
        })
    }

    fn note(&mut self, kind: EntryKind, number: u64, hash: B256) {
        self.seq += 1;
        self.entries.push(Entry { seq: self.seq, kind, number, hash });
    }

    pub(super) fn put(&mut self, table: &Keyspace, key: Vec<u8>, value: Vec<u8>) {
        self.ops.push(Op { table: table.clone(), key, value: Some(value) });
    }

    pub(super) fn drop_key(&mut self, table: &Keyspace, key: Vec<u8>) {
        self.ops.push(Op { table: table.clone(), key, value: None });
    }

    pub fn insert(&mut self, block: Prepared) {
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

    pub fn remove(&mut self, block: &Prepared) {
        self.reverts = true;
        let (chain, number) = (self.chain, block.number);
        let t = self.store.inner.tables.clone();
        let mut drop = |table: &Keyspace, key| self.drop_key(table, key);
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
            self.deltas.add(party.address, block.number, Delta::of(party.direct, sign));
        }
    }

    pub fn commit(mut self) -> Result<Committed, Error> {
        if self.entries.is_empty() {
            return Ok(Committed { entries: self.entries, coverage: self.coverage });
        }
        self.write_counts()?;
        let t = self.store.inner.tables.clone();
        for entry in self.entries.clone() {
            self.put(&t.journal, keys::block(self.chain, entry.seq), entry.pack());
        }
        let coverage = (!self.coverage.is_empty()).then(|| self.coverage.pack());
        let key = keys::chain(self.chain);
        self.ops.push(Op { table: t.coverage.clone(), key, value: coverage });
        if self.reverts {
            self.keep_last_of_each_key();
        }
        // Neighbours in a table go in one after the other: the memory they touch is still warm.
        self.ops.sort_unstable_by(|a, b| (a.table.id(), &a.key).cmp(&(b.table.id(), &b.key)));
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
