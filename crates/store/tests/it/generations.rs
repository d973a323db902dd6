//! Facts read anew: whatever comes and goes meanwhile, and wherever it is broken off, nobody sees a
//! mixture, and in the end the store is the one that only ever knew the last decoder.

use alloy_primitives::{Address, B256, U256, keccak256};
use model::facts::{
    Change as PoolStateChange, Facts, Market, Pool, PoolChange, PoolFacts, PoolId, PoolState, Trade,
};
use proptest::prelude::*;
use store::{Change, Decoded, Error, Fingerprint, Prepared, prepare};
use testkit::SimChain;

use crate::setup::*;

/// Who decodes: what they find in a block follows from its hash and their number.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Decoder(u8);

impl Decoder {
    fn fingerprint(self) -> Fingerprint {
        Fingerprint::repeat_byte(self.0)
    }

    fn facts(self, hash: B256) -> Facts {
        let dice = keccak256([hash.as_slice(), &[self.0]].concat());
        let trades = (0..dice[0] % 4).map(|n| self.trade(dice, n)).collect();
        let ids: Vec<u8> = (0..4).filter(|n| dice[1] >> n & 1 == 1).collect();
        let changes = ids.iter().map(|n| PoolChange {
            id: PoolId::Contract(Address::repeat_byte(*n)),
            log_index: u32::from(dice[2]),
            change: PoolStateChange::State(PoolState::Reserves {
                reserve0: U256::from(dice[3]),
                reserve1: U256::from(dice[4]),
            }),
        });
        let seen = ids.iter().map(|n| self.pool(*n));
        Facts { trades, pools: PoolFacts { seen: seen.collect(), changes: changes.collect() } }
    }

    fn trade(self, dice: B256, n: u8) -> Trade {
        Trade {
            tx_index: u32::from(n),
            log_index: u32::from(n),
            market: if dice[5] & 1 == 0 { Market::ALL[0] } else { Market::ALL[1] },
            marketplace: Address::repeat_byte(9),
            contract: Address::repeat_byte(dice[6 + usize::from(n)] % 3),
            tokens: vec![(U256::from(dice[10]), U256::ONE)],
            seller: Address::repeat_byte(1),
            buyer: Address::repeat_byte(2),
            currency: Address::ZERO,
            price: U256::from(dice[11] % 8),
            mixed: false,
            in_native: dice[12] & 1 == 0,
            reconciled: true,
        }
    }

    /// What a pool is said to be also depends on who decodes.
    fn pool(self, n: u8) -> Pool {
        Pool {
            id: PoolId::Contract(Address::repeat_byte(n)),
            factory: Address::repeat_byte(self.0),
            kind: model::chain::ExchangeKind::V2,
            token0: TOKEN,
            token1: Address::repeat_byte(n),
            fee: None,
            tick_spacing: None,
            hooks: Address::ZERO,
            stable: None,
        }
    }

    fn prepared(self, chain: &SimChain, hash: B256) -> Prepared {
        prepare(CHAIN, block(chain, hash), proven(), self.facts(hash))
    }
}

const TOKEN: Address = Address::repeat_byte(0xaa);
const OLD: Decoder = Decoder(1);
const NEW: Decoder = Decoder(2);
const OTHER: Decoder = Decoder(3);
const NEVER: &dyn Fn() -> bool = &|| false;

fn start(home: &Home, decoder: Decoder) -> store::Generations {
    home.store().decode_with(CHAIN, decoder.fingerprint()).unwrap()
}

/// The chain as one decoder alone would have stored it.
fn indexed_by(chain: &SimChain, decoder: Decoder) -> Home {
    let home = Home::new();
    start(&home, decoder);
    let blocks = chain.blocks().iter().map(|block| decoder.prepared(chain, block.hash));
    home.apply(blocks.collect()).unwrap();
    home
}

