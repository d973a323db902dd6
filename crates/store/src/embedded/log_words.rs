//! The words by which logs are found: their address, their first topic, their other topics.
//!
//! A block has one row for each word that its logs hold, however many of them do; it says in which groups of
//! transactions they are. Words are hashed and cut short: whoever finds a row looks at the logs themselves.

use alloy_primitives::{Address, B256};
use model::raw::Log;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// So few values of a chain share one that reading their logs in vain costs less than longer keys would.
pub type LogWord = [u8; 6];

/// Which groups of a block, as bits, the lowest group first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupSet(Vec<u8>);

const ADDRESS: u64 = 0;
const FIRST_TOPIC: u64 = 1;
/// One kind for three places: most of these words are accounts, and stand in several of them.
const OTHER_TOPIC: u64 = 2;

fn word(value: &[u8], kind: u64) -> LogWord {
    let [a, b, c, d, e, f, ..] = xxh3_64_with_seed(value, kind).to_be_bytes();
    [a, b, c, d, e, f]
}

pub fn of_address(address: Address) -> LogWord {
    word(address.as_slice(), ADDRESS)
}

pub fn of_topic(position: usize, topic: B256) -> LogWord {
    word(topic.as_slice(), if position == 0 { FIRST_TOPIC } else { OTHER_TOPIC })
}

/// All words of a log.
pub fn of_log(log: &Log) -> impl Iterator<Item = LogWord> + use<'_> {
    let topics = log.topics.iter().flatten().enumerate();
    let topics = topics.map(|(position, topic)| of_topic(position, *topic));
    log.address.map(of_address).into_iter().chain(topics)
}

/// Where words were met in a block, in any order and any number of times. Each is one number, the word before the group:
/// a block has thousands of them, and numbers are sorted far quicker than bytes.
#[derive(Default)]
pub struct FoundWords(Vec<u128>);

impl FoundWords {
    pub fn add(&mut self, word: LogWord, group: u32) {
        let [a, b, c, d, e, f] = word;
        let word = u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
        self.0.push(u128::from(word) << u32::BITS | u128::from(group));
    }

    fn of(number: u128) -> (LogWord, u32) {
        let [_, _, a, b, c, d, e, f] = ((number >> u32::BITS) as u64).to_be_bytes();
        ([a, b, c, d, e, f], number as u32)
    }
}

/// The rows of a block, sorted by word: for each the groups that have it.
#[derive(Default)]
pub struct WordRows {
    /// Where in `groups` each row ends.
    ends: Vec<(LogWord, usize)>,
    groups: Vec<u8>,
}

impl WordRows {
    pub fn new(FoundWords(mut found): FoundWords) -> Self {
        found.sort_unstable();
        let mut rows = WordRows::default();
        for of_word in found.chunk_by(|a, b| a >> u32::BITS == b >> u32::BITS) {
            let Some(word) = of_word.first().map(|first| FoundWords::of(*first).0) else {
                continue;
            };
            let start = rows.groups.len();
            for number in of_word {
                add_group(&mut rows.groups, start, FoundWords::of(*number).1);
            }
            rows.ends.push((word, rows.groups.len()));
        }
        rows
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = (LogWord, &[u8])> {
        let mut start = 0;
        self.ends.iter().map(move |(word, end)| {
            let row = self.groups.get(start..*end).unwrap_or_default();
            start = *end;
            (*word, row)
        })
    }
}

/// To the set that begins at `start` and is the last one in `bytes`.
fn add_group(bytes: &mut Vec<u8>, start: usize, group: u32) {
    let at = start + (group / 8) as usize;
    if bytes.len() <= at {
        bytes.resize(at + 1, 0);
    }
    if let Some(byte) = bytes.get_mut(at) {
        *byte |= 1 << (group % 8);
    }
}

impl GroupSet {
    pub fn from_row(row: &[u8]) -> Self {
        GroupSet(row.to_vec())
    }

    pub fn add(&mut self, other: &GroupSet) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(byte, more)| *byte |= more);
    }

    pub fn keep_common(&mut self, other: &GroupSet) {
        self.0.truncate(other.0.len());
        self.0.iter_mut().zip(&other.0).for_each(|(byte, kept)| *byte &= kept);
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|byte| *byte == 0)
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> + use<'_> {
        let bits = |byte: u8| (0..8u32).filter(move |bit| byte >> bit & 1 == 1);
        (0u32..).zip(&self.0).flat_map(move |(at, byte)| bits(*byte).map(move |bit| at * 8 + bit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_one_row_that_lists_its_groups() {
        let (a, b) = ([1; 6], [2; 6]);
        let mut found = FoundWords::default();
        for (word, group) in [(b, 0), (a, 17), (a, 0), (a, 17), (a, 3)] {
            found.add(word, group);
        }
        let rows = WordRows::new(found);
        let rows: Vec<_> = rows.iter().collect();
        assert_eq!(rows, [(a, &[0b1001, 0, 0b10][..]), (b, &[1][..])]);
        let mut groups = GroupSet::from_row(rows[0].1);
        assert_eq!(groups.iter().collect::<Vec<_>>(), [0, 3, 17]);
        groups.keep_common(&GroupSet::from_row(rows[1].1));
        assert_eq!(groups.iter().collect::<Vec<_>>(), [0]);
        groups.add(&GroupSet(vec![0, 128]));
        assert_eq!(groups.iter().collect::<Vec<_>>(), [0, 15]);
        groups.keep_common(&GroupSet::default());
        assert!(groups.is_empty());
    }

    #[test]
    fn words_and_groups_of_any_size_come_back() {
        let all = [([0; 6], 0), ([0; 6], u32::MAX), ([255; 6], 9), ([1, 2, 3, 4, 5, 6], 1 << 20)];
        let mut found = FoundWords::default();
        all.iter().for_each(|(word, group)| found.add(*word, *group));
        assert_eq!(found.0.iter().map(|number| FoundWords::of(*number)).collect::<Vec<_>>(), all);
    }

    #[test]
    fn places_that_are_asked_for_apart_are_kept_apart() {
        let topic = B256::repeat_byte(7);
        assert_ne!(of_topic(0, topic), of_topic(1, topic));
        assert_eq!(of_topic(1, topic), of_topic(3, topic));
        let log =
            Log { topics: Some(vec![topic; 4]), address: Some(Address::ZERO), ..Log::default() };
        assert_eq!(of_log(&log).count(), 5);
    }
}
