//! Whether a chain is still the one that answers were kept of.
//!
//! It is another one when its head falls below a block that was kept. Dev chains start over and may have grown past
//! that before anyone looks: where all nodes are near, the last head that was seen must still be on the chain
//! when there is a new one. A small reorg looks the same and costs what was kept by number, no more.

use std::sync::atomic::{AtomicU64, Ordering};

use alloy_primitives::B256;
use model::raw::read_header_and_hashes;
use model::raw::reader::Reader;
use rpc::{Call, Forward, Head, Needs, Pool, Route};
use tokio::sync::Mutex;

#[derive(Debug, Default)]
pub struct ChainEra {
    era: AtomicU64,
    newest_kept: AtomicU64,
    /// The head when it was last looked at.
    anchor: Mutex<Option<(u64, B256)>>,
}

impl ChainEra {
    /// The era of a chain whose head is this, from 1.
    pub fn at(&self, head: u64) -> u64 {
        if head > 0 && head < self.newest_kept.load(Ordering::Relaxed) {
            return self.begin();
        }
        self.era.load(Ordering::Relaxed) + 1
    }

    pub fn keeps(&self, block: u64) {
        self.newest_kept.fetch_max(block, Ordering::Relaxed);
    }

    fn begin(&self) -> u64 {
        self.newest_kept.store(0, Ordering::Relaxed);
        self.era.fetch_add(1, Ordering::Relaxed) + 2
    }

    /// Looks whether the chain is still the same, if there is a new head; begins an era where it is not. False where
    /// that cannot be told.
    pub async fn look(&self, pool: &Pool) -> bool {
        let Some(Head { number, hash, .. }) = *pool.heads().borrow() else { return true };
        if !pool.are_all_near() {
            return true;
        }
        let mut anchor = self.anchor.lock().await;
        match *anchor {
            Some((_, seen)) if seen == hash => return true,
            Some((seen_number, seen)) => match hash_of(pool, seen_number).await {
                Ok(found) if found == Some(seen) => {}
                Ok(_) => drop(self.begin()),
                Err(_) => return false,
            },
            None => {}
        }
        *anchor = Some((number, hash));
        true
    }
}

/// None where there is no such block.
async fn hash_of(pool: &Pool, number: u64) -> Result<Option<B256>, rpc::Error> {
    let needs = Needs { block: Some(number), ..Needs::default() };
    let route = Route { needs, ..Route::default() };
    let call = Call::block_by_number(number, false);
    let forwarded = pool.forward(Forward { call, batch: None, route }).await?;
    let answer = forwarded.answer.ok().map(rpc::RawAnswer::into_bytes);
    let header = answer.and_then(|text| read_header_and_hashes(&mut Reader::new(&text)));
    Ok(header.and_then(|(header, _)| header.hash))
}
