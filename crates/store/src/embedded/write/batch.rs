//! One commit: rows to write and to remove, counts, coverage and journal entries, all in one atomic
//! batch.

use std::collections::BTreeSet;
use std::sync::Arc;

use alloy_primitives::map::HashSet;
use alloy_primitives::{Address, B256};
use model::chain::ChainId;

use super::block_rows::{BlockRows, PackedBlock};
use super::pools::{LastWitness, PoolNews};
use crate::Error;
use crate::change::Committed;
use crate::coverage::Coverage;
use crate::embedded::codec::journal::{pack_entry, pack_version};
use crate::embedded::codec::pack_coverage;
use crate::embedded::engine::{Durability, Op, Slice, Table};
use crate::embedded::keys;
use crate::embedded::open::Store;
use crate::embedded::open_db::{ChainAt, OpenDb};
use crate::embedded::read::View;
use crate::embedded::runs::{Run, RunBuilder};
use crate::embedded::segments::{PackedBody, Place, SegmentChange};
use crate::embedded::tables::Tables;
use crate::embedded::wallet_changes::ChangedPlaces;
use crate::generations::{Fingerprint, Generations};
use crate::journal::{Entry, EntryKind, Origin, Version};

/// A wallet's row to be written or removed, sorted as its key is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WalletRow {
    pub address: Address,
    inverted_number: u64,
    inverted_index: u32,
    pub direct: bool,
    /// 1 or -1; a row that is removed and written again is written last.
    pub sign: i8,
}

impl WalletRow {
    pub fn number(&self) -> u64 {
        !self.inverted_number
    }
}

pub struct Batch<'a> {
    pub(super) store: &'a Store,
    pub(super) open: Arc<OpenDb>,
    pub(super) tables: Arc<Tables>,
    pub(super) chain: ChainId,
    origin: Origin,
    pub(super) ops: Vec<Op>,
    /// Bodies that are written and removed.
    segments: SegmentChange,
    /// Set by a removal: a key may then be written again, and only the last of the two counts.
    pub(super) removes: bool,
    /// Blocks are changed or removed.
    rewrites: bool,
    pub(super) wallets: Vec<WalletRow>,
    changed: ChangedPlaces,
    /// Index rows that are not written one by one.
    run: RunBuilder,
    sorted_run: Option<Run>,
    /// Blocks whose rows in index files count no more.
    taken_out: Vec<u64>,
    pub(super) pools: PoolNews,
    pub(super) coverage: Coverage,
    pub(super) generations: Generations,
    /// As they stand in the store.
    known_generations: Generations,
    /// Who found the facts of the blocks to be applied.
    decoder: Fingerprint,
    pub(super) seq: u64,
    entries: Vec<Entry>,
    /// The one that this batch writes, if it does.
    version: Option<Version>,
}

impl<'a> Batch<'a> {
    pub fn new(
        store: &'a Store,
        chain: ChainId,
        view: &View,
        origin: Origin,
    ) -> Result<Self, Error> {
        let generations = view.generations(chain)?;
        let open = store.inner.database()?;
        let segments = SegmentChange::new(&open.segments, BTreeSet::new());
        Ok(Batch {
            store,
            open,
            tables: view.tables.clone(),
            chain,
            origin,
            ops: Vec::new(),
            segments,
            removes: false,
            rewrites: false,
            wallets: Vec::new(),
            changed: ChangedPlaces::default(),
            run: RunBuilder::default(),
            sorted_run: None,
            taken_out: Vec::new(),
            pools: PoolNews::default(),
            coverage: view.coverage(chain)?,
            generations,
            known_generations: generations,
            decoder: store.decoder(chain),
            seq: view.version(chain)?.seq,
            entries: Vec::new(),
            version: None,
        })
    }

    fn note(&mut self, kind: EntryKind, number: u64, hash: B256) {
        let origin = self.origin;
        self.append(Entry { seq: 0, kind, origin, number, hash });
    }

