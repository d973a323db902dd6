//! History that is made ready while somebody else writes to its chain.

use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use model::proof::Proof;
use model::raw::{Block, Receipt};
use testkit::{SimChain, SimConfig};

use super::*;
use crate::options::Options;

const CHAIN: ChainId = ChainId(1337);

fn change(
    store: &Store,
    sim: &SimChain,
    origin: Origin,
    blocks: Range<usize>,
) -> ChangeOf<PackedBlock> {
    let block = |hash| {
        let mut block = Block::read(&sim.block_json(hash, true).unwrap()).unwrap().unwrap();
        let receipts: Vec<Receipt> =
            serde_json::from_slice(&sim.receipts_json(hash).unwrap()).unwrap();
        block.set_receipts(receipts).unwrap();
        let (proof, facts) = (Proof::from_bits(0b11_1111), Facts::default());
        store.prepare(CHAIN, VerifiedBlock { block, proof, facts })
    };
    let apply = sim.blocks()[blocks].iter().map(|it| block(it.hash)).collect();
    ChangeOf { origin, apply, ..ChangeOf::default() }
}

fn open_store(path: &Path) -> Store {
    Store::open(&Options::new(path), &|_| ()).unwrap()
}

fn bytes_of_bodies(path: &Path) -> u64 {
    let files = std::fs::read_dir(path.join("segments")).into_iter().flatten();
    files.map(|file| file.unwrap().metadata().unwrap().len()).sum()
}

#[test]
fn what_was_made_ready_before_another_write_to_the_chain_is_made_anew() {
    let mut sim = SimChain::new(SimConfig { txs_per_block: 20, ..SimConfig::seeded(9) });
    sim.extend(20);
    let dir = tempfile::tempdir().unwrap();
    let (plain, path) = (open_store(&dir.path().join("plain")), dir.path().join("raced"));
    plain.commit(CHAIN, change(&plain, &sim, Origin::Head, 0..21)).unwrap();

    let store = open_store(&path);
    store.commit(CHAIN, change(&store, &sim, Origin::Head, 15..16)).unwrap();
    std::thread::scope(|scope| {
        let turn = store.inner.writing.take_for(Some(CHAIN), Priority::Normal);
        let below = change(&store, &sim, Origin::History, 0..15);
        let filling = scope.spawn(|| store.commit(CHAIN, below).unwrap());
        // Then it lacks nothing but the turn.
        let began = Instant::now();
        while bytes_of_bodies(&path) == 0 {
            assert!(began.elapsed() < Duration::from_secs(60), "it waits for the turn");
            std::thread::sleep(Duration::from_millis(1));
        }
        let above = change(&store, &sim, Origin::Head, 16..21);
        store.batch_of(CHAIN, &above).unwrap().commit_ready().unwrap();
        drop(turn);
        assert_eq!(filling.join().unwrap().entries.len(), 15);
    });
    let view = store.view().unwrap();
    assert_eq!(view.coverage(CHAIN).unwrap().ranges(), [(0, 20)]);
    assert_eq!(view.version(CHAIN).unwrap().seq, 21);
    drop(view);
    let digest = |store: &Store| store.view().unwrap().digest(CHAIN).unwrap();
    assert_eq!(digest(&store), digest(&plain));
    let report = store.check(&|_| ()).unwrap();
    assert!(report.holds(), "{report:?}");
}
