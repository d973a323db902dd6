//! Families by name and code, events by topic: all from the one list.
//!
//! The table of topics is made when the crate is built, so it cannot be forgotten.

use alloy_primitives::B256;
use serde::de::{Deserialize, Deserializer, Error};

use super::FAMILIES;
use super::event::EventReader;
use super::family::ExchangeKind;

impl ExchangeKind {
    pub fn all() -> impl Iterator<Item = ExchangeKind> {
        FAMILIES.iter().map(|family| ExchangeKind(family))
    }

    /// By what stores have for it.
    pub fn from_code(code: u8) -> Option<ExchangeKind> {
        Self::all().find(|kind| kind.code == code)
    }

    /// By what chain files call it.
    pub fn from_name(name: &str) -> Option<ExchangeKind> {
        Self::all().find(|kind| kind.name == name)
    }
}

impl<'de> Deserialize<'de> for ExchangeKind {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let text = String::deserialize(source)?;
        ExchangeKind::from_name(&text).ok_or_else(|| {
            let names: Vec<&str> = Self::all().map(|kind| kind.0.name).collect();
            let names = names.join(", ");
            D::Error::custom(format!("`{text}` is not a kind of exchange; there are {names}"))
        })
    }
}

/// Who reads the event with this topic; `None` for everything that is not about pools, which is most of
/// a block and costs one look into a table.
pub fn event_reader(topic: &B256) -> Option<&'static EventReader> {
    let [first, ..] = topic.0;
    let (start, end) = STARTS.get(usize::from(first)).zip(STARTS.get(usize::from(first) + 1))?;
    let same_first_byte = EVENTS.get(usize::from(*start)..usize::from(*end))?;
    same_first_byte.iter().find(|event| event.topic == *topic)
}

const COUNT: usize = count();
/// Every event of every family once, by topic.
static EVENTS: [EventReader; COUNT] = sorted();
/// For each first byte of a topic: where in `EVENTS` those begin that have it.
static STARTS: [u8; 257] = starts();

// What follows runs in the compiler: there an index out of bounds stops the build and nothing else.

#[expect(clippy::indexing_slicing, reason = "runs in the compiler only")]
const fn count() -> usize {
    let (mut count, mut family) = (0, 0);
    while family < FAMILIES.len() {
        let mut event = 0;
        while event < FAMILIES[family].events.len() {
            if is_first(family, event) {
                count += 1;
            }
            event += 1;
        }
        family += 1;
    }
    assert!(count > 0 && count < 256, "`STARTS` counts events in bytes");
    count
}

#[expect(clippy::indexing_slicing, reason = "runs in the compiler only")]
const fn sorted() -> [EventReader; COUNT] {
    let mut sorted = [FAMILIES[0].events[0]; COUNT];
    let (mut count, mut family) = (0, 0);
    while family < FAMILIES.len() {
        let mut event = 0;
        while event < FAMILIES[family].events.len() {
            if is_first(family, event) {
                let new = FAMILIES[family].events[event];
                let mut place = count;
                while place > 0 && is_before(&new.topic, &sorted[place - 1].topic) {
                    sorted[place] = sorted[place - 1];
                    place -= 1;
                }
                sorted[place] = new;
                count += 1;
            }
            event += 1;
        }
        family += 1;
    }
    sorted
}

#[expect(clippy::indexing_slicing, reason = "runs in the compiler only")]
const fn starts() -> [u8; 257] {
    let events = sorted();
    let mut starts = [COUNT as u8; 257];
    let mut place = COUNT;
    let mut byte = 256;
    while byte > 0 {
        byte -= 1;
        while place > 0 && events[place - 1].topic.0[0] as usize >= byte {
            place -= 1;
        }
        starts[byte] = place as u8;
    }
    starts
}

/// Whether no family before this one, nor this one before, lists the same event.
#[expect(clippy::indexing_slicing, reason = "runs in the compiler only")]
const fn is_first(family: usize, event: usize) -> bool {
    let topic = &FAMILIES[family].events[event].topic;
    let mut other = 0;
    while other <= family {
        let mut earlier = 0;
        while earlier < FAMILIES[other].events.len() && (other < family || earlier < event) {
            let known = &FAMILIES[other].events[earlier].topic;
            if !is_before(topic, known) && !is_before(known, topic) {
                return false;
            }
            earlier += 1;
        }
        other += 1;
    }
    true
}

#[expect(clippy::indexing_slicing, reason = "runs in the compiler only")]
const fn is_before(one: &B256, other: &B256) -> bool {
    let mut n = 0;
    while n < 32 {
        if one.0[n] != other.0[n] {
            return one.0[n] < other.0[n];
        }
        n += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use alloy_primitives::keccak256;

    use super::*;

    #[test]
    fn no_two_families_share_a_code_or_a_name() {
        let codes: BTreeSet<u8> = FAMILIES.iter().map(|it| it.code).collect();
        let names: BTreeSet<&str> = FAMILIES.iter().map(|it| it.name).collect();
        assert_eq!((codes.len(), names.len()), (FAMILIES.len(), FAMILIES.len()));
        for kind in ExchangeKind::all() {
            assert_eq!(ExchangeKind::from_code(kind.code), Some(kind));
            assert_eq!(ExchangeKind::from_name(kind.name), Some(kind));
        }
        assert_eq!((ExchangeKind::from_code(255), ExchangeKind::from_name("V2")), (None, None));
    }

    #[test]
    fn codes_that_stores_have_keep_their_meaning() {
        let known = ["v2", "v3", "v4", "camelot", "solidly", "algebra", "slipstream"];
        for (code, name) in (0u8..).zip(known) {
            assert_eq!(ExchangeKind::from_code(code).unwrap().name, name);
        }
    }

    #[test]
    fn every_topic_is_the_hash_of_its_signature_and_leads_to_its_reader() {
        let mut topics = BTreeSet::new();
        for event in FAMILIES.iter().flat_map(|family| family.events) {
            assert_eq!(event.topic, keccak256(event.signature), "{}", event.signature);
            let found = event_reader(&event.topic).expect(event.signature);
            assert_eq!(found.signature, event.signature);
            topics.insert(event.topic);
        }
        assert_eq!(EVENTS.len(), topics.len());
        assert!(EVENTS.is_sorted_by_key(|event| event.topic));
        for first in 0..=255 {
            assert!(event_reader(&B256::with_last_byte(first)).is_none());
            assert!(event_reader(&B256::repeat_byte(first)).is_none());
        }
    }

    #[test]
    fn every_selector_is_the_hash_of_its_signature() {
        for calls in FAMILIES.iter().filter_map(|family| family.node_calls.as_ref()) {
            for function in calls.state.iter().chain([&calls.find_pool]) {
                let hash = keccak256(function.signature);
                assert_eq!(function.selector, hash[..4], "{}", function.signature);
            }
        }
    }

    #[test]
    fn an_unknown_kind_in_a_file_is_refused_with_those_there_are() {
        let refused = toml::from_str::<super::super::Exchange>(
            "name = 'X'\nkind = 'v9'\nfactory = '0x0000000000000000000000000000000000000001'",
        );
        let message = refused.unwrap_err().to_string();
        assert!(message.contains("`v9` is not a kind of exchange; there are v2, v3"), "{message}");
    }
}