    /// With the next sequence.
    pub(super) fn append(&mut self, entry: Entry) {
        self.seq += 1;
        self.entries.push(Entry { seq: self.seq, ..entry });
    }

    pub(super) fn put(&mut self, table: &Table, key: impl AsRef<[u8]>, value: Vec<u8>) {
        let key = Slice::from(key.as_ref());
        self.ops.push(Op { table: table.clone(), key, value: Some(value.into()) });
    }

    pub(super) fn drop_key(&mut self, table: &Table, key: impl AsRef<[u8]>) {
        self.ops.push(Op { table: table.clone(), key: Slice::from(key.as_ref()), value: None });
    }

    pub fn apply(&mut self, block: &PackedBlock) {
        let (number, hash) = (block.head.number, block.head.hash);
        self.put_block(block);
        self.coverage.insert(number);
        self.note(EntryKind::Apply, number, hash);
    }

    /// `block` is prepared from what is stored.
    pub fn revert(&mut self, block: PackedBlock, view: &View) -> Result<(), Error> {
        let (number, hash) = (block.head.number, block.head.hash);
        self.drop_block(block, view)?;
        self.coverage.remove(number);
        self.note(EntryKind::Revert, number, hash);
        Ok(())
    }

    /// `stored` is prepared from what is stored, `block` is what takes its place.
    pub fn amend(
        &mut self,
        stored: PackedBlock,
        block: &PackedBlock,
        view: &View,
    ) -> Result<(), Error> {
        let (number, hash) = (block.head.number, block.head.hash);
        self.drop_block(stored, view)?;
        self.put_block(block);
        self.note(EntryKind::Amend, number, hash);
        Ok(())
    }

    /// `block` has its body packed.
    fn put_block(&mut self, block: &PackedBlock) {
        let (chain, number) = (self.chain, block.head.number);
        let t = self.tables.clone();
        if block.head.is_untraced() {
            self.put(&t.untraced, keys::newest_first(chain, number), Vec::new());
        }
        let in_run = self.is_in_bulk();
        if in_run {
            block.add_to_run(chain, &t, &mut self.run);
        }
        block.for_each_index_row(chain, |index, key, value| {
            let table = index.table(&t);
            if !(in_run && table.in_runs().is_some()) {
                self.put(table, key, value.to_vec());
            }
        });
        let by_hash = keys::by_hash(chain, block.head.hash);
        self.put(&t.block_by_hash, by_hash, number.to_be_bytes().to_vec());
        self.put(&t.block_by_time, keys::by_time(chain, block.head.timestamp, number), Vec::new());
        let rows = &block.rows;
        rows.wallets.iter().for_each(|party| self.changed.add(party.address));
        if !in_run {
            self.note_wallets(number, rows, 1);
        }
        if let Some(body) = &rows.body {
            self.put_body(number, body);
        }
        self.put(&t.headers, keys::block(chain, number), rows.header.clone());
        self.generations.add_from(self.decoder);
        for generation in self.generations.written() {
            self.put_facts(generation, number, &rows.facts);
        }
    }

    pub(super) fn drop_block(&mut self, block: PackedBlock, view: &View) -> Result<(), Error> {
        (self.removes, self.rewrites) = (true, true);
        let (chain, number) = (self.chain, block.head.number);
        let is_in_file = self.open.files.now().has_block(chain, number);
        if is_in_file {
            self.taken_out.push(number);
        }
        let t = self.tables.clone();
        if block.head.is_untraced() {
            self.drop_key(&t.untraced, keys::newest_first(chain, number));
        }
        block.for_each_index_row(chain, |index, key, _| {
            let table = index.table(&t);
            if !(is_in_file && table.in_runs().is_some()) {
                self.drop_key(table, key);
            }
        });
        self.drop_key(&t.headers, keys::block(chain, number));
        self.drop_key(&t.block_by_hash, keys::by_hash(chain, block.head.hash));
        self.drop_key(&t.block_by_time, keys::by_time(chain, block.head.timestamp, number));
        self.drop_body(number, view)?;
        block.rows.wallets.iter().for_each(|party| self.changed.add(party.address));
        if !is_in_file {
            self.note_wallets(number, &block.rows, -1);
        }
        for generation in self.generations.written() {
            self.drop_facts(view, generation, number)?;
        }
        Ok(())
    }

