//! Whose pool it is: proven by its address, refused to look-alikes, the same whatever was read before.

use alloy_primitives::{Address, B256, U256, keccak256};
use decode::dex::Dex;
use model::chain::{ChainTable, Exchange, ExchangeKind};
use model::facts::PoolId;
use model::raw::Log;
use proptest::prelude::*;

use crate::encode::*;

/// Where the exchange would put the pool of these tokens; written anew here, from the rules alone.
/// `fee` is the tick spacing where pools are told apart by that.
pub fn address_of(exchange: &Exchange, token0: Address, token1: Address, fee: u32) -> Address {
    let words = |list: &[B256]| keccak256(list.iter().flat_map(|it| it.0).collect::<Vec<u8>>());
    let (a, b) = (token0.into_word(), token1.into_word());
    let packed = |tail: &[u8]| keccak256([token0.as_slice(), token1.as_slice(), tail].concat());
    let salt = match exchange.kind.name {
        "v2" | "camelot" => packed(&[]),
        "solidly" => packed(&[0]),
        "algebra" => words(&[a, b]),
        _ => words(&[a, b, word(fee)]),
    };
    let creator = exchange.deployer.unwrap_or(exchange.factory);
    let all =
        [&[0xff], creator.as_slice(), salt.as_slice(), exchange.init_code_hash.unwrap().as_slice()]
            .concat();
    Address::from_slice(&keccak256(all)[12..])
}

pub fn event_of(kind: ExchangeKind, pool: Address) -> Log {
    match kind.name {
        "v3" | "algebra" | "slipstream" => swap_v3(pool, [1, -1], (U256::from(1) << 96usize, 5, 0)),
        "solidly" => log(pool, "Sync(uint256,uint256)", &[], &[word(5), word(6)]),
        _ => sync(pool, 5, 6),
    }
}

#[test]
fn every_exchange_with_a_known_code_proves_its_pools_on_every_chain() {
    let (token0, token1) = (addr(1).min(addr(2)), addr(1).max(addr(2)));
    let mut proven = 0;
    for chain in ChainTable::builtin().unwrap().iter() {
        let dex = Dex::new(chain);
        for exchange in chain.exchanges.iter().filter(|it| it.init_code_hash.is_some()) {
            let fees = match exchange.kind.name {
                "v3" => exchange.fees.clone(),
                "slipstream" => exchange.tick_spacings.clone(),
                _ => vec![0],
            };
            for fee in fees {
                let pool = address_of(exchange, token0, token1, fee);
                let logs = vec![
                    transfer(token1, addr(9), pool),
                    transfer(token0, pool, addr(9)),
                    event_of(exchange.kind, pool),
                ];
                let facts = dex.pools(&block(vec![logs]));
                assert_eq!(facts.seen.len(), 1, "{} on {}", exchange.name, chain.name);
                assert_eq!(facts.seen[0].factory, exchange.factory);
                assert_eq!((facts.seen[0].token0, facts.seen[0].token1), (token0, token1));
                let expected = (exchange.kind == ExchangeKind::V3).then_some(fee);
                assert_eq!(facts.seen[0].fee, expected);
                if exchange.kind == ExchangeKind::SLIPSTREAM {
                    assert_eq!(facts.seen[0].tick_spacing, i32::try_from(fee).ok());
                }
                proven += 1;
            }
        }
    }
    println!("{proven} pools proven");
    assert!(proven > 60);
}

#[test]
fn a_look_alike_belongs_to_nobody() {
    let eth = chain("eth");
    let dex = Dex::new(&eth);
    let pool = addr(3);
    let moved = [transfer(addr(1), addr(9), pool), transfer(addr(2), pool, addr(9))];
    let topics = [addr(1).into_word(), addr(2).into_word()];
    let created = "PairCreated(address,address,address,uint256)";
    let cases: [(&str, Log); 3] = [
        (
            "an event of someone else's factory",
            log(addr(77), created, &topics, &[pool.into_word(), word(1)]),
        ),
        (
            "a factory of another kind",
            log(
                eth.exchange_named("uniswapv3").unwrap().factory,
                created,
                &topics,
                &[pool.into_word(), word(1)],
            ),
        ),
        ("no event at all", sync(pool, 1, 1)),
    ];
    for (what, event) in cases {
        let mut logs = moved.to_vec();
        logs.extend([event, sync(pool, 5, 6), swap_v2(pool, [1, 0, 0, 1])]);
        let facts = dex.pools(&block(vec![logs]));
        assert!(facts.seen.is_empty(), "{what}");
        assert_eq!(facts.changes.len(), 1, "its state is kept: {what}");
    }
}

