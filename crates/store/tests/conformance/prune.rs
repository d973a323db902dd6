//! The oldest blocks go with all that hangs on them, and what is left answers as if nothing else had ever
//! been there; but for pools at rest, whose state is carried over as long as the chain stands on it.
//! Random sequences of it are in `against_model`.

use alloy_primitives::B256;
use model::facts::{Change as PoolChanged, Facts, PoolChange, PoolFacts, PoolState};
use store::{
    HeldBy, PoolStatesQuery, Pruned, Reader, ReaderStatus, Start, StateAt, VerifiedBlock, View,
};
use testkit::SimConfig;

use crate::chain::*;
use crate::engine::{Choices, Engine, on_every_engine};
use crate::home::Home;
use crate::made_facts::pool;

on_every_engine!(
    what_is_left_is_as_if_written_alone,
    pruning_is_told_to_no_reader_and_passes_none,
    the_version_moves_on_though_the_journal_does_not,
    a_pool_at_rest_keeps_its_state,
    what_was_carried_holds_on_its_own_branch_only,
    what_was_carried_does_not_hold_across_a_gap,
    what_was_carried_outlives_a_revert_and_blocks_that_come_back,
);

async fn prune(home: &Home, below: u64, limit: usize) -> Pruned {
    home.store().prune_oldest(CHAIN, below, limit).await.unwrap()
}

async fn what_is_left_is_as_if_written_alone(engine: Engine) {
    // Busy wallets have their rows counted in buckets: these must shrink, and go.
    let chain = made(SimConfig { txs_per_block: 40, wallets: 4, ..SimConfig::seeded(91) }, 40);
    let mut home = Home::with(engine, Choices { durable: true, ..Choices::default() }).await;
    home.apply(home.all(&chain)).await.unwrap();
    for (below, limit) in [(5, 2), (5, 100), (5, 100), (30, 7), (38, 100)] {
        let oldest = home.view().await.coverage(CHAIN).await.unwrap().oldest().unwrap();
        let pruned = prune(&home, below, limit).await;
        let expected = (below - oldest).min(limit as u64);
        assert_eq!(pruned.blocks, expected);
        let oldest = oldest + expected;
        assert_eq!(pruned.coverage.ranges(), [(oldest, 40)]);
        let straight = Home::new(engine).await;
        let blocks = (oldest..=40).map(|number| straight.at(&chain, number)).collect();
        straight.apply(blocks).await.unwrap();
        assert_eq!(home.digest().await, straight.digest().await, "below {below}");
    }
    home.crash().await;
    assert_eq!(home.view().await.coverage(CHAIN).await.unwrap().oldest(), Some(38));
    // All of it may go.
    assert_eq!(prune(&home, u64::MAX, 1000).await.blocks, 3);
    assert_eq!(home.digest().await, Home::new(engine).await.digest().await);
    assert_eq!(home.view().await.chains().await.unwrap(), []);
}

async fn pruning_is_told_to_no_reader_and_passes_none(engine: Engine) {
    let chain = small_chain(92, 20);
    let home = Home::indexed(engine, &chain).await;
    let mut reader = Reader::open(home.store(), "slow", CHAIN, Start::Block(2)).await.unwrap();
    let mut quick = Reader::open(home.store(), "quick", CHAIN, Start::Head).await.unwrap();
    for expected in 2..6 {
        let event = reader.next().await.unwrap().unwrap();
        assert_eq!(event.number, expected);
        reader.commit(event.cursor, Vec::new()).await.unwrap();
    }
    let held = |next_block| Some(HeldBy { reader: "slow".into(), next_block });
    let pruned = prune(&home, 15, 100).await;
    assert_eq!((pruned.blocks, pruned.held_by), (6, held(6)));
    assert_eq!(prune(&home, 15, 100).await.blocks, 0);
    assert_eq!(prune(&home, 5, 100).await.held_by, None, "nobody is in the way of that");
    for expected in 6..9 {
        let event = reader.next().await.unwrap().unwrap();
        assert_eq!(
            (event.number, event.cursor.next),
            (expected, expected + 1),
            "no revert, no gap"
        );
        reader.commit(event.cursor, Vec::new()).await.unwrap();
    }
    assert_eq!(prune(&home, 15, 100).await.held_by, held(9));
    // One that waits for a block that may never come holds everything.
    Reader::open(home.store(), "lost", CHAIN, Start::Block(1)).await.unwrap();
    let pruned = prune(&home, 15, 100).await;
    assert_eq!(pruned.held_by.unwrap().reader, "lost");
    for name in ["lost", "slow"] {
        assert!(home.store().remove_reader(CHAIN, name).await.unwrap());
    }
    let pruned = prune(&home, 15, 100).await;
    assert_eq!((pruned.blocks, pruned.held_by), (6, None));
    assert_eq!(quick.next().await.unwrap(), None);
    home.apply_empty(21, 1).await;
    assert_eq!(quick.next().await.unwrap().unwrap().number, 21);
    let readers = home.view().await.readers(CHAIN).await.unwrap();
    assert!(matches!(&readers[..], [ReaderStatus { name, .. }] if name == "quick"));
}

