//! No bytes make it panic or fall silent: every request is answered, with 200 or a refusal.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;

use crate::test_server::{Answer, KEY, TestServer};

static HOUSE: LazyLock<TestServer> = LazyLock::new(TestServer::new);

/// Any bytes, as they may stand in a path or query.
fn encoded(bytes: &[u8]) -> String {
    let letter = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
            char::from(*byte).to_string()
        }
        _ => format!("%{byte:02x}"),
    };
    bytes.iter().map(letter).collect()
}

fn is_answered(answer: &Answer) -> TestCaseResult {
    // 501: an operation of the live service that is not offered.
    let is_fine = (200..500).contains(&answer.status) || answer.status == 501;
    prop_assert!(is_fine, "{answer:?}");
    if answer.status != 204 {
        prop_assert!(answer.head.contains("x-request-id"), "{answer:?}");
        let json = serde_json::from_str::<serde_json::Value>(&answer.body);
        prop_assert!(json.is_ok(), "{answer:?}");
        prop_assert!(answer.status == 200 || !answer.message().is_empty(), "{answer:?}");
    }
    Ok(())
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..80).prop_map(|bytes| encoded(&bytes)),
        any::<String>().prop_map(|text| encoded(text.as_bytes())),
        "[0-9a-fxA-FX.:TZW+%-]{0,40}".prop_map(|text| encoded(text.as_bytes())),
        // Not encoded at all: whatever a sloppy client may send on one line.
        "[!-~]{0,60}",
    ]
}

fn parameter() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("chain".to_owned()),
        Just("from_block".to_owned()),
        Just("to_block".to_owned()),
        Just("from_date".to_owned()),
        Just("to_date".to_owned()),
        Just("limit".to_owned()),
        Just("order".to_owned()),
        Just("include".to_owned()),
        Just("cursor".to_owned()),
        Just("marketplace".to_owned()),
        Just("days".to_owned()),
        text(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn addresses(address in text()) {
        is_answered(&HOUSE.get(&format!("/api/v2.2/{address}?chain=sim")))?;
        is_answered(&HOUSE.get(&format!("/api/v2.2/erc20/{address}/price?chain=sim")))?;
    }

    #[test]
    fn chains_of_both_hosts(chain in text()) {
        is_answered(&HOUSE.get(&format!("/api/v2.2/{}?chain={chain}", HOUSE.wallet)))?;
        is_answered(&HOUSE.send(&format!("POST /{chain}/{KEY} HTTP/1.1\r\n"), b"{}"))?;
    }

    #[test]
    fn dates_and_blocks(from in text(), to in text(), end in "block|date") {
        let target = format!("/api/v2.2/{}?chain=sim&from_{end}={from}&to_{end}={to}", HOUSE.wallet);
        is_answered(&HOUSE.get(&target))?;
    }

    #[test]
    fn numbers_of_any_size(from in any::<u64>(), to in any::<u64>(), seconds in any::<i64>(), limit in any::<i32>()) {
        for query in [
            format!("from_block={from}&to_block={to}"),
            format!("from_date={seconds}&to_block={to}"),
            format!("from_block={}&to_date={seconds}", from % 9),
            format!("limit={limit}"),
        ] {
            is_answered(&HOUSE.get(&format!("/api/v2.2/{}?chain=sim&{query}", HOUSE.wallet)))?;
        }
    }

    #[test]
    fn query_strings(pairs in proptest::collection::vec((parameter(), text()), 0..8), internal in any::<bool>()) {
        let query: String = pairs.iter().map(|(name, value)| format!("&{name}={value}")).collect();
        let include = if internal { "&include=internal_transactions" } else { "" };
        is_answered(&HOUSE.get(&format!("/api/v2.2/{}?chain=sim{include}{query}", HOUSE.wallet)))?;
    }

    #[test]
    fn questions_about_nfts(address in text(), pairs in proptest::collection::vec((parameter(), text()), 0..8), operation in "trades|lowestprice|[a-z%]{0,8}", days in any::<i32>()) {
        let query: String = pairs.iter().map(|(name, value)| format!("&{name}={value}")).collect();
        is_answered(&HOUSE.get(&format!("/api/v2.2/nft/{address}/{operation}?chain=sim{query}")))?;
        is_answered(&HOUSE.get(&format!("/api/v2.2/nft/{}/{operation}?chain=sim{query}", HOUSE.wallet)))?;
        is_answered(&HOUSE.get(&format!("/api/v2.2/nft/{}/lowestprice?chain=sim&days={days}", HOUSE.wallet)))?;
    }

    #[test]
    fn cursors_with_any_bit_changed(place in any::<prop::sample::Index>(), letter in "[A-Za-z0-9_-]", cut in any::<bool>()) {
        let first = HOUSE.get(&format!("/api/v2.2/{}?chain=sim&limit=1", HOUSE.wallet));
        let json: serde_json::Value = serde_json::from_str(&first.body).unwrap();
        let good = json.get("cursor").and_then(|cursor| cursor.as_str()).unwrap().to_owned();
        let place = place.index(good.len());
        let mut changed = good.clone();
        changed.replace_range(place..=place, if cut { "" } else { &letter });
        let answer = HOUSE.get(&format!("/api/v2.2/{}?chain=sim&cursor={changed}", HOUSE.wallet));
        is_answered(&answer)?;
        prop_assert_eq!(answer.status, if changed == good { 200 } else { 400 });
    }

    #[test]
    fn bodies(body in proptest::collection::vec(any::<u8>(), 0..300), json in "[\\[\\]{}\",:a-z0-9 \\\\]{0,200}") {
        for body in [body.as_slice(), json.as_bytes()] {
            is_answered(&HOUSE.send(&format!("POST /sim/{KEY} HTTP/1.1\r\n"), body))?;
        }
    }

    #[test]
    fn calls(method in "eth_getBlockByHash|eth_getTransactionByBlockNumberAndIndex|[a-z_]{0,12}", first in any::<String>(), second in any::<i64>(), hex in any::<u64>()) {
        let hex = format!("{hex:#x}");
        for params in [
            serde_json::json!([first, second]),
            serde_json::json!([hex, hex]),
            serde_json::json!(["latest", hex]),
            serde_json::json!({ "a": first }),
        ] {
            let body = serde_json::json!({ "jsonrpc": "2.0", "id": second, "method": method, "params": params });
            is_answered(&HOUSE.send(&format!("POST /sim/{KEY} HTTP/1.1\r\n"), body.to_string().as_bytes()))?;
        }
    }

    #[test]
    fn headers(name in "x-api-key|authorization|x-wire-profile|x-moralis-platform|x-request-id|content-type|accept|origin", value in "[ -~\u{80}-\u{ff}]{0,80}") {
        let head = format!("GET /api/v2.2/{}?chain=sim HTTP/1.1\r\n{name}: {value}\r\n", HOUSE.wallet);
        is_answered(&HOUSE.send(&head, b""))?;
        is_answered(&HOUSE.send(&format!("POST /sim/{KEY} HTTP/1.1\r\n{name}: {value}\r\n"), b"{}"))?;
    }
}
