//! Every write of blocks, whoever brings them: what must be reverted for them, in how many commits, and
//! what is counted of it.
//!
//! In: prepared blocks. Out: commits to the store. Must not know: nodes, or how a branch is found.

use std::sync::Arc;

use alloy_primitives::B256;
use model::chain::Chain;
use model::proof::Proof;
use store::{BlockSummary, Change, Coverage, EntryKind, Origin, PreparedBlock, Store, View};
use tokio::sync::{Mutex, MutexGuard};
use tracing::Instrument;

use crate::error::Error;
use crate::progress::{Progress, ReorgStatus};

/// Blocks reverted in one commit; more than this happens on dev chains that start over.
const REVERT_AT_ONCE: usize = 256;

pub(crate) struct Committer {
    store: Store,
    chain: Arc<Chain>,
    progress: Arc<Progress>,
    turn: Mutex<()>,
}

/// What a block that comes in would do to the store.
pub(crate) enum BlockUse {
    New,
    /// The same block is stored and lacks receipts, traces or proof that this one has.
    Completes,
    /// It is stored, and this one adds nothing.
    Known,
    /// Another block has its number.
    Other {
        stored: B256,
    },
}

/// The right to write, held from looking at the store to the commit that follows from it.
pub(crate) struct Turn<'a> {
    committer: &'a Committer,
    _one_at_a_time: MutexGuard<'a, ()>,
}

impl Committer {
    pub fn new(store: Store, chain: Arc<Chain>, progress: Arc<Progress>) -> Self {
        Committer { store, chain, progress, turn: Mutex::default() }
    }

    pub async fn turn(&self) -> Turn<'_> {
        Turn { committer: self, _one_at_a_time: self.turn.lock().await }
    }

    /// Writes linked, rising blocks in the place of what cannot stand beside them.
    pub async fn replace(&self, origin: Origin, apply: Vec<PreparedBlock>) -> Result<(), Error> {
        let turn = self.turn().await;
        let revert = self.would_revert(&apply).await?;
        let ancestor = apply.first().and_then(|block| block.number.checked_sub(1));
        let reverted_blocks = revert.len() as u64;
        turn.commit(Change { origin, revert, apply, ..Change::default() }).await?;
        if reverted_blocks > 0 {
            let chain = self.chain.id.0;
            tracing::info!(
                chain.id = chain,
                ?ancestor,
                blocks = reverted_blocks,
                "reorg: old blocks were replaced"
            );
            self.count("headwater_reorgs_total", 1);
            self.progress.reorged(ReorgStatus { ancestor, reverted_blocks });
        }
        Ok(())
    }

    /// What would have to go for these blocks, newest first.
    pub async fn would_revert(&self, apply: &[PreparedBlock]) -> Result<Vec<u64>, Error> {
        let view = self.store.view().await?;
        let coverage = view.coverage(self.chain.id).await?;
        self.to_revert(&view, &coverage, apply).await
    }

    /// Stored blocks of the same number with another hash, and all that hang on them; newest first.
    /// Ranges that are not connected with these are left alone: nothing is known against them.
    async fn to_revert(
        &self,
        view: &View,
        coverage: &Coverage,
        blocks: &[PreparedBlock],
    ) -> Result<Vec<u64>, Error> {
        let chain = self.chain.id;
        let mut numbers: Vec<u64> = Vec::new();
        let mut add_from = |number: u64| {
            let (_, end) = coverage.range_of(number).unwrap_or((number, number));
            let known = numbers.last().copied();
            numbers.extend((number..=end).filter(|n| known.is_none_or(|known| *n > known)));
        };
        for block in blocks {
            let stored = view.block_summary(chain, block.number).await?;
            if stored.is_some_and(|stored| stored.hash != block.hash) {
                add_from(block.number);
            }
        }
        if let Some(last) = blocks.last()
            && let Some(above) = last.number.checked_add(1)
            && view.parent_hash(chain, above).await?.is_some_and(|parent| parent != last.hash)
        {
            add_from(above);
        }
        numbers.reverse();
        Ok(numbers)
    }

    fn count(&self, name: &'static str, blocks: u64) {
        metrics::counter!(name, "chain" => self.chain.slug.clone()).increment(blocks);
    }
}

