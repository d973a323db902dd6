//! Reorgs: the chain stays linked and right, the dropped branch stays known by hash.

use crate::{json::parse, rebuild};
use std::collections::HashSet;
use testkit::{SimChain, SimConfig};

fn chain(seed: u64, blocks: usize) -> SimChain {
    let mut chain = SimChain::new(SimConfig { txs_per_block: 12, ..SimConfig::seeded(seed) });
    chain.extend(blocks);
    chain
}

#[test]
fn a_new_branch_hangs_on_the_common_ancestor() {
    let mut chain = chain(1, 20);
    let ancestor = chain.block(15).unwrap();
    let reorg = chain.reorg(5, 7);
    assert_eq!((reorg.dropped.len(), reorg.added.len()), (5, 7));
    assert_eq!(chain.head_number(), 22);
    let mut parent = ancestor.hash;
    for number in 16..=22 {
        let block = chain.block(number).unwrap();
        assert_eq!(block.header.parent_hash, parent);
        let header = rebuild::header(&parse(&block.block_json(true)));
        assert_eq!(header.hash_slow(), block.hash);
        parent = block.hash;
    }
    for (old, new) in reorg.dropped.iter().zip(&reorg.added) {
        assert_ne!(old.hash, new.hash);
        assert!(chain.block_by_hash(old.hash).is_some());
    }
}

#[test]
fn dropped_transactions_partly_come_back() {
    let mut chain = chain(2, 20);
    let reorg = chain.reorg(3, 4);
    let old: HashSet<_> = reorg.dropped.iter().flat_map(|b| &b.txs).map(|tx| tx.hash).collect();
    let new: Vec<_> = reorg.added.iter().flat_map(|b| &b.txs).map(|tx| tx.hash).collect();
    let back = new.iter().filter(|hash| old.contains(*hash)).count();
    assert!(back > 0 && back < old.len(), "{back} of {} came back", old.len());
    let unique: HashSet<_> = new.iter().collect();
    assert_eq!(unique.len(), new.len());
    for hash in old {
        let now = chain.transaction(hash);
        assert_eq!(now.is_some(), new.contains(&hash));
    }
}

#[test]
fn balances_are_those_of_the_surviving_branch() {
    let mut chain = chain(3, 30);
    chain.reorg(10, 2);
    assert_eq!(chain.head_number(), 22);
    for wallet in chain.wallets() {
        assert_eq!(chain.balance(wallet), chain.account_at(wallet, 22).balance);
    }
    for block in chain.blocks().iter().skip(1) {
        for change in &block.changes {
            assert_eq!(chain.account_at(change.address, block.number() - 1), change.before);
            assert_eq!(chain.account_at(change.address, block.number()), change.after);
        }
    }
}

#[test]
fn the_genesis_is_never_dropped() {
    let mut chain = chain(4, 3);
    let genesis = chain.block(0).unwrap().hash;
    assert_eq!(chain.reorg(99, 1).dropped.len(), 3);
    assert_eq!(chain.block(0).unwrap().hash, genesis);
    assert_eq!(chain.block(1).unwrap().header.parent_hash, genesis);
}

#[test]
fn the_same_steps_give_the_same_branch() {
    let (mut a, mut b) = (chain(5, 10), chain(5, 10));
    assert_eq!(a.reorg(2, 3).added[2].hash, b.reorg(2, 3).added[2].hash);
    assert_ne!(a.reorg(2, 2).added[1].hash, b.head().hash);
}