    /// Near the head it stays with its row: it may be reverted, and a commit waits for the disk once. All others
    /// are written where they stay.
    fn put_body(&mut self, number: u64, body: &PackedBody) {
        let (t, key) = (self.tables.clone(), keys::block(self.chain, number));
        if self.origin == Origin::Head {
            self.put(&t.bodies, key, body.inline_row());
            self.put(&t.unfrozen, key, Vec::new());
        } else {
            let row = self.segments.append((self.chain, number), body.clone());
            self.put(&t.bodies, key, row.pack());
        }
    }

    fn drop_body(&mut self, number: u64, view: &View) -> Result<(), Error> {
        let (t, key) = (self.tables.clone(), keys::block(self.chain, number));
        let Some(body) = view.body(self.chain, number)? else { return Ok(()) };
        self.drop_key(&t.bodies, key);
        match body.row().place {
            Place::Inline => self.drop_key(&t.unfrozen, key),
            place => self.segments.free(place, body.row().body_bytes()),
        }
        Ok(())
    }

    /// Whether index rows go into a run. Near the head they are few, and are soon asked for; with rows that go, their
    /// order matters.
    fn is_in_bulk(&self) -> bool {
        self.origin != Origin::Head && !self.removes && self.run.has_room()
    }

    fn note_wallets(&mut self, number: u64, rows: &BlockRows, sign: i8) {
        self.wallets.extend(rows.wallets.iter().map(|party| WalletRow {
            address: party.address,
            inverted_number: !number,
            inverted_index: !party.index,
            direct: party.direct,
            sign,
        }));
    }

    /// In key order: neighbours go in one after the other, and the memory they touch is still warm.
    pub(super) fn write_wallets(&mut self) -> Result<(), Error> {
        let mut rows = std::mem::take(&mut self.wallets);
        rows.sort_unstable();
        let t = self.tables.clone();
        for row in &rows {
            let table = if row.direct { &t.wallet_txs } else { &t.wallet_internal };
            let key = keys::wallet(self.chain, row.address, row.number(), !row.inverted_index);
            if row.sign > 0 {
                self.put(table, key, Vec::new());
            } else {
                self.drop_key(table, key);
            }
        }
        rows.chunk_by(|a, b| a.address == b.address).try_for_each(|run| self.write_counts(run))
    }

    pub fn commit(mut self, view: &View) -> Result<Committed, Error> {
        self.get_ready(view)?;
        self.commit_ready()
    }

    /// All that can be done of it before it is written.
    pub fn get_ready(&mut self, view: &View) -> Result<(), Error> {
        if self.entries.is_empty() {
            return Ok(());
        }
        self.write_wallets()?;
        self.settle_pools(view, LastWitness::Forget)?;
        let t = self.tables.clone();
        for entry in self.entries.clone() {
            self.put(&t.journal, keys::block(self.chain, entry.seq), pack_entry(&entry));
        }
        self.prune_journal(view)?;
        self.put_coverage();
        if self.generations != self.known_generations {
            self.put_generations(self.generations);
        } else {
            self.put_version(self.generations.current);
        }
        self.sort_run();
        Ok(())
    }

    /// Bodies that are on disk already when it is written need not be waited for then.
    pub fn append_bodies(&mut self) -> Result<(), Error> {
        self.store.inner.append_bodies(&mut self.segments)
    }

    /// Whether the engine was not opened anew since this was begun.
    pub fn is_of_open_engine(&self) -> bool {
        self.store.inner.database().is_ok_and(|open| Arc::ptr_eq(&open, &self.open))
    }