async fn the_version_moves_on_though_the_journal_does_not(engine: Engine) {
    let mut home = Home::indexed(engine, &small_chain(93, 10)).await;
    let mut written = home.store().subscribe(CHAIN);
    written.borrow_and_update();
    let (seq, entries) = (home.seq().await, journal(&home).await);
    prune(&home, 4, 100).await;
    assert_eq!(home.seq().await, seq + 1, "answers of before hold no longer");
    assert!(written.has_changed().unwrap());
    assert_eq!(journal(&home).await, entries);
    prune(&home, 4, 100).await;
    assert_eq!(home.seq().await, seq + 1, "nothing went");
    home.reopen().await;
    assert_eq!(home.seq().await, seq + 1);
}

async fn journal(home: &Home) -> usize {
    home.view().await.journal_after(CHAIN, 0, usize::MAX).await.unwrap().len()
}

/// A block without transactions that leaves a pool as this.
fn with_pool(mut block: VerifiedBlock, n: u8, liquidity: Option<u128>) -> VerifiedBlock {
    let change = match liquidity {
        Some(liquidity) => PoolChanged::State(state(liquidity)),
        None => PoolChanged::Liquidity(vec![model::facts::RangeDelta {
            lower: -10,
            upper: 10,
            delta: 7,
        }]),
    };
    let changes = vec![PoolChange { id: pool(n), log_index: 0, change }];
    let seen = block.facts.pools.seen;
    block.facts = Facts { trades: Vec::new(), pools: PoolFacts { seen, changes } };
    block
}

fn state(liquidity: u128) -> PoolState {
    let sqrt_price = alloy_primitives::U256::from(1u128 << 96);
    PoolState::Ranged { sqrt_price, liquidity, tick: 0 }
}

async fn apply(home: &Home, block: VerifiedBlock) {
    home.apply(vec![home.store().prepare(CHAIN, block)]).await.unwrap();
}

/// Blocks 1 to 20 of a branch; pool 0 changes in 3, pool 1 in 5 (only its liquidity in 7), pool 2 in 12.
async fn with_pools(engine: Engine) -> Home {
    let home = Home::new(engine).await;
    for number in 1..=20 {
        let block = empty_block(number, 0);
        apply(
            &home,
            match number {
                3 => with_pool(block, 0, Some(300)),
                5 => with_pool(block, 1, Some(500)),
                7 => with_pool(block, 1, None),
                12 => with_pool(block, 2, Some(1200)),
                _ => block,
            },
        )
        .await;
    }
    home
}

/// Liquidity and the block that is named, of pools 0 to 2.
async fn states(view: &View, first: u64, last: u64) -> [Option<(u128, u64)>; 3] {
    let pools = [0, 1, 2].map(pool);
    let q = PoolStatesQuery { chain: CHAIN, pools: &pools, first, last };
    let found = view.pool_states(&q).await.unwrap();
    let found: Vec<_> = found
        .into_iter()
        .map(|at| {
            let StateAt { state, block } = at?;
            let PoolState::Ranged { liquidity, .. } = state else { panic!("{state:?}") };
            Some((liquidity, block))
        })
        .collect();
    found.try_into().unwrap()
}

