//! Pools by their tokens, what they held, and what tokens call themselves.

use alloy_primitives::{Address, B256, U256};
use model::chain::ExchangeKind;
use model::facts::{Change, Facts, Pool, PoolChange, PoolFacts, PoolId, PoolState, RangeDelta};
use model::proof::Proof;
use model::raw::{Block, Header};
use model::token::{Source, Token};
use store::{Prepared, prepare};

use crate::setup::{CHAIN, Home};

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

fn block(number: u64, seen: Vec<Pool>, changes: Vec<(u8, Change)>) -> Prepared {
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
    prepare(CHAIN, block, Proof::default(), facts)
}

fn ranged(liquidity: u128) -> Change {
    Change::State(PoolState::Ranged { sqrt_price: U256::from(7), liquidity, tick: 0 })
}

fn more(delta: i128) -> Change {
    Change::Liquidity(vec![RangeDelta { lower: -10, upper: 10, delta }])
}

#[test]
fn pools_are_found_by_either_token_and_by_both() {
    let home = Home::new();
    let (a, b, c) = (addr(1), addr(2), addr(3));
    let pools = [pool(11, a, b), pool(12, a, c), pool(13, a, b)];
    home.apply(vec![block(5, pools.to_vec(), Vec::new())]).unwrap();
    let view = home.store().view();
    let ids = |found: Vec<Pool>| found.iter().map(|it| it.id).collect::<Vec<_>>();
    let id = |n| PoolId::Contract(addr(n));
    for (one, other) in [(a, b), (b, a)] {
        assert_eq!(ids(view.pools_between(CHAIN, one, other).unwrap()), [id(11), id(13)]);
    }
    assert_eq!(ids(view.pools_between(CHAIN, c, a).unwrap()), [id(12)]);
    assert!(view.pools_between(CHAIN, b, c).unwrap().is_empty());
    assert_eq!(view.pools_of(CHAIN, a).unwrap().len(), 3);
    assert_eq!(view.pools_between(CHAIN, a, c).unwrap(), [pools[1].clone()]);
}

#[test]
fn a_state_is_made_of_the_asked_blocks_alone() {
    let home = Home::new();
    home.apply(vec![block(5, Vec::new(), vec![(11, ranged(100))])]).unwrap();
    home.apply(vec![block(6, Vec::new(), vec![(11, more(5))])]).unwrap();
    home.apply(vec![block(7, Vec::new(), vec![(11, more(-50))])]).unwrap();
    let view = home.store().view();
    let id = PoolId::Contract(addr(11));
    let held = |blocks| {
        let found = view.pool_state_within(CHAIN, &id, blocks).unwrap();
        found.map(|(state, at)| match state {
            PoolState::Ranged { liquidity, .. } => (liquidity, at),
            PoolState::Reserves { .. } => panic!("it holds ranges"),
        })
    };
    assert_eq!(held((0, 9)), Some((55, 7)));
    assert_eq!(held((5, 6)), Some((105, 6)));
    assert_eq!(held((5, 5)), Some((100, 5)));
    assert_eq!(held((0, 4)), None);
    assert_eq!(held((6, 9)), None, "what it held before block 6 is not known");
}

#[test]
fn names_of_tokens_are_kept_and_are_no_part_of_the_digest() {
    let mut home = Home::new();
    let before = home.digest();
    let name = Some("Münze".to_owned());
    let token = Token { name, symbol: None, decimals: Some(7), source: Source::Contract };
    home.store().put_token(CHAIN, addr(1), &token).unwrap();
    assert_eq!(home.digest(), before);
    home.store().persist().unwrap();
    home.reopen();
    let view = home.store().view();
    assert_eq!(view.token(CHAIN, addr(1)).unwrap(), Some(token));
    assert_eq!(view.token(CHAIN, addr(2)).unwrap(), None);
    assert_eq!(view.token(model::chain::ChainId(1), addr(1)).unwrap(), None);
}
