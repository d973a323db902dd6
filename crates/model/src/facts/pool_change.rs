//! What a block changed in a pool, small enough for one row, and how rows add up to a state.
//!
//! Most events tell the whole state. Adding or taking liquidity in a range of prices does not: whether
//! it counts depends on the price before, which may be known from another block only. Such a row says
//! what was added where, and the reader folds: oldest first, from the last row that tells a state.

use alloy_primitives::U256;

use super::PoolId;

/// What one block made of one pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolChange {
    pub id: PoolId,
    /// The last log that had a part in it, counted within the block.
    pub log_index: u32,
    pub change: Change,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The state at the end of the block, whatever was before.
    State(PoolState),
    /// Liquidity that came and went while the price stood still, ranges mostly put together.
    Liquidity(Vec<RangeDelta>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PoolState {
    Reserves {
        reserve0: U256,
        reserve1: U256,
    },
    /// Concentrated liquidity: the root of token1 per token0 times 2^96, and what is in range there.
    Ranged {
        sqrt_price: U256,
        liquidity: u128,
        tick: i32,
    },
}

/// Liquidity that counts while `lower <= tick < upper`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeDelta {
    pub lower: i32,
    pub upper: i32,
    pub delta: i128,
}

impl PoolState {
    fn add(&mut self, ranges: &[RangeDelta]) {
        let PoolState::Ranged { liquidity, tick, .. } = self else { return };
        // As one sum: a pool may go below zero on the way only because a row merged what came and went.
        let inside = ranges.iter().filter(|it| it.lower <= *tick && *tick < it.upper);
        let (mut plus, mut minus) = (0u128, 0u128);
        for range in inside {
            let side = if range.delta < 0 { &mut minus } else { &mut plus };
            *side = side.saturating_add(range.delta.unsigned_abs());
        }
        *liquidity = liquidity.saturating_add(plus).saturating_sub(minus);
    }
}

impl Change {
    /// The state after this change, if it is told or follows from the one before.
    pub fn fold(&self, earlier: Option<&PoolState>) -> Option<PoolState> {
        match self {
            Change::State(state) => Some(state.clone()),
            Change::Liquidity(ranges) => {
                let mut state = earlier?.clone();
                state.add(ranges);
                Some(state)
            }
        }
    }

    /// This change and then another one, as one.
    pub fn then(&mut self, later: Change) {
        match (&mut *self, later) {
            (_, Change::State(state)) => *self = Change::State(state),
            (Change::State(state), Change::Liquidity(ranges)) => state.add(&ranges),
            (Change::Liquidity(mine), Change::Liquidity(ranges)) => {
                ranges.into_iter().for_each(|range| merge(mine, range));
            }
        }
    }

    /// Whether it says nothing, since all that came went.
    pub fn is_nothing(&self) -> bool {
        matches!(self, Change::Liquidity(ranges) if ranges.iter().all(|it| it.delta == 0))
    }
}

fn merge(ranges: &mut Vec<RangeDelta>, new: RangeDelta) {
    let same = |it: &&mut RangeDelta| (it.lower, it.upper) == (new.lower, new.upper);
    // Newest first: liquidity that leaves has most often just come.
    if let Some(old) = ranges.iter_mut().rev().take(64).find(same)
        && let Some(sum) = old.delta.checked_add(new.delta)
    {
        old.delta = sum;
        return;
    }
    ranges.push(new);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn states() -> impl Strategy<Value = PoolState> {
        prop_oneof![
            (any::<[u8; 32]>(), any::<[u8; 32]>()).prop_map(|(a, b)| PoolState::Reserves {
                reserve0: U256::from_be_bytes(a),
                reserve1: U256::from_be_bytes(b),
            }),
            (any::<[u8; 20]>(), 1u128 << 100..1u128 << 110, -20i32..20).prop_map(
                |(root, liquidity, tick)| PoolState::Ranged {
                    sqrt_price: U256::from_be_slice(&root),
                    liquidity,
                    tick,
                }
            ),
        ]
    }

    fn ranges() -> impl Strategy<Value = RangeDelta> {
        (-20i32..20, 0i32..20, -1_000_000i128..1_000_000)
            .prop_map(|(lower, width, delta)| RangeDelta { lower, upper: lower + width, delta })
    }

    fn changes() -> impl Strategy<Value = Change> {
        prop_oneof![
            states().prop_map(Change::State),
            proptest::collection::vec(ranges(), 0..6).prop_map(Change::Liquidity),
        ]
    }

    proptest! {
        #[test]
        fn changes_put_together_do_what_they_do_one_by_one(
            start in proptest::option::of(states()),
            list in proptest::collection::vec(changes(), 1..12),
            cut in any::<prop::sample::Index>(),
        ) {
            let one_by_one = list.iter().fold(start.clone(), |state, it| it.fold(state.as_ref()));
            // As two blocks would: each folds its own part, the reader folds both.
            let (first, second) = list.split_at(cut.index(list.len()));
            let mut state = start;
            for part in [first, second] {
                let mut sum = Change::Liquidity(Vec::new());
                part.iter().for_each(|it| sum.then(it.clone()));
                state = sum.fold(state.as_ref());
            }
            prop_assert_eq!(state, one_by_one);
        }
    }

    #[test]
    fn liquidity_counts_from_its_lower_tick_to_just_below_its_upper_one() {
        let at = |tick| PoolState::Ranged { sqrt_price: U256::from(1), liquidity: 100, tick };
        let added = Change::Liquidity(vec![RangeDelta { lower: -10, upper: 10, delta: 7 }]);
        for (tick, expected) in [(-11, 100), (-10, 107), (9, 107), (10, 100)] {
            let Some(PoolState::Ranged { liquidity, .. }) = added.fold(Some(&at(tick))) else {
                panic!("a ranged pool stays one")
            };
            assert_eq!(liquidity, expected, "at tick {tick}");
        }
    }

    #[test]
    fn without_an_earlier_state_added_liquidity_tells_none() {
        let added = Change::Liquidity(vec![RangeDelta { lower: 0, upper: 1, delta: 1 }]);
        assert_eq!(added.fold(None), None);
    }
}
