//! Every family of pools, on events of our own making.

use alloy_primitives::{Address, B256, U256, keccak256};
use decode::dex::{Dex, UNPROVEN_MAX};
use model::chain::ExchangeKind;
use model::facts::{Change, Pool, PoolFacts, PoolId, PoolState, RangeDelta};

use crate::encode::*;

fn root(n: u64) -> U256 {
    U256::from(n) << 96usize
}

fn only_pool(facts: &PoolFacts) -> &Pool {
    assert_eq!(facts.seen.len(), 1, "{facts:?}");
    &facts.seen[0]
}

fn only_state(facts: &PoolFacts) -> (PoolId, u32, PoolState) {
    assert_eq!(facts.changes.len(), 1, "{facts:?}");
    match &facts.changes[0].change {
        Change::State(state) => (facts.changes[0].id, facts.changes[0].log_index, state.clone()),
        other => panic!("no state: {other:?}"),
    }
}

#[test]
fn a_v2_pair_is_created_synced_and_swapped() {
    let eth = chain("eth");
    let factory = eth.exchange_named("uniswapv2").unwrap().factory;
    let (token0, token1, pair) = (addr(1), addr(2), addr(3));
    let created = log(
        factory,
        "PairCreated(address,address,address,uint256)",
        &[token0.into_word(), token1.into_word()],
        &[pair.into_word(), word(7)],
    );
    let block = block(vec![
        vec![created, sync(pair, 10, 20)],
        vec![sync(pair, 100, 200), swap_v2(pair, [90, 0, 0, 5]), sync(pair, 110, 190)],
    ]);
    let facts = Dex::new(&eth).pools(&block);
    let pool = only_pool(&facts);
    assert_eq!(
        (pool.factory, pool.kind, pool.token0, pool.token1),
        (factory, ExchangeKind::V2, token0, token1)
    );
    let reserves = |a, b| PoolState::Reserves { reserve0: U256::from(a), reserve1: U256::from(b) };
    assert_eq!(only_state(&facts), (PoolId::Contract(pair), 4, reserves(110, 190)));
    let swaps = Dex::new(&eth).swaps(&block);
    assert_eq!(swaps.len(), 1);
    assert_eq!((swaps[0].tx_index, swaps[0].log_index), (1, 3));
    assert_eq!(swaps[0].known.as_ref(), Some(pool));
    assert_eq!(swaps[0].flow.state, Some(reserves(100, 200)), "the one told before the swap");
    assert_eq!(
        (swaps[0].flow.amount0_in, swaps[0].flow.amount1_out),
        (U256::from(90), U256::from(5))
    );
}

#[test]
fn a_v3_pool_is_created_initialized_filled_and_swapped() {
    let eth = chain("eth");
    let factory = eth.exchange_named("uniswapv3").unwrap().factory;
    let (token0, token1, pool) = (addr(1), addr(2), addr(3));
    let created = log(
        factory,
        "PoolCreated(address,address,uint24,int24,address)",
        &[token0.into_word(), token1.into_word(), word(3000)],
        &[signed(60), pool.into_word()],
    );
    let dex = Dex::new(&eth);
    let facts = dex.pools(&block(vec![vec![
        created.clone(),
        initialize_v3(pool, root(2), 13_863),
        mint_v3(pool, 13_800, 13_920, 500),
        mint_v3(pool, 0, 60, 900),
        burn_v3(pool, 13_800, 13_920, 100),
        // A burn of nothing asks for fees only.
        burn_v3(pool, 13_800, 13_920, 0),
    ]]));
    assert_eq!((only_pool(&facts).fee, only_pool(&facts).tick_spacing), (Some(3000), Some(60)));
    let state = |root, liquidity, tick| PoolState::Ranged { sqrt_price: root, liquidity, tick };
    assert_eq!(only_state(&facts).2, state(root(2), 400, 13_863));
    let swapped =
        block(vec![vec![swap_v3(pool, [-7, 9], (root(3), 77, -5)), mint_v3(pool, -10, 10, 3)]]);
    assert_eq!(
        only_state(&dex.pools(&swapped)),
        (PoolId::Contract(pool), 1, state(root(3), 80, -5))
    );
    let swaps = dex.swaps(&swapped);
    assert_eq!(
        (swaps[0].flow.amount0_out, swaps[0].flow.amount1_in),
        (U256::from(7), U256::from(9))
    );
    assert_eq!(swaps[0].flow.state, Some(state(root(3), 77, -5)));
}