/// The next blocks below what was walked, at most so many; false when there are none.
fn walk(home: &Home, decoder: Decoder, some: usize) -> bool {
    let with = decoder.fingerprint();
    let building = home.store().begin_generation(CHAIN, with, NEVER).unwrap().unwrap();
    let view = home.store().view();
    let coverage = view.coverage(CHAIN).unwrap();
    let numbers = coverage.ranges().iter().flat_map(|(from, to)| *from..=*to).rev();
    let below = numbers.filter(|n| building.reached.is_none_or(|reached| *n < reached));
    let blocks: Vec<Decoded> = below
        .take(some)
        .map(|number| {
            let (block, _) = view.whole_block(CHAIN, number).unwrap().unwrap();
            Decoded { number, hash: block.hash, facts: decoder.facts(block.hash) }
        })
        .collect();
    let Some(last) = blocks.last() else { return false };
    home.store().write_generation(CHAIN, with, &blocks, last.number).unwrap();
    // Once more changes nothing.
    home.store().write_generation(CHAIN, with, &blocks, last.number).unwrap();
    true
}

fn finish(home: &Home, decoder: Decoder) {
    while walk(home, decoder, 5) {}
    home.store().finish_generation(CHAIN, decoder.fingerprint()).unwrap();
}

fn pools(home: &Home) -> Vec<Pool> {
    let mut pools = home.store().view().pools_of(CHAIN, TOKEN).unwrap();
    pools.sort_by_key(|pool| pool.id);
    pools
}

#[test]
fn a_chain_of_which_nothing_was_stored_belongs_to_whoever_starts() {
    let chain = small_chain(1, 3);
    let mut home = Home::new();
    assert!(!start(&home, OLD).is_behind(OLD.fingerprint()));
    assert!(!start(&home, NEW).is_behind(NEW.fingerprint()), "still nothing was stored");
    home.apply(vec![NEW.prepared(&chain, chain.block(1).unwrap().hash)]).unwrap();
    home.reopen();
    assert!(!start(&home, NEW).is_behind(NEW.fingerprint()));
    assert!(start(&home, OLD).is_behind(OLD.fingerprint()));
}

#[test]
fn a_mixture_is_not_taken_for_one_reading() {
    let chain = small_chain(2, 6);
    let by = |decoder: Decoder, number| decoder.prepared(&chain, chain.block(number).unwrap().hash);
    let mut home = Home::new();
    start(&home, OLD);
    home.apply(vec![by(OLD, 1)]).unwrap();
    start(&home, NEW);
    home.apply(vec![by(NEW, 2)]).unwrap();
    // The old decoder's process comes back and must not think that all is its own.
    assert!(start(&home, OLD).is_behind(OLD.fingerprint()));
    // A process that does not say who decodes spoils what is in the making, and all know.
    assert!(walk(&home, NEW, 1));
    home.reopen();
    home.apply(vec![by(OLD, 3)]).unwrap();
    let generations = home.store().view().generations(CHAIN).unwrap();
    assert_eq!((generations.building, generations.decoded_with), (None, Fingerprint::ZERO));
    let late = home.store().write_generation(CHAIN, NEW.fingerprint(), &[], 0);
    assert!(matches!(late, Err(Error::NotBuilding { chain: 1337 })));
    let late = home.store().finish_generation(CHAIN, NEW.fingerprint());
    assert!(matches!(late, Err(Error::NotBuilding { .. })));
}

#[test]
fn what_another_decoder_left_half_done_goes_first_and_pools_are_written_again() {
    let chain = small_chain(3, 20);
    let home = indexed_by(&chain, OLD);
    // In one process, and under one number: what it remembers of pools must go with their rows.
    assert!(walk(&home, OTHER, 12));
    start(&home, NEW);
    finish(&home, NEW);
    assert!(home.store().sweep_generations(CHAIN, NEVER).unwrap() > 0);
    assert_eq!(home.store().sweep_generations(CHAIN, NEVER).unwrap(), 0);
    let expected = indexed_by(&chain, NEW);
    assert_eq!(home.digest(), expected.digest());
    assert_eq!(pools(&home), pools(&expected));
    for decoder in [OLD, NEW, OTHER, OLD] {
        finish(&home, decoder);
        home.store().sweep_generations(CHAIN, NEVER).unwrap();
        let expected = indexed_by(&chain, decoder);
        assert_eq!(home.digest(), expected.digest());
        assert_eq!(pools(&home), pools(&expected));
    }
}

