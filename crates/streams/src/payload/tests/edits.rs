//! What happens to a stored body, with tags and names that try to look like parts of it.

use proptest::prelude::*;
use serde_json::Value;

use super::head;
use crate::definition::{AbiItem, AbiParam};
use crate::matching::tests::made_block::{A, COIN};
use crate::matching::tests::needs::{matched, token};
use crate::matching::tests::plans::logs;
use crate::payload::{confirmed, retracted, with_retries, write_parts};

/// Texts that look like JSON of ours.
pub fn hostile() -> impl Strategy<Value = String> {
    let bait = prop_oneof![
        Just(",\"retries\":0,".to_owned()),
        Just("\",\"retries\":7,\"x\":\"".to_owned()),
        Just("\\\",\"retries\":7,".to_owned()),
        Just(",".to_owned()),
        Just("\"".to_owned()),
        Just("\\".to_owned()),
        Just("{\"confirmed\":false".to_owned()),
        Just("\u{2028}\u{7f}\u{0}\u{1f}\u{8}\u{c}\n\r\t/é中😀".to_owned()),
        Just("retries\":0,".to_owned()),
        any::<String>(),
    ];
    proptest::collection::vec(bait, 0..5).prop_map(|parts| parts.concat())
}

/// A body with hostile texts wherever strangers can put some.
pub fn hostile_body(tag: &str, name: &str, error: &str) -> bytes::Bytes {
    let param = AbiParam {
        name: name.to_owned(),
        kind: "uint256".to_owned(),
        internal_type: Some(tag.to_owned()),
        ..AbiParam::default()
    };
    let abi = Some(vec![AbiItem {
        name: Some(name.to_owned()),
        inputs: Some(vec![param]),
        kind: "event".to_owned(),
        ..AbiItem::default()
    }]);
    let mut items = matched(logs(), &[A]).items;
    items.fill_tokens([(COIN, token(name, Some(3)))]);
    items.balances.push(crate::matching::items::BalanceItem {
        address: A,
        tx_place: 0,
        balance: Some(Err(error.to_owned())),
    });
    write_parts(&head(tag, &abi), &items, usize::MAX).remove(0).1
}

proptest! {
    #[test]
    fn edits_change_their_own_field_and_nothing_else(
        tag in hostile(), name in hostile(), error in hostile(), retries in any::<u32>()
    ) {
        let body = hostile_body(&tag, &name, &error);
        let before: Value = serde_json::from_slice(&body).unwrap();
        prop_assert_eq!(&before["tag"], &Value::from(tag.as_str()));

        let mut expected = before.clone();
        expected["retries"] = retries.into();
        let edited = with_retries(&body, retries);
        prop_assert_eq!(serde_json::from_slice::<Value>(&edited).unwrap(), expected);
        prop_assert_eq!(with_retries(&edited, 0), body.clone());

        let mut expected = before.clone();
        expected["confirmed"] = true.into();
        let edited = confirmed(&body);
        prop_assert_eq!(serde_json::from_slice::<Value>(&edited).unwrap(), expected);
        let is_opened = edited.starts_with(b"{\"confirmed\":true,\"chainId\":");
        prop_assert!(is_opened);
        prop_assert_eq!(edited.len() + 1, body.len());

        let mut expected = before;
        expected["retracted"] = true.into();
        let edited = retracted(&body);
        prop_assert_eq!(serde_json::from_slice::<Value>(&edited).unwrap(), expected);
        let is_opened = edited.starts_with(b"{\"confirmed\":false,\"retracted\":true,\"chainId\":");
        prop_assert!(is_opened);
    }
}

#[test]
fn edits_are_what_would_have_been_written() {
    let abi = None;
    let items = matched(logs(), &[A]).items;
    let write = |confirmed, retracted| {
        let head = crate::payload::PayloadHead { confirmed, retracted, ..head("tag", &abi) };
        write_parts(&head, &items, usize::MAX).remove(0).1
    };
    let body = write(false, false);
    assert_eq!(confirmed(&body), write(true, false));
    assert_eq!(retracted(&body), write(false, true));
    assert_eq!(confirmed(&confirmed(&body)), confirmed(&body));
    let text = String::from_utf8(with_retries(&body, 12).to_vec()).unwrap();
    assert_eq!(
        text,
        String::from_utf8(body.to_vec()).unwrap().replace(",\"retries\":0,", ",\"retries\":12,")
    );
}