#[test]
fn liquidity_without_a_price_in_the_block_is_told_as_such() {
    let dex = Dex::new(&chain("eth"));
    let pool = addr(3);
    let facts = dex.pools(&block(vec![vec![
        mint_v3(pool, -10, 10, 500),
        mint_v3(pool, 5, 10, 7),
        burn_v3(pool, -10, 10, 100),
    ]]));
    let ranges = vec![
        RangeDelta { lower: -10, upper: 10, delta: 400 },
        RangeDelta { lower: 5, upper: 10, delta: 7 },
    ];
    assert_eq!(facts.changes[0].change, Change::Liquidity(ranges));
    let nothing = dex.pools(&block(vec![vec![mint_v3(pool, 1, 2, 5), burn_v3(pool, 1, 2, 5)]]));
    assert_eq!(nothing, PoolFacts::default());
}

#[test]
fn pancake_has_its_own_swap() {
    let pool = addr(3);
    let ends = [addr(901).into_word(), addr(902).into_word()];
    let swap = log(
        pool,
        "Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)",
        &ends,
        &[signed(5), signed(-6), root(1).into(), word(9), signed(-1), word(1), word(0)],
    );
    let dex = Dex::new(&chain("bsc"));
    let block = block(vec![vec![swap]]);
    let expected = PoolState::Ranged { sqrt_price: root(1), liquidity: 9, tick: -1 };
    assert_eq!(only_state(&dex.pools(&block)).2, expected);
    assert_eq!(dex.swaps(&block)[0].flow.amount1_out, U256::from(6));
}

fn v4_key(token0: Address, token1: Address, fee: u32, spacing: i32, hooks: Address) -> B256 {
    let words = [
        token0.into_word(),
        token1.into_word(),
        word(fee),
        signed(spacing.into()),
        hooks.into_word(),
    ];
    keccak256(words.iter().flat_map(|it| it.0).collect::<Vec<u8>>())
}

fn v4_swap(manager: Address, id: B256, fee: u32) -> model::raw::Log {
    log(
        manager,
        "Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)",
        &[id, addr(901).into_word()],
        &[signed(-5), signed(6), root(1).into(), word(9), signed(-1), word(fee)],
    )
}

#[test]
fn a_v4_pool_lives_in_the_one_contract() {
    let eth = chain("eth");
    let manager = eth.exchange_named("uniswapv4").unwrap().factory;
    let (token, hooks) = (addr(1), addr(66));
    let id = v4_key(Address::ZERO, token, 3000, 60, hooks);
    let initialize = log(
        manager,
        "Initialize(bytes32,address,address,uint24,int24,address,uint160,int24)",
        &[id, B256::ZERO, token.into_word()],
        &[word(3000), signed(60), hooks.into_word(), root(1).into(), signed(0)],
    );
    let modify = |delta: i128| {
        log(
            manager,
            "ModifyLiquidity(bytes32,address,int24,int24,int256,bytes32)",
            &[id, addr(901).into_word()],
            &[signed(-60), signed(60), signed(delta), B256::ZERO],
        )
    };
    let dex = Dex::new(&eth);
    let facts = dex.pools(&block(vec![vec![initialize, modify(50), modify(-20)]]));
    let pool = only_pool(&facts);
    assert_eq!((pool.id, pool.factory, pool.kind), (PoolId::V4(id), manager, ExchangeKind::V4));
    assert_eq!((pool.token0, pool.token1, pool.hooks), (Address::ZERO, token, hooks));
    let expected = PoolState::Ranged { sqrt_price: root(1), liquidity: 30, tick: 0 };
    assert_eq!(only_state(&facts).2, expected);

    // The swapper gave 5 of the first and got 6 of the second.
    let swaps = dex.swaps(&block(vec![vec![v4_swap(manager, id, 3000)]]));
    assert_eq!(
        (swaps[0].flow.amount0_in, swaps[0].flow.amount1_out),
        (U256::from(5), U256::from(6))
    );
    // Someone else's contract can say the same, and means nothing.
    assert_eq!(dex.pools(&block(vec![vec![v4_swap(addr(5), id, 3000)]])), PoolFacts::default());
}

