//! Trades in pools: as many as asked for, true to the pools' rules, gone with their block.

use alloy_primitives::{U256, U512};
use testkit::{Holdings, Kind, SimChain, SimConfig};

fn chain(pool_trades_per_block: usize) -> SimChain {
    let config = SimConfig { pool_trades_per_block, block_time_s: 900, ..SimConfig::seeded(9) };
    let mut chain = SimChain::new(config);
    chain.extend(60);
    chain
}

#[test]
fn there_are_as_many_in_a_block_as_asked_for_and_none_unasked() {
    for asked in [0, 1, 4] {
        let chain = chain(asked);
        for block in chain.blocks().iter().skip(1) {
            let trades = block.txs.iter().filter(|tx| tx.kind == Kind::PoolTrade).count();
            assert_eq!(trades, asked, "block {}", block.number());
        }
        assert_eq!(chain.pools_at(60).len(), if asked == 0 { 0 } else { 7 });
    }
}

/// Without the rest of the chain: what one block has is what the one before made possible.
#[test]
fn nobody_takes_more_out_of_a_pool_than_its_rule_allows() {
    let chain = chain(4);
    for number in 3..60 {
        for ((pool, before), (_, after)) in
            chain.pools_at(number).into_iter().zip(chain.pools_at(number + 1))
        {
            match (before, after) {
                (
                    Holdings::Pair { reserve0, reserve1 },
                    Holdings::Pair { reserve0: now0, reserve1: now1 },
                ) => {
                    let product = |a: u128, b: u128| U256::from(a) * U256::from(b);
                    assert!(product(now0, now1) >= product(reserve0, reserve1), "{pool}");
                }
                (
                    Holdings::Ranged { liquidity, .. },
                    Holdings::Ranged { sqrt_price, liquidity: now },
                ) => {
                    assert_eq!(liquidity, now, "{pool}");
                    // The price is the quotient of what lies on either side.
                    let [amount0, amount1] = after.reserves().map(U512::from);
                    let price: U512 = (amount1 << 192usize) / amount0;
                    let square = U512::from(sqrt_price);
                    let square = square * square;
                    let apart = price.max(square) - price.min(square);
                    assert!(apart * U512::from(1_000_000) < square, "{pool}: {price} {square}");
                }
                _ => panic!("{pool} became another kind"),
            }
        }
    }
}

#[test]
fn a_reorg_brings_pools_back_to_where_they_were() {
    let mut chain = chain(4);
    let (before, top) = (chain.pools_at(55), chain.pools_at(60));
    chain.reorg(5, 0);
    assert_eq!(chain.pools_at(chain.head_number()), before);
    chain.extend(5);
    let other = chain.pools_at(60);
    assert_ne!(other, top, "another branch has other trades");
    assert_ne!(other, before);
}

#[test]
fn pools_of_one_pair_stay_together_and_prices_move() {
    let mut chain = chain(4);
    chain.extend(240);
    let usd = |number: u64| -> Vec<f64> {
        let pools = chain.pools_at(number);
        // The coin in dollars, by its two pools: dollars have 6 decimals and the lower address.
        pools[..2]
            .iter()
            .map(|(_, held)| {
                let [dollars, coins] = held.reserves();
                dollars as f64 / coins as f64 * 1e12
            })
            .collect()
    };
    let mut seen = Vec::new();
    for number in 10..=300 {
        let prices = usd(number);
        let (low, high) = (prices[0].min(prices[1]), prices[0].max(prices[1]));
        assert!(high / low < 1.08, "block {number}: {prices:?}");
        assert!((2_700.0..3_700.0).contains(&low), "block {number}: {prices:?}");
        seen.push(low);
    }
    let (low, high) = seen.iter().fold((f64::MAX, 0f64), |(l, h), it| (l.min(*it), h.max(*it)));
    assert!(high / low > 1.03, "from {low} to {high}");
}
