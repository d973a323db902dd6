//! Pools by their tokens, and what they held.

use alloy_primitives::{Address, B256, U256};
use model::chain::ExchangeKind;
use model::facts::{Change, Facts, Pool, PoolChange, PoolFacts, PoolId, PoolState, RangeDelta};
use model::proof::Proof;
use model::raw::{Block, Header};
use store::{Change as StoreChange, Origin, PoolStatesQuery, PreparedBlock, VerifiedBlock};

use crate::chain::CHAIN;
use crate::engine::{Engine, on_every_engine};
use crate::home::Home;

on_every_engine!(
    pools_are_found_by_either_token_and_by_both,
    a_state_is_made_of_the_asked_blocks_alone,
    a_pool_is_known_while_a_stored_block_tells_of_it,
    a_pool_that_comes_back_in_the_same_commit_stays,
    a_pool_of_a_pruned_block_stays,
);

fn addr(n: u8) -> Address {
    Address::repeat_byte(n)
}

fn pool(id: u8, token0: Address, token1: Address) -> Pool {
    Pool {
        id: PoolId::Contract(addr(id)),
        factory: addr(99),
        kind: ExchangeKind::V3,
        token0,
        token1,
        fee: Some(500),
        tick_spacing: Some(10),
        hooks: Address::ZERO,
        stable: None,
    }
}

fn block(home: &Home, number: u64, seen: Vec<Pool>, changes: Vec<(u8, Change)>) -> PreparedBlock {
    let hash = |n: u64| B256::from(U256::from(n + 1));
    let (parent_hash, timestamp) = (hash(number - 1), number * 12);
    let header = Header { parent_hash: Some(parent_hash), ..Header::default() };
    let block =
        Block { number, hash: hash(number), parent_hash, timestamp, header, ..Block::default() };
    let changes = changes
        .into_iter()
        .map(|(id, change)| PoolChange { id: PoolId::Contract(addr(id)), log_index: 0, change })
        .collect();
    let facts = Facts { trades: Vec::new(), pools: PoolFacts { seen, changes } };
    home.store().prepare(CHAIN, VerifiedBlock { block, proof: Proof::default(), facts })
}

fn ranged(liquidity: u128) -> Change {
    Change::State(PoolState::Ranged { sqrt_price: U256::from(7), liquidity, tick: 0 })
}

fn more(delta: i128) -> Change {
    Change::Liquidity(vec![RangeDelta { lower: -10, upper: 10, delta }])
}

async fn pools_are_found_by_either_token_and_by_both(engine: Engine) {
    let home = Home::new(engine).await;
    let (a, b, c) = (addr(1), addr(2), addr(3));
    let pools = [pool(11, a, b), pool(12, a, c), pool(13, a, b)];
    home.apply(vec![block(&home, 5, pools.to_vec(), Vec::new())]).await.unwrap();
    let view = home.view().await;
    let ids = |mut found: Vec<Pool>| {
        found.sort_by_key(|pool| pool.id);
        found.iter().map(|it| it.id).collect::<Vec<_>>()
    };
    let id = |n| PoolId::Contract(addr(n));
    for pair in [(a, b), (b, a)] {
        assert_eq!(ids(view.pools_between(CHAIN, &[pair]).await.unwrap()), [id(11), id(13)]);
    }
    assert_eq!(ids(view.pools_between(CHAIN, &[(c, a)]).await.unwrap()), [id(12)]);
    assert!(view.pools_between(CHAIN, &[(b, c)]).await.unwrap().is_empty());
    assert!(view.pools_between(CHAIN, &[]).await.unwrap().is_empty());
    assert_eq!(view.pools_of(CHAIN, a).await.unwrap().len(), 3);
    assert_eq!(view.pools_between(CHAIN, &[(a, c)]).await.unwrap(), [pools[1].clone()]);
    // Pair by pair.
    let mut found = view.pools_between(CHAIN, &[(c, a), (b, c), (a, b)]).await.unwrap();
    assert_eq!(ids(found.split_off(1)), [id(11), id(13)]);
    assert_eq!(ids(found), [id(12)]);
}

