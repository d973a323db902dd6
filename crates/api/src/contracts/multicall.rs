//! Many questions to contracts as one call to Multicall3, and its answer taken apart again.

use alloy_primitives::{Address, B256, U256};
use model::abi::{WORD, Words, push_bytes, push_uint};

/// One question to a contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContractCall {
    pub to: Address,
    pub data: Vec<u8>,
}

/// What a contract answered; none where it refused.
pub type ReturnData = Option<Vec<u8>>;

/// `aggregate3((address,bool,bytes)[])` of Multicall3.
const AGGREGATE3: [u8; 4] = [0x82, 0xad, 0x56, 0xcb];

impl ContractCall {
    pub fn new(to: Address, selector: [u8; 4], words: &[B256]) -> Self {
        let mut data = selector.to_vec();
        words.iter().for_each(|word| data.extend_from_slice(word.as_slice()));
        ContractCall { to, data }
    }
}

/// All questions as one; each may fail by itself.
pub fn aggregate(calls: &[ContractCall]) -> Vec<u8> {
    let mut out = AGGREGATE3.to_vec();
    push_uint(&mut out, WORD);
    push_uint(&mut out, calls.len());
    let mut offset = calls.len() * WORD;
    for call in calls {
        push_uint(&mut out, offset);
        offset += 4 * WORD + call.data.len().next_multiple_of(WORD);
    }
    for call in calls {
        out.extend_from_slice(call.to.into_word().as_slice());
        push_uint(&mut out, 1);
        push_uint(&mut out, 3 * WORD);
        push_bytes(&mut out, &call.data);
    }
    out
}

/// The answers to so many questions; none where these are not as many.
pub fn aggregated(data: &[u8], count: usize) -> Option<Vec<ReturnData>> {
    let list = Words(data).inner(0)?;
    if list.size(0)? != count {
        return None;
    }
    let items = list.after(1)?;
    let answer = |n: usize| {
        let item = items.inner(n)?;
        let succeeded = item.uint(0)? != U256::ZERO;
        let content = item.bytes(1)?;
        Some(succeeded.then(|| content.0.to_vec()))
    };
    (0..count).map(answer).collect()
}

#[cfg(test)]
mod tests {
    use alloy_primitives::hex;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn many_questions_are_written_as_the_contract_reads_them() {
        let calls = [
            ContractCall::new(Address::repeat_byte(0x11), [0x06, 0xfd, 0xde, 0x03], &[]),
            ContractCall::new(Address::repeat_byte(0x22), [1, 2, 3, 4], &[B256::repeat_byte(5)]),
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
        assert_eq!(hex::encode(aggregate(&calls)), expected);
    }

    #[test]
    fn answers_come_back_one_by_one_and_failures_as_nothing() {
        let mut data = Vec::new();
        for n in [0x20, 2, 0x40, 0xc0, 1, 0x40, 3] {
            push_uint(&mut data, n);
        }
        data.extend_from_slice(b"abc");
        data.resize(data.len() + 29, 0);
        for n in [0, 0x40, 0] {
            push_uint(&mut data, n);
        }
        assert_eq!(aggregated(&data, 2), Some(vec![Some(b"abc".to_vec()), None]));
        assert_eq!(aggregated(&data, 3), None);
        assert_eq!(aggregated(&[], 1), None);
    }

    proptest! {
        #[test]
        fn no_bytes_do_harm(
            data in proptest::collection::vec(any::<u8>(), 0..300),
            count in 0usize..9,
            small in proptest::collection::vec(0usize..6, 0..12),
        ) {
            let _ = (aggregated(&data, count), Words(&data).uint(count), Words(&data).address(count));
            // Small numbers where places and lengths stand reach further in.
            let mut words = Vec::new();
            small.iter().for_each(|n| push_uint(&mut words, n * WORD));
            let _ = aggregated(&words, count);
        }
    }
}
