//! Transactions as pages read them lately: what is on a wallet's first page is on it again after the next block that concerns
//! the wallet, but for the last row.
//!
//! In memory, by where they stand. What stands there stays the same until a commit takes blocks out or puts others in their
//! place, so each is kept with the last such commit of its chain.

use std::sync::{Arc, PoisonError, RwLock};

use alloy_primitives::map::HashMap;
use model::chain::ChainId;
use model::raw::Tx;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::block::StoredTx;
use crate::query::Place;

/// A transaction with its receipt takes about so much.
const TX_BYTES_GUESS: u64 = 2 << 10;

pub struct TxCache {
    txs: Cache<(ChainId, Place), CachedTx, TxWeight>,
    /// Journal sequence of the last commit that changed or removed blocks of a chain, since this process opened the store.
    rewritten: RwLock<HashMap<ChainId, u64>>,
}

#[derive(Clone)]
struct CachedTx {
    tx: Arc<StoredTx>,
    rewritten_seq: u64,
}

#[derive(Clone)]
struct TxWeight;

impl Weighter<(ChainId, Place), CachedTx> for TxWeight {
    fn weight(&self, _: &(ChainId, Place), cached: &CachedTx) -> u64 {
        memory_bytes(&cached.tx)
    }
}

impl TxCache {
    pub fn new(bytes: u64) -> Self {
        let items = usize::try_from(bytes / TX_BYTES_GUESS).unwrap_or(1).max(16);
        let txs = Cache::with_weighter(items, bytes, TxWeight);
        TxCache { txs, rewritten: RwLock::default() }
    }

    /// Before the commit `seq`, which changes or removes blocks, can be seen.
    pub fn note_rewrite(&self, chain: ChainId, seq: u64) {
        self.rewritten.write().unwrap_or_else(PoisonError::into_inner).insert(chain, seq);
    }

    /// As whoever sees the chain at `seq` may take it: two who take the same see the same in each place that both know.
    pub fn rewritten_seq(&self, chain: ChainId, seq: u64) -> u64 {
        let rewritten = self.rewritten.read().unwrap_or_else(PoisonError::into_inner);
        // A later commit hides when the one before it was.
        rewritten.get(&chain).map_or(0, |last| (*last).min(seq))
    }

    pub fn get(&self, at: (ChainId, Place), rewritten_seq: u64) -> Option<Arc<StoredTx>> {
        let cached = self.txs.get(&at)?;
        (cached.rewritten_seq == rewritten_seq).then_some(cached.tx)
    }

    pub fn insert(&self, at: (ChainId, Place), tx: Arc<StoredTx>, rewritten_seq: u64) {
        self.txs.insert(at, CachedTx { tx, rewritten_seq });
    }

    pub fn cached_bytes(&self) -> u64 {
        self.txs.weight()
    }
}

/// With what it leads to, more or less.
fn memory_bytes(stored: &StoredTx) -> u64 {
    let Tx { input, access_list, blob_versioned_hashes, authorization_list, extras, .. } =
        &stored.tx;
    let keys = |item: &model::raw::AccessListItem| item.storage_keys.as_ref().map_or(0, Vec::len);
    let access = access_list.iter().flatten().map(|item| size_of_val(item) + 32 * keys(item));
    let authorizations = authorization_list.iter().flatten().map(size_of_val);
    let receipt_extras = stored.receipt.iter().flat_map(|receipt| &*receipt.extras);
    let extras = extras.iter().chain(receipt_extras);
    let bytes = size_of_val(stored)
        + input.as_ref().map_or(0, |input| input.len())
        + blob_versioned_hashes.as_ref().map_or(0, |hashes| 32 * hashes.len())
        + access.sum::<usize>()
        + authorizations.sum::<usize>()
        + extras.map(|(name, text)| 32 + name.len() + text.len()).sum::<usize>();
    bytes as u64 + 64
}

#[cfg(test)]
mod tests {
    use alloy_primitives::{B256, Bytes};

    use super::*;
    use crate::block::BlockRef;

    const CHAIN: ChainId = ChainId(1);

    fn tx(input_bytes: usize) -> Arc<StoredTx> {
        let block = BlockRef { number: 7, hash: B256::ZERO, timestamp: 0, has_traces: false };
        let tx = Tx { input: Some(Bytes::from(vec![1; input_bytes])), ..Tx::default() };
        Arc::new(StoredTx { block, index: 2, tx, receipt: None, frames: None })
    }

    #[test]
    fn a_transaction_is_found_until_blocks_are_rewritten_and_by_older_readers_never_after() {
        let cache = TxCache::new(1 << 20);
        let at = (CHAIN, (7, 2));
        let seen = |seq| cache.get(at, cache.rewritten_seq(CHAIN, seq)).is_some();
        cache.insert(at, tx(0), cache.rewritten_seq(CHAIN, 10));
        assert!(seen(10) && seen(12), "commits that only add blocks change nothing");
        cache.note_rewrite(CHAIN, 13);
        assert!(!seen(13) && !seen(14));
        // Read by someone who still sees the chain as it was before.
        cache.insert(at, tx(0), cache.rewritten_seq(CHAIN, 12));
        assert!(seen(12) && !seen(13));
        cache.note_rewrite(ChainId(2), 99);
        cache.insert(at, tx(0), cache.rewritten_seq(CHAIN, 14));
        assert!(seen(13) && seen(20));
        assert!(cache.get((ChainId(2), at.1), cache.rewritten_seq(ChainId(2), 100)).is_none());
    }

    #[test]
    fn what_is_kept_is_bounded_by_bytes() {
        let cache = TxCache::new(64 << 10);
        assert!(memory_bytes(&tx(5000)) > 5000);
        for index in 0..500 {
            cache.insert((CHAIN, (1, index)), tx(1000), 0);
            assert!(cache.cached_bytes() <= 64 << 10);
        }
        assert!(cache.cached_bytes() > 0);
    }
}