async fn a_pool_at_rest_keeps_its_state(engine: Engine) {
    let mut home = with_pools(engine).await;
    let before = states(&home.view().await, 1, 20).await;
    assert_eq!(before, [Some((300, 3)), Some((507, 7)), Some((1200, 12))]);
    for (below, limit) in [(4, 100), (7, 2), (7, 100), (10, 100), (15, 2), (15, 100)] {
        prune(&home, below, limit).await;
        let oldest = home.view().await.coverage(CHAIN).await.unwrap().oldest().unwrap();
        assert_eq!(states(&home.view().await, oldest, 20).await, before, "below {below}");
    }
    home.reopen().await;
    let view = home.view().await;
    assert_eq!(states(&view, 15, 15).await, before);
    assert_eq!(states(&view, 15, 14).await, [None; 3], "blocks that are gone are not answered for");
    assert_eq!(states(&view, 9, 14).await, [None; 3]);
    assert_eq!(states(&view, 16, 20).await, [None; 3], "changes of 15 may be missed from there");
    // A change goes on from what was carried, and takes its place when it is pruned itself.
    apply(&home, with_pool(empty_block(21, 0), 1, None)).await;
    apply(&home, with_pool(empty_block(22, 0), 0, Some(2200))).await;
    let after = [Some((2200, 22)), Some((514, 21)), Some((1200, 12))];
    assert_eq!(states(&home.view().await, 15, 22).await, after);
    apply(&home, empty_block(23, 0)).await;
    prune(&home, 23, 100).await;
    assert_eq!(states(&home.view().await, 23, 23).await, after);
    assert_eq!(home.digest().await, {
        let straight = Home::new(engine).await;
        apply(&straight, empty_block(23, 0)).await;
        straight.digest().await
    });
}

async fn what_was_carried_holds_on_its_own_branch_only(engine: Engine) {
    let home = with_pools(engine).await;
    prune(&home, 10, 100).await;
    // As a dev chain that starts over: everything goes, and the next branch has other blocks below, too.
    home.revert((10..=20).rev().collect()).await.unwrap();
    assert_eq!(states(&home.view().await, 0, 30).await, [None; 3]);
    for number in 10..=14 {
        apply(&home, empty_block(number, 9)).await;
    }
    assert_eq!(states(&home.view().await, 10, 14).await, [None; 3]);
    // Nor does it come back when the other branch is pruned.
    prune(&home, 12, 100).await;
    assert_eq!(states(&home.view().await, 12, 14).await, [None; 3]);
    apply(&home, with_pool(empty_block(15, 9), 0, None)).await;
    assert_eq!(states(&home.view().await, 12, 15).await, [None; 3]);
    apply(&home, with_pool(empty_block(16, 9), 2, Some(1600))).await;
    apply(&home, empty_block(17, 9)).await;
    prune(&home, 17, 100).await;
    assert_eq!(states(&home.view().await, 17, 17).await, [None, None, Some((1600, 16))]);
}

async fn what_was_carried_does_not_hold_across_a_gap(engine: Engine) {
    let home = with_pools(engine).await;
    apply(&home, with_pool(empty_block(30, 0), 2, Some(3000))).await;
    apply(&home, empty_block(31, 0)).await;
    prune(&home, 15, 100).await;
    let carried = [Some((300, 3)), Some((507, 7)), Some((1200, 12))];
    assert_eq!(states(&home.view().await, 15, 20).await, carried);
    assert_eq!(states(&home.view().await, 30, 31).await, [None, None, Some((3000, 30))]);
    // Through the gap in one step, and in two.
    for (below, limit) in [(31, 7), (31, 100)] {
        prune(&home, below, limit).await;
        let oldest = home.view().await.coverage(CHAIN).await.unwrap().oldest().unwrap();
        let found = states(&home.view().await, oldest, 31).await;
        assert_eq!(found, [None, None, Some((3000, 30))], "from {oldest}");
    }
}

async fn what_was_carried_outlives_a_revert_and_blocks_that_come_back(engine: Engine) {
    let home = with_pools(engine).await;
    prune(&home, 10, 100).await;
    home.revert((10..=20).rev().collect()).await.unwrap();
    let mut parent = empty_block(9, 0).block.hash;
    for number in 10..=13 {
        let hash = B256::repeat_byte(number as u8);
        apply(&home, empty_block_on(parent, number, hash)).await;
        parent = hash;
    }
    let carried = [Some((300, 3)), Some((507, 7)), None];
    assert_eq!(states(&home.view().await, 10, 13).await, carried);
    // History fills in again what was pruned, with the change of liquidity that is in the state already.
    for number in (6..=9).rev() {
        let block = empty_block(number, 0);
        apply(&home, if number == 7 { with_pool(block, 1, None) } else { block }).await;
    }
    assert_eq!(states(&home.view().await, 6, 13).await, carried);
    for (below, limit) in [(9, 2), (9, 100), (12, 100)] {
        prune(&home, below, limit).await;
        let oldest = home.view().await.coverage(CHAIN).await.unwrap().oldest().unwrap();
        assert_eq!(states(&home.view().await, oldest, 13).await, carried, "below {below}");
    }
}