#[test]
fn a_pool_is_proven_by_its_own_transaction_alone() {
    let eth = chain("eth");
    let exchange = eth.exchange_named("uniswapv2").unwrap();
    let (token0, token1) = (addr(1).min(addr(2)), addr(1).max(addr(2)));
    let pool = address_of(exchange, token0, token1, 0);
    let full = block(vec![vec![
        transfer(token0, addr(9), pool),
        transfer(token1, pool, addr(9)),
        sync(pool, 1, 2),
    ]]);
    let bare = block(vec![vec![sync(pool, 1, 2)]]);
    let half = block(vec![vec![transfer(token0, addr(9), pool), sync(pool, 1, 2)]]);
    let dex = Dex::new(&eth);
    for _ in 0..2 {
        assert_eq!(dex.pools(&full).seen.len(), 1);
        // Known from before, and yet not said: a block's facts follow from the block.
        assert_eq!(dex.pools(&bare).seen.len(), 0);
        assert_eq!(dex.pools(&half).seen.len(), 0);
    }
    let id = PoolId::Contract(pool);
    assert!([&bare, &half].iter().all(|it| dex.pools(it).changes[0].id == id));
}

#[test]
fn a_token_that_floods_a_transaction_with_transfers_hides_its_own_pool_at_most() {
    let eth = chain("eth");
    let exchange = eth.exchange_named("uniswapv2").unwrap();
    let (token0, token1) = (addr(1).min(addr(2)), addr(1).max(addr(2)));
    let pool = address_of(exchange, token0, token1, 0);
    let honest =
        vec![transfer(token0, addr(9), pool), transfer(token1, pool, addr(9)), sync(pool, 1, 2)];
    let flood: Vec<Log> = (100..200).map(|n| transfer(addr(n), addr(9), pool)).collect();
    let flooded = [flood, honest.clone()].concat();
    let dex = Dex::new(&eth);
    assert_eq!(dex.pools(&block(vec![flooded.clone()])).seen.len(), 0);
    assert_eq!(dex.pools(&block(vec![flooded, honest])).seen.len(), 1);
}

#[test]
fn a_block_that_asks_for_endless_proofs_is_read_the_same_every_time() {
    let eth = chain("eth");
    let tx = |n: u64| {
        let pool = addr(n);
        let mut logs: Vec<Log> =
            (0..6).map(|k| transfer(addr(1_000_000 + 6 * n + k), addr(9), pool)).collect();
        logs.push(sync(pool, 1, 2));
        logs
    };
    let block = block((0..450).map(tx).collect());
    let dex = Dex::new(&eth);
    let first = dex.pools(&block);
    assert_eq!(first.changes.len(), 450);
    assert_eq!(dex.pools(&block), first, "knowing more must not reach further");
}

proptest! {
    #[test]
    fn no_log_stops_the_decoder(
        topic in 0usize..20,
        topics in proptest::collection::vec(any::<[u8; 32]>(), 0..4),
        data in proptest::collection::vec(any::<u8>(), 0..300),
        aligned in any::<bool>(),
        from_manager in any::<bool>(),
    ) {
        let eth = chain("eth");
        let names = [
            "Sync(uint112,uint112)", "Swap(address,uint256,uint256,uint256,uint256,address)",
            "Swap(address,address,int256,int256,uint160,uint128,int24)",
            "Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)",
            "Mint(address,address,int24,int24,uint128,uint256,uint256)",
            "Burn(address,int24,int24,uint128,uint256,uint256)",
            "ModifyLiquidity(bytes32,address,int24,int24,int256,bytes32)",
            "Initialize(uint160,int24)", "PoolCreated(address,address,bool,address,uint256)",
            "Initialize(bytes32,address,address,uint24,int24,address,uint160,int24)",
        ];
        let mut all = vec![keccak256(names[topic % names.len()])];
        all.extend(topics.into_iter().map(B256::from));
        let data = if aligned { data[..data.len() / 32 * 32].to_vec() } else { data };
        let manager = eth.exchange_named("uniswapv4").unwrap().factory;
        let log = Log {
            address: Some(if from_manager { manager } else { addr(1) }),
            topics: Some(all),
            data: Some(data.into()),
            ..Log::default()
        };
        let dex = Dex::new(&eth);
        let block = block(vec![vec![log.clone(), log]]);
        let _ = (dex.pools(&block), dex.swaps(&block));
    }
}
