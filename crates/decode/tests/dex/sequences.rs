//! After any sequence of mints, swaps and burns, cut into blocks anywhere, what the rows fold to is
//! what the pool itself holds.

use std::collections::BTreeMap;

use alloy_primitives::{Address, U256};
use decode::dex::Dex;
use model::facts::{PoolId, PoolState};
use model::raw::Log;
use proptest::prelude::*;

use crate::encode::*;

#[derive(Clone, Debug)]
enum Act {
    Mint(i32, i32, u64),
    Burn(usize, u64),
    Swap(i32),
    Block,
}

/// A v3 pool as its contract keeps it: net liquidity at ticks, crossed one by one.
#[derive(Default)]
struct Model {
    tick: i32,
    liquidity: u128,
    net: BTreeMap<i32, i128>,
    positions: Vec<(i32, i32, u64)>,
}

impl Model {
    fn change(&mut self, lower: i32, upper: i32, delta: i128) {
        *self.net.entry(lower).or_default() += delta;
        *self.net.entry(upper).or_default() -= delta;
        if lower <= self.tick && self.tick < upper {
            self.liquidity = self.liquidity.checked_add_signed(delta).unwrap();
        }
    }

    /// In range is whatever began at or below the tick and has not ended.
    fn move_to(&mut self, tick: i32) {
        self.tick = tick;
        let inside: i128 = self.net.range(..=tick).map(|it| it.1).sum();
        self.liquidity = inside.try_into().unwrap();
    }

    fn root(&self) -> U256 {
        // Any price that tells ticks apart will do.
        (U256::from(1) << 96usize) + U256::from((self.tick + 1000) as u64)
    }

    fn play(&mut self, act: &Act, pool: Address) -> Option<Log> {
        match *act {
            Act::Mint(lower, width, amount) => {
                self.change(lower, lower + width, amount.into());
                self.positions.push((lower, lower + width, amount));
                Some(mint_v3(pool, lower, lower + width, amount.into()))
            }
            Act::Burn(which, part) => {
                let count = self.positions.len();
                let position = self.positions.get_mut(which % count.max(1))?;
                let amount = position.2.min(part);
                position.2 -= amount;
                let (lower, upper) = (position.0, position.1);
                self.change(lower, upper, -i128::from(amount));
                Some(burn_v3(pool, lower, upper, amount.into()))
            }
            Act::Swap(tick) => {
                self.move_to(tick);
                Some(swap_v3(pool, [1, -1], (self.root(), self.liquidity, tick)))
            }
            Act::Block => None,
        }
    }
}

fn acts() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (-30i32..30, 1i32..30, 1u64..1_000_000).prop_map(|(a, b, c)| Act::Mint(a, b, c)),
        4 => (any::<usize>(), 1u64..1_000_000).prop_map(|(a, b)| Act::Burn(a, b)),
        2 => (-40i32..40).prop_map(Act::Swap),
        2 => Just(Act::Block),
    ]
}

proptest! {
    #[test]
    fn rows_of_ranged_pools_fold_to_the_pools_own_state(list in proptest::collection::vec(acts(), 1..60)) {
        let dex = Dex::new(&chain("eth"));
        let pool = addr(3);
        let mut model = Model::default();
        let mut blocks = vec![vec![initialize_v3(pool, model.root(), 0)]];
        let mut expected = Vec::new();
        for act in &list {
            match model.play(act, pool) {
                Some(log) => blocks.last_mut().unwrap().push(log),
                None if matches!(act, Act::Block) => {
                    expected.push((model.root(), model.liquidity, model.tick));
                    blocks.push(Vec::new());
                }
                None => {}
            }
        }
        expected.push((model.root(), model.liquidity, model.tick));
        let mut state: Option<PoolState> = None;
        for (logs, (sqrt_price, liquidity, tick)) in blocks.into_iter().zip(expected) {
            // One transaction per log, as in life.
            let facts = dex.pools(&block(logs.into_iter().map(|log| vec![log]).collect()));
            prop_assert!(facts.changes.len() <= 1, "one row per pool and block");
            for row in facts.changes {
                prop_assert_eq!(row.id, PoolId::Contract(pool));
                state = row.change.fold(state.as_ref());
            }
            prop_assert_eq!(state.as_ref(), Some(&PoolState::Ranged { sqrt_price, liquidity, tick }));
        }
    }

    #[test]
    fn the_last_reserves_of_a_block_are_those_of_the_pair(
        reserves in proptest::collection::vec((0u64.., 0u64.., 0u64..3), 1..30),
    ) {
        let dex = Dex::new(&chain("eth"));
        let mut last = BTreeMap::new();
        let logs = reserves.iter().map(|(a, b, n)| {
            last.insert(PoolId::Contract(addr(*n)), (U256::from(*a), U256::from(*b)));
            vec![sync(addr(*n), (*a).into(), (*b).into())]
        });
        let facts = dex.pools(&block(logs.collect()));
        prop_assert_eq!(facts.changes.len(), last.len());
        for row in facts.changes {
            let (reserve0, reserve1) = last[&row.id];
            prop_assert_eq!(row.change.fold(None), Some(PoolState::Reserves { reserve0, reserve1 }));
        }
    }
}