#[test]
fn sweeping_stops_when_told_and_a_reader_from_before_goes_on_undisturbed() {
    let chain = small_chain(4, 12);
    let home = indexed_by(&chain, OLD);
    let before = home.store().view();
    let digest = before.digest(CHAIN).unwrap();
    finish(&home, NEW);
    assert_eq!(home.store().sweep_generations(CHAIN, &|| true).unwrap(), 0);
    let stopped = home.store().begin_generation(CHAIN, OTHER.fingerprint(), &|| true).unwrap();
    assert_eq!(stopped, None);
    assert!(home.store().sweep_generations(CHAIN, NEVER).unwrap() > 0);
    assert_eq!(before.digest(CHAIN).unwrap(), digest);
    assert_eq!(home.digest(), indexed_by(&chain, NEW).digest());
}

#[test]
fn facts_that_replace_others_leave_nothing_of_them() {
    let chain = small_chain(5, 12);
    let home = indexed_by(&chain, OLD);
    let with = NEW.fingerprint();
    home.store().begin_generation(CHAIN, with, NEVER).unwrap();
    let read_by = |decoder: Decoder| -> Vec<Decoded> {
        let hashes = chain.blocks().iter().map(|block| (block.number(), block.hash));
        hashes.map(|(number, hash)| Decoded { number, hash, facts: decoder.facts(hash) }).collect()
    };
    assert_eq!(home.store().write_generation(CHAIN, with, &read_by(OTHER), 0).unwrap(), 13);
    assert_eq!(home.store().write_generation(CHAIN, with, &read_by(NEW), 0).unwrap(), 13);
    // Of a block that is not stored, nothing is taken.
    let unknown = Decoded { number: 3, hash: B256::ZERO, facts: OTHER.facts(B256::ZERO) };
    assert_eq!(home.store().write_generation(CHAIN, with, &[unknown], 0).unwrap(), 0);
    home.store().finish_generation(CHAIN, with).unwrap();
    assert_eq!(home.digest(), indexed_by(&chain, NEW).digest());
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

/// Applies blocks to both stores, taking back first what is no longer on the chain.
fn arrive(homes: [&Home; 2], chain: &SimChain, numbers: &[u64], decoder: Decoder) {
    for home in homes {
        let hash = |number: &u64| chain.block(*number).unwrap().hash;
        let apply = numbers.iter().map(|n| decoder.prepared(chain, hash(n))).collect();
        let revert = crate::random::stale(home, chain);
        home.store().commit(CHAIN, Change { revert, apply }).unwrap();
    }
}

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn reading_anew_ends_as_if_the_last_decoder_had_read_everything(
        seed in 0u64..1000,
        steps in prop::collection::vec(step(), 1..24),
    ) {
        let mut chain = small_chain(seed, 10);
        let mut home = indexed_by(&chain, OLD);
        // Sees the same blocks come and go, and is never read anew.
        let plain = indexed_by(&chain, OLD);
        let mut decoder = NEW;
        start(&home, decoder);
        for step in steps {
            match step {
                Step::Extend(count) => drop(chain.extend(count)),
                Step::Reorg { depth, new_len } => drop(chain.reorg(depth, new_len)),
                Step::Arrive { order, at_once } => {
                    let count = chain.blocks().len();
                    let numbers: Vec<u64> = order.iter().map(|i| i.index(count) as u64).collect();
                    for some in numbers.chunks(at_once) {
                        arrive([&home, &plain], &chain, some, decoder);
                    }
                }
                Step::Walk(some) => drop(walk(&home, decoder, some)),
                Step::Restart(same) => {
                    home.reopen();
                    decoder = match same {
                        true => decoder,
                        false if decoder == NEW => OTHER,
                        false => NEW,
                    };
                    start(&home, decoder);
                }
                Step::Sweep => drop(home.store().sweep_generations(CHAIN, NEVER).unwrap()),
            }
            prop_assert_eq!(home.digest(), plain.digest(), "the walk shows before its end");
        }
        let before = home.store().view();
        finish(&home, decoder);
        prop_assert_eq!(before.digest(CHAIN).unwrap(), plain.digest());
        home.store().sweep_generations(CHAIN, NEVER).unwrap();
        let all: Vec<u64> = (0..=chain.head_number()).collect();
        arrive([&home, &plain], &chain, &all, decoder);
        prop_assert_eq!(home.digest(), indexed_by(&chain, decoder).digest());
        let generations = home.store().view().generations(CHAIN).unwrap();
        prop_assert!(!generations.is_behind(decoder.fingerprint()));
    }
}
