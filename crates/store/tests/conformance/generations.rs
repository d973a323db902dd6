//! Facts read anew: whatever comes and goes meanwhile, and wherever it is broken off, nobody sees a
//! mixture, and in the end the store is the one that only ever knew the last decoder.

use alloy_primitives::B256;
use model::facts::Pool;
use proptest::prelude::*;
use store::{Change, Decoded, Error, Fingerprint, Origin, Version};
use testkit::SimChain;

use crate::arrival::stale;
use crate::chain::{CHAIN, small_chain};
use crate::decoders::*;
use crate::engine::{Engine, on_every_engine, on_every_engine_at_random};
use crate::home::Home;
use crate::random;

on_every_engine!(
    a_chain_of_which_nothing_was_stored_belongs_to_whoever_starts,
    a_mixture_is_not_taken_for_one_reading,
    what_another_decoder_left_half_done_goes_first_and_pools_are_written_again,
    sweeping_stops_when_told_and_a_reader_from_before_goes_on_undisturbed,
    facts_that_replace_others_leave_nothing_of_them,
    the_version_tells_when_another_generation_answers,
);
on_every_engine_at_random!(reading_anew_ends_as_if_the_last_decoder_had_read_everything);

async fn pools(home: &Home) -> Vec<Pool> {
    let mut pools = home.view().await.pools_of(CHAIN, TOKEN).await.unwrap();
    pools.sort_by_key(|pool| pool.id);
    pools
}

async fn a_chain_of_which_nothing_was_stored_belongs_to_whoever_starts(engine: Engine) {
    let chain = small_chain(1, 3);
    let mut home = Home::new(engine).await;
    assert!(!start(&home, OLD).await.is_behind(OLD.fingerprint()));
    let again = start(&home, NEW).await;
    assert!(!again.is_behind(NEW.fingerprint()), "still nothing was stored");
    home.apply(vec![NEW.prepared(&home, &chain, chain.block(1).unwrap().hash)]).await.unwrap();
    home.reopen().await;
    assert!(!start(&home, NEW).await.is_behind(NEW.fingerprint()));
    assert!(start(&home, OLD).await.is_behind(OLD.fingerprint()));
}

async fn a_mixture_is_not_taken_for_one_reading(engine: Engine) {
    let chain = small_chain(2, 6);
    let mut home = Home::new(engine).await;
    let apply = async |home: &Home, decoder: Decoder, number| {
        let hash = chain.block(number).unwrap().hash;
        home.apply(vec![decoder.prepared(home, &chain, hash)]).await.unwrap();
    };
    start(&home, OLD).await;
    apply(&home, OLD, 1).await;
    start(&home, NEW).await;
    apply(&home, NEW, 2).await;
    // The old decoder's process comes back and must not think that all is its own.
    assert!(start(&home, OLD).await.is_behind(OLD.fingerprint()));
    // A process that does not say who decodes spoils what is being built, and all know.
    assert!(walk(&home, NEW, 1).await);
    home.reopen().await;
    apply(&home, OLD, 3).await;
    let generations = home.view().await.generations(CHAIN).await.unwrap();
    assert_eq!((generations.building, generations.decoded_with), (None, Fingerprint::ZERO));
    // Who began before that and does not know cannot go on, nor finish.
    let [late, later] = [rebuild(&home, NEW).await, rebuild(&home, NEW).await];
    start(&home, OLD).await;
    apply(&home, OLD, 4).await;
    let late = late.write(Vec::new(), 0).await;
    assert!(matches!(late, Err(Error::NotBuilding { chain: 1337 })));
    assert!(matches!(later.finish(&patience()).await, Err(Error::NotBuilding { .. })));
}

async fn what_another_decoder_left_half_done_goes_first_and_pools_are_written_again(
    engine: Engine,
) {
    let chain = small_chain(3, 20);
    let home = indexed_by(engine, &chain, OLD).await;
    // In one process, and under one number: what it remembers of pools must go with their rows.
    assert!(walk(&home, OTHER, 12).await);
    start(&home, NEW).await;
    assert!(finish(&home, NEW).await > 0);
    assert_eq!(home.store().remove_unused_facts(CHAIN, &patience()).await.unwrap(), 0);
    let expected = indexed_by(engine, &chain, NEW).await;
    assert_eq!(home.digest().await, expected.digest().await);
    assert_eq!(pools(&home).await, pools(&expected).await);
    for decoder in [OLD, NEW, OTHER, OLD] {
        finish(&home, decoder).await;
        let expected = indexed_by(engine, &chain, decoder).await;
        assert_eq!(home.digest().await, expected.digest().await);
        assert_eq!(pools(&home).await, pools(&expected).await);
    }
}

async fn sweeping_stops_when_told_and_a_reader_from_before_goes_on_undisturbed(engine: Engine) {
    let chain = small_chain(4, 12);
    let home = indexed_by(engine, &chain, OLD).await;
    let before = home.view().await;
    let digest = before.digest(CHAIN).await.unwrap();
    walk_all(&home, NEW).await;
    assert_eq!(rebuild(&home, NEW).await.finish(&|| true).await.unwrap(), 0);
    assert_eq!(home.store().remove_unused_facts(CHAIN, &|| true).await.unwrap(), 0);
    let stopped = home.store().rebuild_facts(CHAIN, OTHER.fingerprint(), &|| true).await.unwrap();
    assert!(stopped.is_none());
    assert!(home.store().remove_unused_facts(CHAIN, &patience()).await.unwrap() > 0);
    assert_eq!(before.digest(CHAIN).await.unwrap(), digest);
    assert_eq!(home.digest().await, indexed_by(engine, &chain, NEW).await.digest().await);
}

