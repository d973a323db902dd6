//! One commit in the making: rows to write and to remove, counts, coverage and journal entries,
//! all in one atomic batch.

use alloy_primitives::map::HashSet;
use alloy_primitives::{Address, B256};
use fjall::{Keyspace, PersistMode, Slice};
use model::chain::ChainId;

use super::{Committed, Prepared};
use crate::Error;
use crate::coverage::Coverage;
use crate::embedded::codec::pack_coverage;
use crate::embedded::generations::{Fingerprint, Generations};
use crate::embedded::journal::{Entry, EntryKind};
use crate::embedded::keys;
use crate::embedded::open::Store;
use crate::embedded::read::View;

/// One write: no value means removal.
struct Op {
    table: Keyspace,
    key: Slice,
    value: Option<Vec<u8>>,
}

/// A wallet's row to be written or taken back, sorted as its key is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WalletRow {
    pub address: Address,
    inverted_number: u64,
    inverted_index: u32,
    pub direct: bool,
    /// 1 or -1.
    pub sign: i8,
}

impl WalletRow {
    pub fn number(&self) -> u64 {
        !self.inverted_number
    }
}

pub struct Batch<'a> {
    pub(super) store: &'a Store,
    pub(super) chain: ChainId,
    ops: Vec<Op>,
    /// Set by a removal: a key may then be written again, and only the last of the two counts.
    pub(super) reverts: bool,
    pub(super) wallets: Vec<WalletRow>,
    coverage: Coverage,
    pub(super) generations: Generations,
    /// As they stand in the store.
    known_generations: Generations,
    /// Who found the facts of the blocks to be applied.
    decoder: Fingerprint,
    pub(super) seq: u64,
    entries: Vec<Entry>,
}

impl<'a> Batch<'a> {
    pub fn new(store: &'a Store, chain: ChainId, view: &View) -> Result<Self, Error> {
        let generations = view.generations(chain)?;
        Ok(Batch {
            store,
            chain,
            ops: Vec::new(),
            reverts: false,
            wallets: Vec::new(),
            coverage: view.coverage(chain)?,
            generations,
            known_generations: generations,
            decoder: store.decoder(chain),
            seq: view.journal_head(chain)?,
            entries: Vec::new(),
        })
    }

    fn note(&mut self, kind: EntryKind, number: u64, hash: B256) {
        self.seq += 1;
        self.entries.push(Entry { seq: self.seq, kind, number, hash });
    }

    pub(super) fn put(&mut self, table: &Keyspace, key: impl AsRef<[u8]>, value: Vec<u8>) {
        let key = Slice::from(key.as_ref());
        self.ops.push(Op { table: table.clone(), key, value: Some(value) });
    }

    pub(super) fn drop_key(&mut self, table: &Keyspace, key: impl AsRef<[u8]>) {
        self.ops.push(Op { table: table.clone(), key: Slice::from(key.as_ref()), value: None });
    }

    pub fn insert(&mut self, block: Prepared) {
        let (chain, number) = (self.chain, block.number);
        let t = self.store.inner.tables.clone();
        self.note_wallets(&block, 1);
        self.put(&t.headers, keys::block(chain, number), block.header);
        let by_hash = keys::by_hash(chain, block.hash);
        self.put(&t.block_by_hash, by_hash, number.to_be_bytes().to_vec());
        self.put(&t.block_by_time, keys::by_time(chain, block.timestamp, number), Vec::new());
        for (table, rows) in [(&t.txs, block.txs), (&t.logs, block.logs), (&t.traces, block.traces)]
        {
            for (group, row) in rows {
                self.put(table, keys::in_block(chain, number, group), row);
            }
        }
        self.generations.add_from(self.decoder);
        for generation in self.generations.written() {
            self.put_facts(generation, number, &block.facts);
        }
        self.coverage.insert(number);
        self.note(EntryKind::Apply, number, block.hash);
    }

