//! Streams come, change and go; what is left behind must be as if they had never been.

use std::collections::{BTreeMap, BTreeSet};

use alloy_primitives::Address;
use proptest::prelude::*;

use super::made_block::{A, B, block};
use super::plans::{CHAIN, events, logs, native, of_all, plan};
use crate::matching::{MatchQuery, Parts, Slot, SpamList, StreamIndex, match_block};

fn slots(index: &StreamIndex) -> Vec<Slot> {
    let (block, spam) = (block(), SpamList::default());
    let only = |_| true;
    let (chain, parts) = (CHAIN, Parts::ALL);
    let query = MatchQuery { index, chain, block: &block, spam: &spam, only: &only, parts };
    match_block(query).into_iter().map(|found| found.slot).collect()
}

#[test]
fn a_slot_can_be_used_again() {
    let mut index = StreamIndex::new();
    index.put(1, plan(native()));
    index.add_addresses(1, [A, B]);
    index.put(2, plan(native()));
    index.add_addresses(2, [A]);
    assert_eq!(slots(&index), [1, 2]);
    index.remove(1);
    assert_eq!(slots(&index), [2]);
    index.put(1, plan(native()));
    assert_eq!(slots(&index), [2], "the new stream has no addresses of the old one");
    assert_eq!(index.address_count(1), 0);
    index.add_addresses(1, [B]);
    assert_eq!(slots(&index), [1, 2]);
}

#[test]
fn a_change_keeps_addresses_and_moves_events() {
    let mut index = StreamIndex::new();
    index.put(1, plan(of_all(events("Transfer", 2))));
    assert_eq!(slots(&index), [1]);
    index.put(1, plan(of_all(events("Other", 2))));
    assert!(slots(&index).is_empty());
    index.add_addresses(1, [A]);
    index.put(1, plan(logs()));
    assert_eq!(slots(&index), [1]);
    assert!(index.plan(1).is_some_and(|plan| plan.definition == logs()));
    index.remove(1);
    assert!(index.plan(1).is_none());
    assert!(slots(&index).is_empty());
}

#[derive(Clone, Debug)]
enum Step {
    Add(Slot, Vec<u8>),
    Take(Slot, Vec<u8>),
    Remove(Slot),
}

fn step() -> impl Strategy<Value = Step> {
    let few = proptest::collection::vec(0u8..12, 0..6);
    prop_oneof![
        4 => (0u32..5, few.clone()).prop_map(|(slot, list)| Step::Add(slot, list)),
        3 => (0u32..5, few).prop_map(|(slot, list)| Step::Take(slot, list)),
        1 => (0u32..5).prop_map(Step::Remove),
    ]
}

proptest! {
    #[test]
    fn the_index_knows_who_watches_what(steps in proptest::collection::vec(step(), 0..60)) {
        let mut index = StreamIndex::new();
        let mut known: BTreeMap<u8, BTreeSet<Slot>> = BTreeMap::new();
        let addresses = |list: &[u8]| list.iter().copied().map(Address::repeat_byte).collect::<Vec<_>>();
        for step in steps {
            match step {
                Step::Add(slot, list) => {
                    index.add_addresses(slot, addresses(&list));
                    for n in list {
                        known.entry(n).or_default().insert(slot);
                    }
                }
                Step::Take(slot, list) => {
                    index.remove_addresses(slot, addresses(&list));
                    for n in list {
                        known.entry(n).or_default().remove(&slot);
                    }
                }
                Step::Remove(slot) => {
                    index.remove(slot);
                    known.values_mut().for_each(|slots| { slots.remove(&slot); });
                }
            }
            for n in 0..12 {
                let address = Address::repeat_byte(n);
                let expected: Vec<Slot> = known.get(&n).into_iter().flatten().copied().collect();
                prop_assert_eq!(index.slots_of(&address), &expected[..]);
                for slot in 0..5 {
                    prop_assert_eq!(index.has_address(slot, address), expected.contains(&slot));
                }
            }
            for slot in 0..5 {
                let count = known.values().filter(|slots| slots.contains(&slot)).count();
                prop_assert_eq!(index.address_count(slot), count);
            }
        }
    }
}