async fn facts_that_replace_others_leave_nothing_of_them(engine: Engine) {
    let chain = small_chain(5, 12);
    let home = indexed_by(engine, &chain, OLD).await;
    let rebuild = rebuild(&home, NEW).await;
    let blocks: Vec<_> = chain.blocks().iter().map(|b| (b.number(), b.hash)).collect();
    for decoder in [OTHER, NEW] {
        assert_eq!(rebuild.write(decoder.decoded(&blocks), 0).await.unwrap(), 13);
    }
    // Of a block that is not stored, nothing is taken.
    let unknown = Decoded { number: 3, hash: B256::ZERO, facts: OTHER.facts(B256::ZERO) };
    assert_eq!(rebuild.write(vec![unknown], 0).await.unwrap(), 0);
    rebuild.finish(&patience()).await.unwrap();
    assert_eq!(home.digest().await, indexed_by(engine, &chain, NEW).await.digest().await);
}

async fn the_version_tells_when_another_generation_answers(engine: Engine) {
    let chain = small_chain(6, 4);
    let home = Home::new(engine).await;
    let version = async || home.store().version(CHAIN).await.unwrap();
    assert_eq!(version().await, Version::default());
    start(&home, OLD).await;
    assert_eq!(version().await, Version::default(), "nothing was stored");
    home.apply(vec![OLD.prepared(&home, &chain, chain.block(1).unwrap().hash)]).await.unwrap();
    let before = version().await;
    assert_eq!((before.seq, before.generation), (1, 0));
    assert!(walk(&home, NEW, 1).await);
    assert_eq!(version().await, before, "the old one answers still");
    finish(&home, NEW).await;
    let after = version().await;
    assert_eq!((after.seq, after.generation), (1, 1));
    assert_eq!(home.view().await.version(CHAIN).await.unwrap(), after);
    assert_eq!(home.view().await.generations(CHAIN).await.unwrap().current, 1);
}

#[derive(Clone, Debug)]
enum Step {
    Extend(usize),
    Reorg {
        depth: usize,
        new_len: usize,
    },
    Arrive {
        order: Vec<prop::sample::Index>,
        at_once: usize,
    },
    Walk(usize),
    /// A restart, or an upgrade, or a step back.
    Restart(bool),
    Sweep,
}

fn step() -> impl Strategy<Value = Step> {
    let order = prop::collection::vec(any::<prop::sample::Index>(), 1..16);
    prop_oneof![
        2 => (1usize..4).prop_map(Step::Extend),
        2 => (1usize..7, 1usize..7).prop_map(|(depth, new_len)| Step::Reorg { depth, new_len }),
        4 => (order, 1usize..6).prop_map(|(order, at_once)| Step::Arrive { order, at_once }),
        5 => (1usize..6).prop_map(Step::Walk),
        2 => prop::bool::weighted(0.8).prop_map(Step::Restart),
        1 => Just(Step::Sweep),
    ]
}

/// Applies blocks to both stores, reverting first what is no longer on the chain.
async fn arrive(homes: [&Home; 2], chain: &SimChain, numbers: &[u64], decoder: Decoder) {
    for home in homes {
        let hash = |number: &u64| chain.block(*number).unwrap().hash;
        let apply = numbers.iter().map(|n| decoder.prepared(home, chain, hash(n))).collect();
        let revert = stale(home, chain).await;
        home.commit(Change { revert, ..Change::apply(Origin::Head, apply) }).await.unwrap();
    }
}

fn reading_anew_ends_as_if_the_last_decoder_had_read_everything(engine: Engine) {
    let case = (0u64..1000, prop::collection::vec(step(), 1..24));
    random::check(&random::runtime(), 32, case, async |(seed, steps)| {
        let mut chain = small_chain(seed, 10);
        let mut home = indexed_by(engine, &chain, OLD).await;
        // Sees the same blocks come and go, and is never read anew.
        let plain = indexed_by(engine, &chain, OLD).await;
        let mut decoder = NEW;
        start(&home, decoder).await;
        for step in steps {
            match step {
                Step::Extend(count) => drop(chain.extend(count)),
                Step::Reorg { depth, new_len } => drop(chain.reorg(depth, new_len)),
                Step::Arrive { order, at_once } => {
                    let count = chain.blocks().len();
                    let numbers: Vec<u64> = order.iter().map(|i| i.index(count) as u64).collect();
                    for some in numbers.chunks(at_once) {
                        arrive([&home, &plain], &chain, some, decoder).await;
                    }
                }
                Step::Walk(some) => drop(walk(&home, decoder, some).await),
                Step::Restart(same) => {
                    home.reopen().await;
                    if !same {
                        decoder = if decoder == NEW { OTHER } else { NEW };
                    }
                    start(&home, decoder).await;
                }
                Step::Sweep => {
                    home.store().remove_unused_facts(CHAIN, &patience()).await.unwrap();
                }
            }
            let (here, there) = (home.digest().await, plain.digest().await);
            assert_eq!(here, there, "what is being built shows before its end");
        }
        let before = home.view().await;
        finish(&home, decoder).await;
        assert_eq!(before.digest(CHAIN).await.unwrap(), plain.digest().await);
        let all: Vec<u64> = (0..=chain.head_number()).collect();
        arrive([&home, &plain], &chain, &all, decoder).await;
        assert_eq!(home.digest().await, indexed_by(engine, &chain, decoder).await.digest().await);
        let generations = home.view().await.generations(CHAIN).await.unwrap();
        assert!(!generations.is_behind(decoder.fingerprint()));
    });
}
