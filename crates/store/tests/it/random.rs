//! Random chains, arrival orders, reorgs and restarts: the store ends as if it had only ever seen
//! the final chain.

use proptest::prelude::*;
use store::{Change, Error};
use testkit::SimChain;

use crate::setup::*;

#[derive(Clone, Debug)]
enum Step {
    Extend(usize),
    Reorg {
        depth: usize,
        new_len: usize,
    },
    /// Blocks of the chain as it is, in this order, some of them together.
    Arrive {
        order: Vec<prop::sample::Index>,
        at_once: usize,
    },
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let order = prop::collection::vec(any::<prop::sample::Index>(), 1..25);
    prop_oneof![
        2 => (1usize..6).prop_map(Step::Extend),
        2 => (1usize..9, 0usize..10).prop_map(|(depth, new_len)| Step::Reorg { depth, new_len }),
        5 => (order, 1usize..6).prop_map(|(order, at_once)| Step::Arrive { order, at_once }),
        1 => Just(Step::Reopen),
    ]
}

/// Stored blocks that are not on the chain, newest first.
pub fn stale(home: &Home, chain: &SimChain) -> Vec<u64> {
    let view = home.store().view();
    let coverage = view.coverage(CHAIN).unwrap();
    let numbers = coverage.ranges().iter().flat_map(|(from, to)| *from..=*to);
    let is_stale = |number: &u64| {
        let stored = view.stamp(CHAIN, *number).unwrap().unwrap().hash;
        chain.block(*number).is_none_or(|block| block.hash != stored)
    };
    let mut stale: Vec<u64> = numbers.filter(is_stale).collect();
    stale.reverse();
    stale
}

/// Applies blocks of the chain; what does not fit shows that a reorg went unnoticed.
fn arrive(home: &Home, chain: &SimChain, numbers: &[u64]) {
    let blocks = || numbers.iter().map(|number| at(chain, *number)).collect::<Vec<_>>();
    match home.apply(blocks()) {
        Ok(_) => {}
        Err(Error::Detached { .. } | Error::Occupied { .. }) => {
            let revert = stale(home, chain);
            assert!(!revert.is_empty(), "blocks of one chain must fit each other");
            home.store().commit(CHAIN, Change { revert, apply: blocks() }).unwrap();
        }
        Err(error) => panic!("{error}"),
    }
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn the_store_ends_as_if_it_had_only_seen_the_final_chain(
        seed in 0u64..1000,
        steps in prop::collection::vec(step(), 1..14),
        shuffled in prop::collection::vec(any::<prop::sample::Index>(), 64),
    ) {
        let mut chain = small_chain(seed, 8);
        let mut home = Home::new();
        for step in steps {
            match step {
                Step::Extend(count) => drop(chain.extend(count)),
                Step::Reorg { depth, new_len } => drop(chain.reorg(depth, new_len)),
                Step::Reopen => home.reopen(),
                Step::Arrive { order, at_once } => {
                    let count = chain.blocks().len();
                    let numbers: Vec<u64> = order.iter().map(|i| i.index(count) as u64).collect();
                    numbers.chunks(at_once).for_each(|some| arrive(&home, &chain, some));
                }
            }
        }
        home.revert(stale(&home, &chain)).unwrap();
        let mut left: Vec<u64> = (0..=chain.head_number()).collect();
        for index in shuffled.iter().cycle() {
            if left.is_empty() {
                break;
            }
            let number = left.swap_remove(index.index(left.len()));
            arrive(&home, &chain, &[number]);
        }
        let coverage = home.store().view().coverage(CHAIN).unwrap();
        prop_assert_eq!(coverage.ranges(), [(0, chain.head_number())]);
        prop_assert_eq!(home.digest(), indexed(&chain).digest());
    }
}
