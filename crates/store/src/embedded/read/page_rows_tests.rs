//! Pages read by one thread and by two have the same rows, and what is missing is an error in both.

use model::proof::Proof;
use model::raw::Block;
use testkit::{SimChain, SimConfig};

use super::*;
use crate::block::VerifiedBlock;
use crate::change::ChangeOf;
use crate::embedded::open::Store;
use crate::journal::Origin;
use crate::options::Options;

const CHAIN: ChainId = ChainId(1337);
const BLOCKS: u64 = 40;

/// With all the places that its transactions have.
fn store(dir: &tempfile::TempDir) -> (Store, Vec<Place>) {
    let mut sim = SimChain::new(SimConfig { txs_per_block: 5, ..SimConfig::seeded(3) });
    sim.extend(BLOCKS as usize);
    let store = Store::open(&Options::new(dir.path()), &|_| ()).unwrap();
    let apply = sim.blocks().iter().map(|it| {
        let block = Block::read(&sim.block_json(it.hash, true).unwrap()).unwrap().unwrap();
        let proof = Proof::from_bits(0b11_1111);
        store.prepare(CHAIN, VerifiedBlock { block, proof, facts: Default::default() })
    });
    let apply = apply.collect();
    let change = ChangeOf { origin: Origin::Head, apply, ..ChangeOf::default() };
    store.commit(CHAIN, change).unwrap();
    let view = store.view().unwrap();
    let count = |number| view.block(CHAIN, number).unwrap().unwrap().txs.len() as u32;
    let places =
        (1..=BLOCKS).rev().flat_map(|number| (0..count(number)).map(move |it| (number, it)));
    (store, places.collect())
}

fn one_by_one(view: &View, places: &[Place]) -> Vec<StoredTx> {
    let read = |place: &Place| view.transaction(CHAIN, place.0, place.1).unwrap().unwrap();
    places.iter().map(read).collect()
}

fn page_of(places: &[Place]) -> Arc<PageRows> {
    let (places, given) = (places.to_vec(), AtomicUsize::new(0));
    Arc::new(PageRows { chain: CHAIN, places, with_internal: false, given })
}

#[test]
fn rows_are_the_same_and_in_order_whoever_reads_them() {
    let dir = tempfile::tempdir().unwrap();
    let (store, places) = store(&dir);
    let view = store.view().unwrap();
    let expected = one_by_one(&view, &places);
    assert!(places.len() > 100);
    let page = |places: &[Place]| view.read_page(&page_of(places), true).unwrap();
    assert_eq!(page(&places), expected, "no runtime has threads to lend");
    let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
    let _entered = runtime.enter();
    for rows in (0..places.len()).chain([places.len(); 50]) {
        assert_eq!(page(&places[..rows]), expected[..rows], "{rows}");
    }
}

#[test]
fn a_row_that_is_not_there_is_an_error_wherever_it_stands() {
    let dir = tempfile::tempdir().unwrap();
    let (store, mut places) = store(&dir);
    places.truncate(24);
    let view = store.view().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
    let _entered = runtime.enter();
    for at in (0..places.len()).cycle().take(200) {
        let mut with_hole = places.clone();
        with_hole[at].0 = BLOCKS + 7;
        assert!(view.read_page(&page_of(&with_hole), true).is_err(), "{at}");
    }
}

#[test]
fn a_page_that_was_read_is_in_memory_until_blocks_are_taken_out_and_older_views_keep_theirs() {
    let dir = tempfile::tempdir().unwrap();
    let (store, places) = store(&dir);
    let page =
        |view: &View, places: &[Place]| view.page_rows(CHAIN, places.to_vec(), false).unwrap();
    let is_same = |a: &[Arc<StoredTx>], b: &[Arc<StoredTx>]| {
        assert_eq!(a, b);
        a.iter().zip(b).all(|(a, b)| Arc::ptr_eq(a, b))
    };
    let before = store.view().unwrap();
    let read = page(&before, &places);
    let expected: Vec<_> = one_by_one(&before, &places).into_iter().map(Arc::new).collect();
    assert_eq!(read, expected);
    assert!(is_same(&page(&before, &places), &read));
    assert!(is_same(&page(&store.view().unwrap(), &places[7..20]), &read[7..20]));
    let change = ChangeOf { origin: Origin::Head, revert: vec![BLOCKS], ..ChangeOf::default() };
    store.commit(CHAIN, change).unwrap();
    let after = store.view().unwrap();
    let left = places.iter().position(|(number, _)| *number < BLOCKS).unwrap();
    let again = page(&after, &places[left..]);
    assert!(!is_same(&again, &read[left..]), "they are read again");
    assert!(is_same(&page(&store.view().unwrap(), &places[left..]), &again));
    assert!(after.page_rows(CHAIN, places.clone(), false).is_err(), "a block is gone");
    assert_eq!(page(&before, &places), expected, "as it was when the view was taken");
    let internal = after.page_rows(CHAIN, places[left..].to_vec(), true).unwrap();
    assert!(internal.iter().all(|tx| tx.frames.is_some()));
}