async fn a_state_is_made_of_the_asked_blocks_alone(engine: Engine) {
    let home = Home::new(engine).await;
    home.apply(vec![block(&home, 5, Vec::new(), vec![(11, ranged(100))])]).await.unwrap();
    home.apply(vec![block(&home, 6, Vec::new(), vec![(11, more(5))])]).await.unwrap();
    home.apply(vec![block(&home, 7, Vec::new(), vec![(11, more(-50))])]).await.unwrap();
    let view = home.view().await;
    let id = PoolId::Contract(addr(11));
    let pools = [PoolId::Contract(addr(12)), id];
    let held = async |(first, last)| {
        let query = PoolStatesQuery { chain: CHAIN, pools: &pools, first, last };
        let found = view.pool_states(&query).await.unwrap();
        let [none, found] = found.try_into().unwrap();
        assert_eq!(none, None, "nothing is known of that one");
        found.map(|found| match found.state {
            PoolState::Ranged { liquidity, .. } => (liquidity, found.block),
            PoolState::Reserves { .. } => panic!("it holds ranges"),
        })
    };
    assert_eq!(held((0, 9)).await, Some((55, 7)));
    assert_eq!(held((5, 6)).await, Some((105, 6)));
    assert_eq!(held((5, 5)).await, Some((100, 5)));
    assert_eq!(held((0, 4)).await, None);
    assert_eq!(held((5, 4)).await, None);
    assert_eq!(held((6, 9)).await, None, "what it held before block 6 is not known");
}

/// Which pools of the first token are known.
async fn known(home: &Home) -> Vec<PoolId> {
    let report = home.store().check(|_| ()).await.unwrap();
    assert!(report.holds(), "{report:?}");
    let mut pools = home.view().await.pools_of(CHAIN, addr(1)).await.unwrap();
    pools.sort_by_key(|pool| pool.id);
    pools.into_iter().map(|pool| pool.id).collect()
}

async fn revert(home: &Home, numbers: Vec<u64>) {
    home.store().commit(CHAIN, StoreChange::revert(Origin::Head, numbers)).await.unwrap();
}

async fn a_pool_is_known_while_a_stored_block_tells_of_it(engine: Engine) {
    let mut home = Home::new(engine).await;
    let (one, two, three) =
        (pool(11, addr(1), addr(2)), pool(12, addr(1), addr(3)), pool(13, addr(3), addr(1)));
    let id = |n| PoolId::Contract(addr(n));
    let both = vec![one.clone(), two.clone()];
    home.apply(vec![block(&home, 5, vec![one.clone()], vec![(11, ranged(1))])]).await.unwrap();
    // The second block tells of one pool without a change, and changes one that nobody told of.
    home.apply(vec![block(&home, 6, both, vec![(11, ranged(2)), (13, ranged(3))])]).await.unwrap();
    home.apply(vec![block(&home, 7, vec![three.clone()], Vec::new())]).await.unwrap();
    assert_eq!(known(&home).await, [id(11), id(12), id(13)]);
    revert(&home, vec![7]).await;
    assert_eq!(known(&home).await, [id(11), id(12)], "a change is no proof");
    home.reopen().await;
    home.apply(vec![block(&home, 7, vec![two, three.clone()], Vec::new())]).await.unwrap();
    assert_eq!(known(&home).await, [id(11), id(12), id(13)], "with the block they come back");
    revert(&home, vec![7, 6]).await;
    assert_eq!(known(&home).await, [id(11)]);
    revert(&home, vec![5]).await;
    assert_eq!(known(&home).await, []);
    home.apply(vec![block(&home, 5, vec![one], vec![(11, ranged(1))])]).await.unwrap();
    assert_eq!(known(&home).await, [id(11)]);
}

async fn a_pool_that_comes_back_in_the_same_commit_stays(engine: Engine) {
    let home = Home::new(engine).await;
    let (one, two) = (pool(11, addr(1), addr(2)), pool(12, addr(1), addr(3)));
    let id = |n| PoolId::Contract(addr(n));
    home.apply(vec![block(&home, 5, vec![one.clone(), two], Vec::new())]).await.unwrap();
    let other = block(&home, 5, vec![one], vec![(11, ranged(1))]);
    let change = StoreChange {
        origin: Origin::Head,
        revert: vec![5],
        apply: vec![other],
        ..StoreChange::default()
    };
    home.store().commit(CHAIN, change).await.unwrap();
    assert_eq!(known(&home).await, [id(11)]);
}

async fn a_pool_of_a_pruned_block_stays(engine: Engine) {
    let home = Home::new(engine).await;
    let (one, two) = (pool(11, addr(1), addr(2)), pool(12, addr(1), addr(3)));
    let id = |n| PoolId::Contract(addr(n));
    home.apply(vec![block(&home, 5, vec![one.clone()], vec![(11, ranged(1))])]).await.unwrap();
    home.apply(vec![block(&home, 6, vec![one.clone(), two], Vec::new())]).await.unwrap();
    home.apply(vec![block(&home, 7, vec![one], Vec::new())]).await.unwrap();
    assert_eq!(home.store().prune_oldest(CHAIN, 6, 10).await.unwrap().blocks, 1);
    assert_eq!(known(&home).await, [id(11), id(12)]);
    revert(&home, vec![7, 6]).await;
    assert_eq!(known(&home).await, [id(11)], "the pruned block was right");
}