    pub fn remove(&mut self, block: &Prepared, view: &View) -> Result<(), Error> {
        self.reverts = true;
        let (chain, number) = (self.chain, block.number);
        let t = self.store.inner.tables.clone();
        self.drop_key(&t.headers, keys::block(chain, number));
        self.drop_key(&t.block_by_hash, keys::by_hash(chain, block.hash));
        self.drop_key(&t.block_by_time, keys::by_time(chain, block.timestamp, number));
        for (table, rows) in
            [(&t.txs, &block.txs), (&t.logs, &block.logs), (&t.traces, &block.traces)]
        {
            for (group, _) in rows {
                self.drop_key(table, keys::in_block(chain, number, *group));
            }
        }
        self.note_wallets(block, -1);
        for generation in self.generations.written() {
            self.drop_facts(view, generation, number)?;
        }
        self.coverage.remove(number);
        self.note(EntryKind::Revert, number, block.hash);
        Ok(())
    }

    fn note_wallets(&mut self, block: &Prepared, sign: i8) {
        let number = block.number;
        self.wallets.extend(block.wallets.iter().map(|party| WalletRow {
            address: party.address,
            inverted_number: !number,
            inverted_index: !party.index,
            direct: party.direct,
            sign,
        }));
    }

    /// In key order: neighbours go in one after the other, and the memory they touch is still warm.
    fn write_wallets(&mut self) -> Result<(), Error> {
        let mut rows = std::mem::take(&mut self.wallets);
        rows.sort_unstable();
        let t = self.store.inner.tables.clone();
        for row in &rows {
            let table = if row.direct { &t.wallet_txs } else { &t.wallet_internal };
            let key = keys::wallet(self.chain, row.address, row.number(), !row.inverted_index);
            match row.sign > 0 {
                true => self.put(table, key, Vec::new()),
                false => self.drop_key(table, key),
            }
        }
        rows.chunk_by(|a, b| a.address == b.address).try_for_each(|run| self.write_counts(run))
    }

    pub fn commit(mut self) -> Result<Committed, Error> {
        if self.entries.is_empty() {
            return Ok(Committed { entries: self.entries, coverage: self.coverage });
        }
        self.write_wallets()?;
        let t = self.store.inner.tables.clone();
        for entry in self.entries.clone() {
            self.put(&t.journal, keys::block(self.chain, entry.seq), entry.pack());
        }
        let head = self.seq.to_be_bytes().to_vec();
        self.put(&t.meta, keys::journal_head(self.chain), head);
        let coverage = (!self.coverage.is_empty()).then(|| pack_coverage(&self.coverage));
        let key = Slice::from(keys::chain(self.chain));
        self.ops.push(Op { table: t.coverage.clone(), key, value: coverage });
        if self.generations != self.known_generations {
            self.put_generations(self.generations);
        }
        let mode = self.store.inner.durable.then_some(PersistMode::SyncAll);
        let (entries, coverage) = (std::mem::take(&mut self.entries), self.coverage.clone());
        self.write(mode)?;
        Ok(Committed { entries, coverage })
    }

    pub(super) fn put_generations(&mut self, generations: Generations) {
        let table = self.store.inner.tables.generations.clone();
        self.put(&table, keys::chain(self.chain), generations.pack());
    }

    /// All of it or nothing, whatever happens meanwhile.
    pub(super) fn write(mut self, mode: Option<PersistMode>) -> Result<(), Error> {
        if self.reverts {
            self.keep_last_of_each_key();
        }
        let _writing = self.store.inner.editions.begin(self.chain);
        let mut batch =
            fjall::OwnedWriteBatch::with_capacity(self.store.inner.db.clone(), self.ops.len());
        for op in self.ops {
            match op.value {
                Some(value) => batch.insert(&op.table, op.key, value),
                None => batch.remove(&op.table, op.key),
            }
        }
        Ok(batch.durability(mode).commit().inspect_err(|_| self.store.forget_known_pools())?)
    }

    /// All writes of a batch count as simultaneous, so a key must stand in it only once.
    fn keep_last_of_each_key(&mut self) {
        let mut seen = HashSet::<(u64, Slice)>::default();
        let mut kept = Vec::with_capacity(self.ops.len());
        for op in std::mem::take(&mut self.ops).into_iter().rev() {
            if seen.insert((op.table.id(), op.key.clone())) {
                kept.push(op);
            }
        }
        self.ops = kept;
    }
}