#[test]
fn a_v4_pool_is_proven_by_the_tokens_that_moved_as_its_id_is_their_hash() {
    let eth = chain("eth");
    let manager = eth.exchange_named("uniswapv4").unwrap().factory;
    let (token0, token1) = (addr(1).min(addr(2)), addr(1).max(addr(2)));
    let dex = Dex::new(&eth);
    for (first, second, fee, spacing) in
        [(token0, token1, 500, 10), (Address::ZERO, token1, 3000, 60), (token0, token1, 2500, 50)]
    {
        let id = v4_key(first, second, fee, spacing, Address::ZERO);
        let mut logs = vec![v4_swap(manager, id, fee), transfer(second, addr(901), manager)];
        if !first.is_zero() {
            logs.push(transfer(first, manager, addr(901)));
        }
        let facts = dex.pools(&block(vec![logs]));
        let pool = only_pool(&facts);
        assert_eq!((pool.token0, pool.token1, pool.fee), (first, second, Some(fee)));
        assert_eq!(pool.tick_spacing, Some(spacing));
    }
    let hooked = v4_key(token0, token1, 500, 10, addr(66));
    let logs = vec![
        v4_swap(manager, hooked, 500),
        transfer(token0, addr(901), manager),
        transfer(token1, manager, addr(901)),
    ];
    assert!(dex.pools(&block(vec![logs])).seen.is_empty(), "a hook cannot be guessed");
}

#[test]
fn infinity_pools_live_in_a_contract_of_their_own_beside_those_of_v4() {
    let bsc = chain("bsc");
    let (v4, infinity) =
        (named(&bsc, ExchangeKind::V4).factory, named(&bsc, ExchangeKind::INFINITY_CL).factory);
    let (token0, token1, id) = (addr(1).min(addr(2)), addr(1).max(addr(2)), keccak256("a pool"));
    let created = |by: Address| {
        log(
            by,
            "Initialize(bytes32,address,address,address,uint24,bytes32,uint160,int24)",
            &[id, token0.into_word(), token1.into_word()],
            &[B256::ZERO, word(100), word(1 << 16), root(1).into(), signed(0)],
        )
    };
    let swap = |by: Address| {
        log(
            by,
            "Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24,uint16)",
            &[id, addr(901).into_word()],
            &[signed(-5), signed(6), root(1).into(), word(9), signed(-1), word(67), word(0)],
        )
    };
    let dex = Dex::new(&bsc);
    let facts = dex.pools(&block(vec![vec![created(infinity), swap(infinity)]]));
    let pool = only_pool(&facts);
    let who = (pool.id, pool.factory, pool.kind);
    assert_eq!(who, (PoolId::V4(id), infinity, ExchangeKind::INFINITY_CL));
    assert_eq!((pool.token0, pool.token1), (token0, token1));
    assert_eq!((pool.fee, pool.tick_spacing), (Some(100), Some(1)));
    let expected = PoolState::Ranged { sqrt_price: root(1), liquidity: 9, tick: -1 };
    assert_eq!(only_state(&facts).2, expected);
    // Each contract speaks for its own family alone, and nobody else for either.
    for stranger in [v4, addr(5)] {
        let said = block(vec![vec![created(stranger), swap(stranger)]]);
        assert_eq!(dex.pools(&said), PoolFacts::default());
    }
    assert_eq!(dex.pools(&block(vec![vec![v4_swap(infinity, id, 100)]])), PoolFacts::default());
}