impl Turn<'_> {
    /// A long revert takes several commits; blocks are applied together with the last of them.
    pub async fn commit(&self, mut change: Change) -> Result<(), Error> {
        while change.revert.len() > REVERT_AT_ONCE {
            let part = change.revert.drain(..REVERT_AT_ONCE).collect();
            self.write(Change::revert(change.origin, part)).await?;
        }
        self.write(change).await
    }

    /// What a block would do to the store.
    pub async fn use_of(&self, view: &View, block: &PreparedBlock) -> Result<BlockUse, Error> {
        let chain = self.committer.chain.id;
        let Some(stored) = view.block_summary(chain, block.number).await? else {
            return Ok(BlockUse::New);
        };
        if stored.hash != block.hash {
            return Ok(BlockUse::Other { stored: stored.hash });
        }
        let completes = self.completes(view, block).await?;
        Ok(if completes { BlockUse::Completes } else { BlockUse::Known })
    }

    /// Completes stored blocks with receipts or traces that they lack. Others are passed over: reverted
    /// meanwhile, or complete by now. Returns the numbers of those that were amended.
    pub async fn amend(
        &self,
        origin: Origin,
        blocks: Vec<PreparedBlock>,
    ) -> Result<Vec<u64>, Error> {
        let mut amend = Vec::with_capacity(blocks.len());
        let view = self.committer.store.view().await?;
        for block in blocks {
            if self.completes(&view, &block).await? {
                amend.push(block);
            }
        }
        drop(view);
        let numbers = amend.iter().map(|block| block.number).collect();
        if !amend.is_empty() {
            self.write(Change::amend(origin, amend)).await?;
        }
        Ok(numbers)
    }

    /// Takes the traces from a stored block; it stands in the queue of untraced ones then.
    pub async fn untrace(&self, origin: Origin, block: PreparedBlock) -> Result<(), Error> {
        self.write(Change::untrace(origin, vec![block])).await
    }

    /// Whether the block is stored, and would gain something and lose nothing.
    async fn completes(&self, view: &View, block: &PreparedBlock) -> Result<bool, Error> {
        let chain = self.committer.chain.id;
        let Some(stored) = view.block_summary(chain, block.number).await? else { return Ok(false) };
        if stored.hash != block.hash {
            return Ok(false);
        }
        let receipts = self.receipt_count(view, &stored).await?;
        let proves_all = block.proof.has(stored.proof);
        let gains = block.has_traces && !stored.has_traces
            || block.receipt_count > receipts
            || proves_all && block.proof != stored.proof;
        let loses = stored.has_traces && !block.has_traces || block.receipt_count < receipts;
        Ok(gains && !loses)
    }

    async fn receipt_count(&self, view: &View, stored: &BlockSummary) -> Result<u32, Error> {
        if stored.proof.has(Proof::RECEIPTS) {
            return Ok(stored.tx_count);
        }
        let whole = view.whole_block(self.committer.chain.id, stored.number).await?;
        let receipts = whole.map_or(0, |(block, _)| block.receipts.iter().flatten().count());
        Ok(receipts as u32)
    }

    /// Counts what was written, once it is.
    async fn write(&self, change: Change) -> Result<(), Error> {
        let Committer { store, chain, progress, .. } = self.committer;
        let transactions: u64 = change.apply.iter().map(|block| u64::from(block.tx_count)).sum();
        let (applies, reverts) = (change.apply.len(), change.revert.len());
        let traced = tracing::info_span!(target: "otlp", "commit", headwater.chain = chain.slug, otel.error = false,
            headwater.blocks_applied = applies, headwater.blocks_reverted = reverts,
            headwater.blocks_amended = change.amend.len(), headwater.transactions = transactions,
            headwater.newest_block = change.apply.last().map(|block| block.number));
        let committed = store.commit(chain.id, change).instrument(traced.clone()).await;
        traced.record("otel.error", committed.is_err());
        drop(traced);
        let committed = committed?;
        let count = |kind| committed.entries.iter().filter(|entry| entry.kind == kind).count();
        let (applied, amended) = (count(EntryKind::Apply) as u64, count(EntryKind::Amend) as u64);
        progress.applied(applied, transactions);
        progress.amended(amended);
        self.committer.count("headwater_blocks_applied_total", applied);
        self.committer.count("headwater_transactions_applied_total", transactions);
        self.committer.count("headwater_blocks_amended_total", amended);
        Ok(())
    }
}
