//! A fold that is cut off between its steps.

use model::proof::Proof;
use model::raw::{Block, Receipt};
use testkit::{SimChain, SimConfig};

use super::*;
use crate::block::VerifiedBlock;
use crate::change::ChangeOf;
use crate::options::Options;
use crate::query::WalletQuery;

#[path = "../../../tests/conformance/copy_folder.rs"]
mod copy_folder;
use copy_folder::copy_folder;

const CHAIN: ChainId = ChainId(1337);

fn commit(store: &Store, sim: &SimChain, origin: Origin, from: usize, to: usize) {
    let block = |hash| {
        let mut block = Block::read(&sim.block_json(hash, true).unwrap()).unwrap().unwrap();
        let receipts: Vec<Receipt> =
            serde_json::from_slice(&sim.receipts_json(hash).unwrap()).unwrap();
        block.set_receipts(receipts).unwrap();
        let (proof, facts) = (Proof::from_bits(0b11_1111), Default::default());
        store.prepare(CHAIN, VerifiedBlock { block, proof, facts })
    };
    let apply = sim.blocks()[from..to].iter().map(|it| block(it.hash)).collect();
    let change = ChangeOf { origin, apply, ..ChangeOf::default() };
    store.commit(CHAIN, change).unwrap();
}

fn totals(store: &Store, sim: &SimChain) -> Vec<u64> {
    totals_upto(store, sim, u64::MAX)
}

fn totals_upto(store: &Store, sim: &SimChain, to_block: u64) -> Vec<u64> {
    let view = store.view().unwrap();
    let total = |address| {
        let (from_block, oldest_first, limit) = (0, false, 1);
        let (chain, with_internal, after) = (CHAIN, false, None);
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
        view.wallet_total(&q).unwrap()
    };
    let named = sim.named().into_iter().map(|(_, address)| address);
    named.chain(sim.wallets()).map(total).collect()
}

/// A chain, and a store that has all of it and no runs.
struct Plain {
    dir: tempfile::TempDir,
    sim: SimChain,
    store: Store,
    totals: Vec<u64>,
}

fn plain(blocks: usize) -> Plain {
    let config = SimConfig { txs_per_block: 90, wallets: 4, ..SimConfig::seeded(3) };
    let mut sim = SimChain::new(config);
    sim.extend(blocks);
    let dir = tempfile::tempdir().unwrap();
    let store = open_store(&dir, "plain");
    commit(&store, &sim, Origin::Head, 0, blocks + 1);
    let totals = totals(&store, &sim);
    Plain { dir, sim, store, totals }
}

/// It folds only when it is told to.
fn open_store(dir: &tempfile::TempDir, name: &str) -> Store {
    let options = Options { run_bytes: Some(1 << 40), ..Options::new(dir.path().join(name)) };
    Store::open(&options, &|_| ()).unwrap()
}

/// Rows are in tables and in runs, and a wallet that a block near the head has often is not counted by both.
#[test]
fn a_fold_that_is_cut_off_counts_nothing_twice() {
    let Plain { dir, sim, store: plain, totals: expected } = plain(20);
    assert!(expected.iter().any(|total| *total > 300), "{expected:?}");

    let store = open_store(&dir, "cut");
    commit(&store, &sim, Origin::History, 0, 15);
    let open = store.inner.database().unwrap();
    let runs = open.runs.begin_fold(CHAIN);
    write_tables(&open.tables, CHAIN, &runs).unwrap();
    drop(open);
    commit(&store, &sim, Origin::Head, 15, 21);
    assert_eq!(totals(&store, &sim), expected);
    drop(runs);
    copy_folder(&dir.path().join("cut"), &dir.path().join("crashed"));
    drop(store);
    for name in ["cut", "crashed"] {
        let store = open_store(&dir, name);
        assert_folds(&store, &sim, &expected);
        let digest = |store: &Store| store.view().unwrap().digest(CHAIN).unwrap();
        assert_eq!(digest(&store), digest(&plain));
    }
}

/// Some runs are counted and gone, others are in their tables and still pending.
#[test]
fn a_fold_that_is_cut_off_between_its_parts_counts_nothing_twice() {
    let Plain { dir, sim, store: plain, totals: expected } = plain(40);
    let store = open_store(&dir, "cut");
    // The first ones make wallets that are counted, the others add to them.
    commit(&store, &sim, Origin::History, 0, 10);
    store.fold().unwrap();
    for from in [10, 15, 20, 25, 30] {
        commit(&store, &sim, Origin::History, from, from + 5);
    }
    let open = store.inner.database().unwrap();
    let runs = open.runs.begin_fold(CHAIN);
    write_tables(&open.tables, CHAIN, &runs).unwrap();
    let changes = CountChanges::of(&open.tables, CHAIN, (&runs, 1)).unwrap();
    assert_eq!(changes.parts.len(), 5, "a part for each run");
    assert!(changes.parts.iter().all(|part| !part.counts.is_empty()));
    let whole = CountChanges::of(&open.tables, CHAIN, (&runs, usize::MAX)).unwrap();
    assert_eq!(whole.parts.len(), 1);
    drop(open);
    for part in changes.parts.into_iter().take(3) {
        store.fold_part(CHAIN, part).unwrap();
        assert_eq!(totals_upto(&store, &sim, 34), totals_upto(&plain, &sim, 34));
    }
    commit(&store, &sim, Origin::Head, 35, 41);
    assert_eq!(totals(&store, &sim), expected);
    drop(runs);
    copy_folder(&dir.path().join("cut"), &dir.path().join("crashed"));
    drop(store);
    for name in ["cut", "crashed"] {
        let store = open_store(&dir, name);
        let left = store.inner.database().unwrap().runs.now().of_chain(CHAIN).len();
        assert_eq!(left, 2);
        assert_folds(&store, &sim, &expected);
    }
}

fn assert_folds(store: &Store, sim: &SimChain, expected: &[u64]) {
    assert_eq!(totals(store, sim), expected);
    store.fold().unwrap();
    assert!(store.inner.database().unwrap().runs.now().of_chain(CHAIN).is_empty());
    assert_eq!(totals(store, sim), expected);
    let report = store.check(&|_| ()).unwrap();
    assert!(report.holds(), "{report:?}");
    let view = store.view().unwrap();
    let counted = view.snapshot.iter(&view.tables.wallet_counts).count();
    assert!(counted > 0, "nothing is counted");
}
