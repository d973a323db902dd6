//! A fault in this program: a task that panics is started again, says why, and goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use model::facts::Facts;

use crate::setup::{Dialect, Rig, eventually, node, sim};

/// Panics at one block so many times.
struct Broken {
    block: u64,
    panics_left: AtomicU32,
}

impl Broken {
    fn decode(&self, number: u64) -> Facts {
        let left = &self.panics_left;
        let take = |left: u32| left.checked_sub(1);
        let panics = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok();
        assert!(number != self.block || !panics, "no decoder for this");
        Facts::default()
    }
}

async fn heals_from_a_panic_at(block: u64, task: &str) {
    let chain = sim(61, 60);
    let node = node(&chain).await;
    let mut rig = Rig::new(&[&node]).await;
    let broken = Arc::new(Broken { block, panics_left: AtomicU32::new(u32::MAX) });
    let decoder = broken.clone();
    rig.decode = Arc::new(move |block| decoder.decode(block.number));
    let ingest = rig.start();
    let failed = || ingest.progress.snapshot().failed.join("; ");
    let told = || failed().contains(task) && failed().contains("no decoder for this");
    eventually("the panic is told", told, failed).await;
    eventually("it is tried again", || ingest.progress.snapshot().restarts > 1, failed).await;
    broken.panics_left.store(0, Ordering::Relaxed);
    rig.reaches(&chain, &ingest).await;
    eventually("nothing is wrong any more", || failed().is_empty(), failed).await;
    rig.check(&chain, Dialect::Geth).await;
}

#[tokio::test]
async fn a_decoder_that_panics_at_the_head() {
    heals_from_a_panic_at(60, "following the head").await;
}

#[tokio::test]
async fn a_decoder_that_panics_in_history() {
    heals_from_a_panic_at(20, "filling history").await;
}
