//! Index rows of history, in memory, in tables, or made again after a crash: every answer is that of a store that
//! wrote each row by itself.

use std::path::Path;

use alloy_primitives::Address;
use store::{Change, Options, Origin, PreparedBlock, Store, WalletQuery};
use testkit::{SimChain, SimConfig};

use crate::copy_folder::copy_folder;
use crate::files::{apply_as, scratch};
use crate::sim_block::{CHAIN, verified};

/// Folds only when it is told to.
async fn open(path: &Path) -> Store {
    let options =
        Options { memory_bytes: 32 << 20, run_bytes: Some(1 << 40), ..Options::new(path) };
    Store::open(&options, |_| ()).await.unwrap()
}

/// Some of its wallets have more rows than are counted one by one.
fn chain() -> SimChain {
    let config = SimConfig { txs_per_block: 20, wallets: 12, ..SimConfig::seeded(5) };
    let mut chain = SimChain::new(config);
    chain.extend(70);
    chain
}

fn wallets(sim: &SimChain) -> Vec<Address> {
    let named = sim.named().into_iter().map(|(_, address)| address);
    named.chain(sim.wallets()).collect()
}

/// Totals, ranges and pages of all wallets, transactions by hash.
async fn answers(store: &Store, sim: &SimChain) -> Vec<String> {
    let view = store.view().await.unwrap();
    let mut all = vec![view.digest(CHAIN).await.unwrap().to_string()];
    for address in wallets(sim) {
        for (from_block, to_block) in [(0, u64::MAX), (3, 40), (16, 31), (60, 60)] {
            for (oldest_first, with_internal) in [(false, false), (true, true)] {
                let (chain, after, limit) = (CHAIN, None, 30);
                let q = WalletQuery {
                    chain,
                    address,
                    from_block,
                    to_block,
                    oldest_first,
                    with_internal,
                    after,
                    limit,
                };
                let total = view.wallet_total(&q).await.unwrap();
                let page = view.wallet_page(&q).await.unwrap();
                let places: Vec<_> =
                    page.txs.iter().map(|tx| (tx.block.number, tx.index)).collect();
                all.push(format!("{address} {from_block} {total} {} {places:?}", page.more));
            }
        }
    }
    for block in sim.blocks() {
        for tx in &verified(sim, block.hash).block.txs {
            all.push(format!("{:?}", view.place_of_tx(CHAIN, tx.hash.unwrap()).await.unwrap()));
        }
    }
    all
}

fn prepared(store: &Store, sim: &SimChain, blocks: &[usize]) -> Vec<PreparedBlock> {
    let block = |n: &usize| store.prepare(CHAIN, verified(sim, sim.blocks()[*n].hash));
    blocks.iter().map(block).collect()
}

async fn assert_whole(store: &Store) {
    let report = store.check(|_| ()).await.unwrap();
    assert!(report.holds(), "{report:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_answer_as_rows_that_were_written_by_themselves() {
    let sim = chain();
    let count = sim.blocks().len();
    let plain_folder = scratch();
    let plain = open(plain_folder.path()).await;
    apply_as(Origin::Head, &plain, &sim, 0..count).await.unwrap();
    let expected = answers(&plain, &sim).await;
    let most = expected.iter().filter_map(|line| line.split(' ').nth(2)?.parse::<u64>().ok()).max();
    assert!(most > Some(400), "{most:?}");

    let folders = scratch();
    let path = folders.path().join("store");
    let store = open(&path).await;
    // Part of it by a fold, a part near the head, the rest pending.
    let numbers: Vec<usize> = (0..count).collect();
    for some in numbers[..30].chunks(7) {
        let change = Change::apply(Origin::History, prepared(&store, &sim, some));
        store.commit(CHAIN, change).await.unwrap();
    }
    store.flush().await.unwrap();
    apply_as(Origin::Head, &store, &sim, 30..40).await.unwrap();
    for some in numbers[40..].chunks(9) {
        let change = Change::apply(Origin::Import, prepared(&store, &sim, some));
        store.commit(CHAIN, change).await.unwrap();
    }
    assert_eq!(answers(&store, &sim).await, expected, "in memory");

    let crashed = folders.path().join("crashed");
    copy_folder(&path, &crashed);
    let again = open(&crashed).await;
    assert_eq!(answers(&again, &sim).await, expected, "made again");
    assert_whole(&again).await;
    assert_eq!(answers(&again, &sim).await, expected, "in tables");

    // Blocks that are pending can be taken away and come back.
    let newest: Vec<u64> = (50..count as u64).rev().collect();
    store.commit(CHAIN, Change { revert: newest, ..Change::default() }).await.unwrap();
    let change = Change::apply(Origin::History, prepared(&store, &sim, &numbers[50..]));
    store.commit(CHAIN, change).await.unwrap();
    assert_eq!(answers(&store, &sim).await, expected, "after a revert");
    drop(store);
    let store = open(&path).await;
    assert_eq!(answers(&store, &sim).await, expected, "after a stop");
    assert_whole(&store).await;
}
