//! Random chains, arrival orders, reorgs and restarts: the store ends as if it had only ever seen
//! the final chain.

use proptest::prelude::*;
use store::{Change, Error, Origin};
use testkit::SimChain;

use crate::chain::{CHAIN, small_chain};
use crate::engine::{Engine, on_every_engine_at_random};
use crate::home::Home;
use crate::random;

on_every_engine_at_random!(the_store_ends_as_if_it_had_only_seen_the_final_chain);

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
pub async fn stale(home: &Home, chain: &SimChain) -> Vec<u64> {
    let view = home.view().await;
    let coverage = view.coverage(CHAIN).await.unwrap();
    let mut stale = Vec::new();
    for number in coverage.ranges().iter().flat_map(|(from, to)| *from..=*to).rev() {
        let stored = view.block_summary(CHAIN, number).await.unwrap().unwrap().hash;
        if chain.block(number).is_none_or(|block| block.hash != stored) {
            stale.push(number);
        }
    }
    stale
}

/// Applies blocks of the chain; what does not fit shows that a reorg went unnoticed.
async fn arrive(home: &Home, chain: &SimChain, numbers: &[u64]) {
    let blocks = || numbers.iter().map(|number| home.at(chain, *number)).collect::<Vec<_>>();
    match home.apply(blocks()).await {
        Ok(_) => {}
        Err(Error::Detached { .. } | Error::Occupied { .. }) => {
            let revert = stale(home, chain).await;
            assert!(!revert.is_empty(), "blocks of one chain must fit each other");
            let change = Change { revert, ..Change::apply(Origin::Head, blocks()) };
            home.commit(change).await.unwrap();
        }
        Err(error) => panic!("{error}"),
    }
}

fn the_store_ends_as_if_it_had_only_seen_the_final_chain(engine: Engine) {
    let steps = prop::collection::vec(step(), 1..14);
    let shuffled = prop::collection::vec(any::<prop::sample::Index>(), 64);
    let case = (0u64..1000, steps, shuffled);
    random::check(&random::runtime(), 24, case, async |(seed, steps, shuffled)| {
        let mut chain = small_chain(seed, 8);
        let mut home = Home::new(engine).await;
        for step in steps {
            match step {
                Step::Extend(count) => drop(chain.extend(count)),
                Step::Reorg { depth, new_len } => drop(chain.reorg(depth, new_len)),
                Step::Reopen => home.reopen().await,
                Step::Arrive { order, at_once } => {
                    let count = chain.blocks().len();
                    let numbers: Vec<u64> = order.iter().map(|i| i.index(count) as u64).collect();
                    for some in numbers.chunks(at_once) {
                        arrive(&home, &chain, some).await;
                    }
                }
            }
        }
        home.revert(stale(&home, &chain).await).await.unwrap();
        let mut left: Vec<u64> = (0..=chain.head_number()).collect();
        for index in shuffled.iter().cycle() {
            if left.is_empty() {
                break;
            }
            let number = left.swap_remove(index.index(left.len()));
            arrive(&home, &chain, &[number]).await;
        }
        let coverage = home.view().await.coverage(CHAIN).await.unwrap();
        assert_eq!(coverage.ranges(), [(0, chain.head_number())]);
        assert_eq!(home.digest().await, Home::indexed(engine, &chain).await.digest().await);
    });
}