fn named(chain: &model::chain::Chain, kind: ExchangeKind) -> &model::chain::Exchange {
    chain.exchanges.iter().find(|it| it.kind == kind).unwrap()
}

#[test]
fn solidly_and_algebra_pools_are_known_by_their_creation() {
    let base = chain("base");
    let aerodrome = base.exchange_named("aerodrome").unwrap().factory;
    let (token0, token1, pool) = (addr(1), addr(2), addr(3));
    for stable in [false, true] {
        let created = log(
            aerodrome,
            "PoolCreated(address,address,bool,address,uint256)",
            &[token0.into_word(), token1.into_word(), word(u64::from(stable))],
            &[pool.into_word(), word(9)],
        );
        let sync = log(pool, "Sync(uint256,uint256)", &[], &[word(5), word(6)]);
        let facts = Dex::new(&base).pools(&block(vec![vec![created, sync]]));
        assert_eq!(only_pool(&facts).stable, Some(stable));
        assert_eq!(only_pool(&facts).kind, ExchangeKind::SOLIDLY);
        let expected = PoolState::Reserves { reserve0: U256::from(5), reserve1: U256::from(6) };
        assert_eq!(only_state(&facts).2, expected);
    }
    let polygon = chain("polygon");
    let factory =
        polygon.exchanges.iter().find(|it| it.kind == ExchangeKind::ALGEBRA).unwrap().factory;
    let topics = [token0.into_word(), token1.into_word()];
    let created = log(factory, "Pool(address,address,address)", &topics, &[pool.into_word()]);
    let facts = Dex::new(&polygon)
        .pools(&block(vec![vec![created, swap_v3(pool, [1, -1], (root(1), 5, 0))]]));
    assert_eq!((only_pool(&facts).kind, only_pool(&facts).fee), (ExchangeKind::ALGEBRA, None));
}

#[test]
fn a_sandwich_inside_a_block_leaves_no_trace() {
    let dex = Dex::new(&chain("eth"));
    let pair = addr(3);
    let calm = dex.pools(&block(vec![vec![], vec![], vec![sync(pair, 100, 200)]]));
    let sandwiched = dex.pools(&block(vec![
        vec![sync(pair, 10, 2000)],
        vec![sync(pair, 9, 2222)],
        vec![sync(pair, 100, 200)],
    ]));
    assert_eq!(only_state(&sandwiched).2, only_state(&calm).2);
}

#[test]
fn a_block_full_of_made_up_pools_costs_a_bounded_number_of_rows() {
    let eth = chain("eth");
    let factory = eth.exchange_named("uniswapv2").unwrap().factory;
    let mut txs: Vec<_> =
        (0..UNPROVEN_MAX as u64 + 500).map(|n| vec![sync(addr(1000 + n), 1, 1)]).collect();
    // A pool that is proven keeps its place, however late it comes.
    let real = addr(3);
    let topics = [addr(1).into_word(), addr(2).into_word()];
    let created = log(
        factory,
        "PairCreated(address,address,address,uint256)",
        &topics,
        &[real.into_word(), word(1)],
    );
    txs.push(vec![created, sync(real, 5, 5)]);
    let facts = Dex::new(&eth).pools(&block(txs));
    assert_eq!(facts.changes.len(), UNPROVEN_MAX + 1);
    assert!(facts.changes.iter().any(|it| it.id == PoolId::Contract(real)));
    assert!(
        facts.changes.iter().any(|it| it.id == PoolId::Contract(addr(1000))),
        "the first ones stay"
    );
}
