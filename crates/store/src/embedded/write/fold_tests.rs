//! Folds that are cut off, and counts of rows in different places.

use model::proof::Proof;
use model::raw::{Block, Receipt};
use testkit::{SimChain, SimConfig};

use super::*;
use crate::block::VerifiedBlock;
use crate::change::ChangeOf;
use crate::embedded::engine::PutFn;
use crate::embedded::runs::merged_rows;
use crate::journal::Origin;
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
    let view = store.view().unwrap();
    assert!(view.snapshot.iter(&view.tables.wallet_counts).count() > 0, "nothing is counted");
    drop(view);
    Plain { dir, sim, store, totals }
}

/// It folds only when it is told to.
fn open_store(dir: &tempfile::TempDir, name: &str) -> Store {
    let options = Options { run_bytes: Some(1 << 40), ..Options::new(dir.path().join(name)) };
    Store::open(&options, &|_| ()).unwrap()
}

/// A file is there that nothing leads to.
#[test]
fn a_fold_that_is_cut_off_counts_nothing_twice() {
    let Plain { dir, sim, store: plain, totals: expected } = plain(20);
    assert!(expected.iter().any(|total| *total > 300), "{expected:?}");

    let store = open_store(&dir, "cut");
    commit(&store, &sim, Origin::History, 0, 15);
    let open = store.inner.database().unwrap();
    let runs = open.runs.now().of_chain(CHAIN);
    write_file(&open.files, CHAIN, &runs).unwrap().unwrap();
    drop(open);
    commit(&store, &sim, Origin::Head, 15, 21);
    assert_eq!(totals(&store, &sim), expected);
    copy_folder(&dir.path().join("cut"), &dir.path().join("crashed"));
    drop(store);
    for name in ["cut", "crashed"] {
        let files = || std::fs::read_dir(dir.path().join(name).join("index")).unwrap().count();
        assert_eq!(files(), 1);
        let store = open_store(&dir, name);
        assert_eq!(files(), 0);
        assert_folds(&store, &sim, &expected);
        assert_eq!(files(), 1);
        let digest = |store: &Store| store.view().unwrap().digest(CHAIN).unwrap();
        assert_eq!(digest(&store), digest(&plain));
    }
}

/// The build before wrote rows of runs into tables, and was ended before it took the runs away.
#[test]
fn rows_that_format_7_left_in_tables_and_in_runs_are_in_one_place() {
    let Plain { dir, sim, totals: expected, .. } = plain(20);
    let store = open_store(&dir, "cut");
    commit(&store, &sim, Origin::Head, 0, 5);
    commit(&store, &sim, Origin::History, 5, 21);
    let open = store.inner.database().unwrap();
    let runs = open.runs.now().of_chain(CHAIN);
    for (_, table) in open.tables.all() {
        let Some(of) = table.in_runs().filter(|of| runs[0].rows(*of) > 0) else { continue };
        let mut rows = merged_rows(&runs, of);
        let put_one = |put: &mut PutFn| {
            let Some((key, value)) = rows.next() else { return Ok(false) };
            put(&[keys::chain(CHAIN).as_slice(), key].concat(), value).map(|()| true)
        };
        table.bulk_load(put_one).unwrap();
    }
    store.put(&open.tables.meta, b"format", Some(vec![0, 0, 0, 7]), Durability::Disk).unwrap();
    drop((open, store));
    let store = open_store(&dir, "cut");
    assert_folds(&store, &sim, &expected);
    let view = store.view().unwrap();
    let rows = |table| view.snapshot.prefix(table, keys::chain(CHAIN)).count();
    let in_table = |table| view.snapshot.prefix_in_table(table, keys::chain(CHAIN)).count();
    assert!(in_table(&view.tables.tx_by_hash) < rows(&view.tables.tx_by_hash) / 2);
    assert!(in_table(&view.tables.tx_by_hash) > 0, "blocks near the head");
}

/// Totals and ranges of wallets with rows in tables, in files and in runs.
#[test]
fn rows_are_counted_wherever_they_are() {
    let Plain { dir, sim, store: plain, totals: expected } = plain(40);
    let store = open_store(&dir, "mixed");
    for (origin, from, to, folds) in [
        (Origin::History, 0, 10, true),
        (Origin::Head, 10, 15, false),
        (Origin::History, 15, 22, true),
        (Origin::Head, 22, 33, false),
        (Origin::History, 33, 41, false),
    ] {
        commit(&store, &sim, origin, from, to);
        if folds {
            store.fold().unwrap();
        }
    }
    assert_eq!(totals(&store, &sim), expected);
    for upto in [0, 9, 12, 14, 17, 30, 35, 40] {
        assert_eq!(totals_upto(&store, &sim, upto), totals_upto(&plain, &sim, upto), "{upto}");
    }
    assert_folds(&store, &sim, &expected);
}

fn assert_folds(store: &Store, sim: &SimChain, expected: &[u64]) {
    assert_eq!(totals(store, sim), expected);
    store.fold().unwrap();
    assert!(store.inner.database().unwrap().runs.now().of_chain(CHAIN).is_empty());
    assert_eq!(totals(store, sim), expected);
    let report = store.check(&|_| ()).unwrap();
    assert!(report.holds(), "{report:?}");
}
