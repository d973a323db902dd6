//! Which addresses a log mentions: its emitter, and every word of its topics and data that can be an address.
//!
//! A word is one if twelve zero bytes stand before it. Small numbers look the same; whether somebody watches
//! such an address decides.

use alloy_primitives::{Address, B256};
use model::abi::{WORD, address};
use model::raw::Log;

/// In order of first mention, each once. `found` is emptied first; it is the caller's, to be used again.
pub(super) fn mentions(log: &Log, found: &mut Vec<Address>) {
    found.clear();
    let emitter = log.address.into_iter();
    let topics = log.topics.iter().flatten().filter_map(|topic| address(*topic));
    let (words, _) = log.data.as_ref().map_or(&[][..], |data| data).as_chunks::<WORD>();
    let words = words.iter().filter_map(|word| address(B256::from(*word)));
    for mentioned in emitter.chain(topics).chain(words) {
        // Large data can hold thousands of words; the same few addresses come again and again.
        if found.len() > SET_FROM || !found.contains(&mentioned) {
            found.push(mentioned);
        }
    }
    if found.len() > SET_FROM {
        let mut seen = std::collections::HashSet::with_capacity(found.len());
        found.retain(|mentioned| seen.insert(*mentioned));
    }
}

/// Up to here looking through the list is quicker than a set.
const SET_FROM: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(log: &Log) -> Vec<Address> {
        let mut found = vec![Address::ZERO];
        mentions(log, &mut found);
        found
    }

    #[test]
    fn emitter_topics_and_words_of_the_data_count_each_once() {
        let [a, b, c] = [1, 2, 3].map(Address::repeat_byte);
        let mut data = b.into_word().to_vec();
        data.extend(a.into_word());
        data.extend(c.into_word());
        // Not whole, not at the beginning of a word, not an address.
        data.extend(B256::repeat_byte(9));
        data.extend(&Address::repeat_byte(8).into_word()[..31]);
        let log = Log {
            address: Some(a),
            topics: Some(vec![B256::repeat_byte(7), b.into_word()]),
            data: Some(data.into()),
            ..Log::default()
        };
        assert_eq!(of(&log), [a, b, c]);
        assert!(of(&Log::default()).is_empty());
    }

    #[test]
    fn an_address_in_the_middle_of_a_word_is_not_mentioned() {
        let mut data = vec![0u8; 4];
        data.extend(Address::repeat_byte(5).into_word());
        data.extend([0; 28]);
        let log = Log { data: Some(data.into()), ..Log::default() };
        assert!(!of(&log).contains(&Address::repeat_byte(5)));
    }

    #[test]
    fn thousands_of_words_are_told_once_each_in_order() {
        let words: Vec<Address> =
            (0..5000u64).map(|n| Address::left_padding_from(&(n % 700).to_be_bytes())).collect();
        let data: Vec<u8> = words.iter().flat_map(|it| it.into_word().0).collect();
        let log = Log { data: Some(data.into()), ..Log::default() };
        assert_eq!(of(&log), words[..700]);
    }
}