    /// One that is ready.
    pub fn commit_ready(mut self) -> Result<Committed, Error> {
        let (entries, coverage) = (std::mem::take(&mut self.entries), self.coverage.clone());
        if !entries.is_empty() {
            self.write(Durability::Disk)?;
        }
        Ok(Committed { entries, coverage })
    }

    /// Nothing is added to it afterwards.
    fn sort_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        if run.is_empty() {
            return;
        }
        let run = run.finish(self.chain, self.seq);
        let table = self.tables.index_runs.clone();
        self.put(&table, keys::block(self.chain, self.seq), pack_coverage(&run.blocks));
        self.sorted_run = Some(run);
    }

    pub(super) fn put_coverage(&mut self) {
        let table = self.tables.coverage.clone();
        if self.coverage.is_empty() {
            self.drop_key(&table, keys::chain(self.chain));
        } else {
            self.put(&table, keys::chain(self.chain), pack_coverage(&self.coverage));
        }
    }

    /// Entries that every reader has passed, a few with each commit.
    fn prune_journal(&mut self, view: &View) -> Result<(), Error> {
        let slowest = view.readers(self.chain)?.into_iter().map(|(_, cursor)| cursor.seq).min();
        let keep = self.seq.saturating_sub(self.store.inner.options.journal_entries_min);
        // What this commit writes stays until the next: one batch must not write and remove a key.
        let known = self.seq.saturating_sub(self.entries.len() as u64);
        let last = slowest.unwrap_or(keep).min(keep).min(known);
        let tail = view.journal_tail(self.chain)?;
        let upto = last.min(tail.saturating_add(2 * self.entries.len() as u64 + 64));
        if upto < tail {
            return Ok(());
        }
        let t = self.tables.clone();
        for seq in tail..=upto {
            self.drop_key(&t.journal, keys::block(self.chain, seq));
        }
        let tail = (upto + 1).to_be_bytes().to_vec();
        self.put(&t.meta, keys::journal_tail(self.chain), tail);
        Ok(())
    }

    pub(super) fn put_version(&mut self, generation: u8) {
        let table = self.tables.meta.clone();
        let version = Version { seq: self.seq, generation };
        self.version = Some(version);
        self.put(&table, keys::version(self.chain), pack_version(version));
    }

    pub(super) fn put_generations(&mut self, generations: Generations) {
        let table = self.tables.generations.clone();
        let row = crate::embedded::codec::generations::pack(&generations);
        self.put(&table, keys::chain(self.chain), row);
        self.put_version(generations.current);
    }

    pub(super) fn write(mut self, durability: Durability) -> Result<(), Error> {
        self.sort_run();
        if self.removes {
            self.keep_last_of_each_key();
        }
        let inner = &self.store.inner;
        if self.version.is_some() {
            inner.versions.forget(self.chain);
        }
        let (chain, seq, newest) = (self.chain, self.seq, self.coverage.newest());
        let at = Some(ChainAt { chain, seq, newest });
        self.open.wallet_changes.note(chain, &self.changed, seq);
        if self.rewrites {
            self.open.bodies.txs.note_rewrite(chain, seq);
        }
        // Before the write: no snapshot may show a commit whose rows are missing.
        let has_run = self.sorted_run.is_some();
        if let Some(run) = self.sorted_run.take() {
            self.open.runs.push(Arc::new(run));
        }
        let (ops, segments, open) = (self.ops, self.segments, &self.open);
        let write = |ops| inner.write_bodies(ops, segments, durability, at);
        let written = match open.files.without_blocks(chain, &self.taken_out) {
            Some(change) => open.write_files(ops, &change, write),
            None => write(ops),
        };
        if has_run && written.is_err() {
            self.open.runs.withdraw(chain, seq);
        }
        written?;
        for (generation, id) in self.pools.unlearned {
            inner.known_pools.remove(&(chain, generation, id));
        }
        for (generation, id) in self.pools.known {
            inner.known_pools.insert((chain, generation, id), ());
        }
        if let Some(version) = self.version {
            inner.versions.set(self.chain, version);
        }
        inner.announcements.announce(self.chain, self.seq);
        Ok(())
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
