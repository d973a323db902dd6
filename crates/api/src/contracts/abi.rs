//! The little of the contract ABI that is needed: calls with plain words, many calls in one, and
//! answers of strangers, which may be anything.

use alloy_primitives::{Address, B256, U256};

/// One question to a contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    pub to: Address,
    pub data: Vec<u8>,
}

/// What a contract answered; none where it refused.
pub type Answer = Option<Vec<u8>>;

/// `aggregate3((address,bool,bytes)[])` of Multicall3.
const AGGREGATE3: [u8; 4] = [0x82, 0xad, 0x56, 0xcb];
const WORD: usize = 32;
/// Bytes of a text that are looked at; contracts may send any number.
const TEXT_BYTES_MAX: usize = 1024;

impl Ask {
    pub fn new(to: Address, selector: [u8; 4], words: &[B256]) -> Self {
        let mut data = selector.to_vec();
        words.iter().for_each(|word| data.extend_from_slice(word.as_slice()));
        Ask { to, data }
    }
}

fn put_number(out: &mut Vec<u8>, number: usize) {
    out.extend_from_slice(&U256::from(number).to_be_bytes::<WORD>());
}

fn padded(length: usize) -> usize {
    length.div_ceil(WORD) * WORD
}

/// All questions as one; each may fail by itself.
pub fn aggregate(asks: &[Ask]) -> Vec<u8> {
    let mut out = AGGREGATE3.to_vec();
    put_number(&mut out, WORD);
    put_number(&mut out, asks.len());
    let mut offset = asks.len() * WORD;
    for ask in asks {
        put_number(&mut out, offset);
        offset += 4 * WORD + padded(ask.data.len());
    }
    for ask in asks {
        out.extend_from_slice(ask.to.into_word().as_slice());
        put_number(&mut out, 1);
        put_number(&mut out, 3 * WORD);
        put_number(&mut out, ask.data.len());
        out.extend_from_slice(&ask.data);
        out.resize(out.len() + padded(ask.data.len()) - ask.data.len(), 0);
    }
    out
}

/// The answers to so many questions; none where these are not as many.
pub fn aggregated(data: &[u8], count: usize) -> Option<Vec<Answer>> {
    let list = data.get(number(data, 0)?..)?;
    if number(list, 0)? != count {
        return None;
    }
    let items = list.get(WORD..)?;
    let answer = |n: usize| {
        let item = items.get(number(items, n * WORD)?..)?;
        let succeeded = number(item, 0)? != 0;
        let bytes = item.get(number(item, WORD)?..)?;
        let length = number(bytes, 0)?;
        let content = bytes.get(WORD..)?.get(..length)?;
        Some(succeeded.then(|| content.to_vec()))
    };
    (0..count).map(answer).collect()
}

/// The word at this place, counted in words.
pub fn word(data: &[u8], n: usize) -> Option<U256> {
    let start = n.checked_mul(WORD)?;
    data.get(start..start.checked_add(WORD)?).map(U256::from_be_slice)
}

pub fn address(data: &[u8], n: usize) -> Option<Address> {
    let word = word(data, n)?;
    (word.bit_len() <= 160).then(|| Address::from_word(word.into()))
}

/// A number that can be a place or a length here.
fn number(data: &[u8], at: usize) -> Option<usize> {
    let bytes = data.get(at..at.checked_add(WORD)?)?;
    usize::try_from(U256::from_be_slice(bytes)).ok()
}

/// A `string`, or the `bytes32` that the first tokens gave instead; made safe to show.
pub fn text(data: &[u8]) -> Option<String> {
    let bytes = match data.len() {
        WORD => data.split(|byte| *byte == 0).next()?,
        _ => {
            let string = data.get(number(data, 0)?..)?;
            let length = number(string, 0)?.min(TEXT_BYTES_MAX);
            let content = string.get(WORD..)?;
            content.get(..length).unwrap_or(content)
        }
    };
    model::token::plain_text(&String::from_utf8_lossy(bytes))
}

#[cfg(test)]
mod tests {
    use alloy_primitives::hex;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn many_questions_are_written_as_the_contract_reads_them() {
        let asks = [
            Ask::new(Address::repeat_byte(0x11), [0x06, 0xfd, 0xde, 0x03], &[]),
            Ask::new(Address::repeat_byte(0x22), [1, 2, 3, 4], &[B256::repeat_byte(5)]),
        ];
        let words = [
            "20",
            "2",
            "40",
            "e0", // the list: where, how many, where each begins
            "1111111111111111111111111111111111111111",
            "1",
            "60",
            "4",
        ];
        let mut expected = String::from("82ad56cb");
        words.iter().for_each(|word| expected += &format!("{word:0>64}"));
        expected += &format!("{:0<64}", "06fdde03");
        for word in ["2222222222222222222222222222222222222222", "1", "60", "24"] {
            expected += &format!("{word:0>64}");
        }
        expected += &format!("{:0<128}", format!("01020304{}", "05".repeat(32)));
        assert_eq!(hex::encode(aggregate(&asks)), expected);
    }

    #[test]
    fn answers_come_back_one_by_one_and_failures_as_nothing() {
        let mut data = Vec::new();
        for n in [0x20, 2, 0x40, 0xc0, 1, 0x40, 3] {
            put_number(&mut data, n);
        }
        data.extend_from_slice(b"abc");
        data.resize(data.len() + 29, 0);
        for n in [0, 0x40, 0] {
            put_number(&mut data, n);
        }
        assert_eq!(aggregated(&data, 2), Some(vec![Some(b"abc".to_vec()), None]));
        assert_eq!(aggregated(&data, 3), None);
        assert_eq!(aggregated(&[], 1), None);
    }

    #[test]
    fn texts_are_read_in_both_forms() {
        let mut string = Vec::new();
        put_number(&mut string, 0x20);
        put_number(&mut string, 4);
        string.extend_from_slice(b"Test");
        string.resize(96, 0);
        let mut bytes32 = b"Maker".to_vec();
        bytes32.resize(32, 0);
        assert_eq!(text(&string).as_deref(), Some("Test"));
        assert_eq!(text(&bytes32).as_deref(), Some("Maker"));
        let mut broken = vec![0xffu8; 32];
        assert_eq!(text(&broken), None, "no text at all");
        broken.extend_from_slice(&[0xff; 64]);
        assert_eq!(text(&broken), None, "a place that does not exist");
        let mut endless = Vec::new();
        put_number(&mut endless, 0x20);
        put_number(&mut endless, 1 << 40);
        endless.extend_from_slice(&[b'x'; 5000]);
        assert!(text(&endless).is_some_and(|text| text.len() <= 96));
    }

    proptest! {
        #[test]
        fn no_bytes_do_harm(data in proptest::collection::vec(any::<u8>(), 0..300), count in 0usize..9, small in proptest::collection::vec(0u8..6, 0..12)) {
            let _ = (aggregated(&data, count), text(&data), word(&data, count), address(&data, count));
            // Small numbers where places and lengths stand reach further in.
            let words: Vec<u8> = small.iter().flat_map(|n| U256::from(*n as usize * 32).to_be_bytes::<32>()).collect();
            let _ = (aggregated(&words, count), text(&words));
        }
    }
}
