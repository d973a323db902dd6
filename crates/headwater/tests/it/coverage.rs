//! Answers say which blocks they rest on, and what is missing.

use crate::client::Client;
use crate::process::{Serve, Server, import};
use crate::records::{self, Traces};
use crate::world::{CHAIN, private};

/// Blocks 10–20 and 30–40 with traces, 50–55 without.
fn islands(folder: &std::path::Path) -> (testkit::SimChain, Server) {
    let chain = records::chain(60);
    let data = folder.join("data");
    let file = |blocks, traces| records::write(folder, &chain, blocks, traces);
    let files = [
        file(10..=20, Traces::Geth),
        file(30..=40, Traces::Parity),
        file(50..=55, Traces::Without),
    ];
    let summary = import(&data, CHAIN, &files);
    assert!(summary.contains("28 verified"), "{summary}");
    (chain, private(Serve::of(&data)).start())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_reaches_outside_what_is_stored_is_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let (chain, server) = islands(folder.path());
    let client = Client::new(server.url());
    let address = format!("{:#x}", chain.address_of("exchange").unwrap());
    let time = |number: u64| chain.block(number).unwrap().header.timestamp;
    let cases = [
        (String::new(), true),
        ("from_block=10&to_block=20".into(), false),
        ("from_block=12&to_block=15".into(), false),
        ("from_block=9&to_block=15".into(), true),
        ("from_block=15&to_block=21".into(), true),
        ("from_block=15&to_block=35".into(), true),
        ("from_block=50".into(), false),
        ("from_block=52&to_block=55".into(), false),
        ("from_block=52&to_block=9999".into(), true),
        ("from_block=56".into(), true),
        ("from_block=40&to_block=30".into(), false),
        (format!("from_date={}&to_date={}", time(12), time(15)), false),
        // Nobody knows when block 9 was: it may have been at this second, too.
        (format!("from_date={}&to_date={}", time(10), time(15)), true),
        (format!("from_date={}&to_date={}", time(11), time(20) + 1), true),
        (format!("from_date={}&to_date={}", time(22), time(25)), true),
        (format!("from_date={}&to_date={}", time(35), time(40) - 1), false),
        (format!("to_date={}", time(5)), true),
        (format!("from_date={}", time(51)), false),
        (format!("from_date={}&to_date={}", time(51), time(55)), false),
        (format!("from_date={}&to_date={}", time(51), time(55) + 1), true),
        (format!("from_date={}", time(60)), true),
    ];
    for (query, partial) in cases {
        let answer = client.get(&format!("/api/v2.2/{address}?chain={CHAIN}&{query}")).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert_eq!(answer.header("x-indexed-blocks"), Some("10-20,30-40,50-55"), "{query}");
        assert_eq!(answer.header("x-coverage"), partial.then_some("partial"), "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_whose_internal_transactions_are_unknown_are_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let (chain, server) = islands(folder.path());
    let client = Client::new(server.url());
    let address = format!("{:#x}", chain.address_of("exchange").unwrap());
    let internal = "include=internal_transactions&";
    for (query, missing) in [
        (format!("{internal}from_block=10&to_block=40"), false),
        (format!("{internal}from_block=30"), true),
        (format!("{internal}from_block=50&to_block=52"), true),
        ("from_block=50&to_block=52".into(), false),
    ] {
        // Twice: a kept answer says it, too.
        for _ in 0..2 {
            let answer =
                client.get(&format!("/api/v2.2/{address}?chain={CHAIN}&limit=500&{query}")).await;
            assert!(!answer.page().result.is_empty(), "{query}");
            assert_eq!(answer.header("x-traces"), missing.then_some("missing"), "{query}");
        }
    }
    let status = client.get(&format!("/status/{CHAIN}/blocks/51")).await.json();
    assert_eq!((&status["level"], &status["has_traces"]), (&"verified".into(), &false.into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_nothing_stored_says_that_it_knows_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let server = private(Serve::of(&folder.path().join("data"))).start();
    let client = Client::new(server.url());
    let answer = client.get(&format!("/api/v2.2/0x{}?chain={CHAIN}", "11".repeat(20))).await;
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")), "{}", answer.body);
    assert!(answer.body.contains("is indexed yet"), "{}", answer.body);
}
