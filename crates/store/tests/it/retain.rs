//! The folder of a store that keeps its newest blocks only stays as large as those are.

use store::{Change, Options, Origin, Store};
use testkit::{SimChain, SimConfig};

use crate::sim_block::{CHAIN, verified};

const KEEP: u64 = 60;

async fn open(folder: &std::path::Path) -> Store {
    let options = Options {
        memory_bytes: 32 << 20,
        durable: false,
        journal_entries_min: 50,
        ..Options::new(folder)
    };
    Store::open(&options, |_| ()).await.unwrap()
}

async fn apply(store: &Store, chain: &SimChain, numbers: impl IntoIterator<Item = u64>) {
    let block = |number| verified(chain, chain.block(number).unwrap().hash);
    let apply = numbers.into_iter().map(|number| store.prepare(CHAIN, block(number))).collect();
    store.commit(CHAIN, Change::apply(Origin::Head, apply)).await.unwrap();
}

/// Of the tables: the log is written in turn, whatever is in them.
async fn table_bytes(store: &Store) -> u64 {
    store.table_sizes().await.iter().map(|table| table.disk_bytes).sum()
}

#[tokio::test]
async fn disk_stays_that_of_the_blocks_that_are_kept() {
    let mut chain = SimChain::new(SimConfig { txs_per_block: 12, ..SimConfig::seeded(95) });
    chain.extend(10 * KEEP as usize - 1);
    let [pruned, newest, all] = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let (pruned, newest, all) =
        (open(pruned.path()).await, open(newest.path()).await, open(all.path()).await);
    let head = chain.head_number();
    let (mut largest, mut removed) = (0, 0);
    for first in (0..=head).step_by(10) {
        let last = first + 9;
        apply(&pruned, &chain, first..=last).await;
        apply(&all, &chain, first..=last).await;
        let below = (last + 1).saturating_sub(KEEP);
        removed += pruned.prune_oldest(CHAIN, below, 32).await.unwrap().blocks;
        if removed >= KEEP / 4 {
            removed = 0;
            pruned.reclaim().await.unwrap();
            largest = largest.max(table_bytes(&pruned).await);
        }
    }
    pruned.reclaim().await.unwrap();
    apply(&newest, &chain, head + 1 - KEEP..=head).await;
    for store in [&newest, &all] {
        store.compact().await.unwrap();
    }
    let digest = async |store: &Store| store.view().await.unwrap().digest(CHAIN).await.unwrap();
    assert_eq!(digest(&pruned).await, digest(&newest).await);
    let (left, fresh, whole) =
        (table_bytes(&pruned).await, table_bytes(&newest).await, table_bytes(&all).await);
    eprintln!("{left} bytes after {head} blocks, {largest} at most; {fresh} fresh; {whole} in all");
    assert!(whole > 6 * fresh, "there was much to drop");
    assert!(left < fresh * 3 / 2, "{left} bytes where {fresh} would do");
    assert!(largest < fresh * 2, "{largest} bytes on the way where {fresh} would do");
}
