//! What every answer of the data host does alike: what it refuses and how, what it costs, which blocks it tells of.

use api::keys::KeyRing;
use store::Options;

use crate::nft_market::{APES, NftMarket, START, ape};
use crate::test_server::{CHAIN, KEY, TestServer, block_on, open, prepared};

const OPERATIONS: [&str; 4] = ["{}", "nft/{}/trades", "nft/{}/lowestprice", "erc20/{}/price"];

fn target(operation: &str, address: &str, query: &str) -> String {
    format!("/api/v2.2/{}?{query}", operation.replace("{}", address))
}

#[test]
fn a_word_that_is_no_wire_profile_is_refused() {
    let server = TestServer::new();
    let ask = |profile: &str| server.get_as(profile, &target("{}", &server.wallet, "chain=sim"));
    let answer = ask("foo");
    assert_eq!(answer.status, 400);
    assert_eq!(answer.message(), "X-Wire-Profile with value 'foo' is neither spec nor live");
    for profile in ["spec", "LIVE", " live "] {
        assert_eq!(ask(profile).status, 200, "{profile}");
    }
}

#[test]
fn addresses_are_taken_in_any_case_and_names_are_told_apart() {
    let server = TestServer::new();
    let plain = server.get(&target("{}", &server.wallet, "chain=sim"));
    let upper = server.wallet.to_uppercase();
    for path in [upper.clone(), format!("{}/", server.wallet), format!("{upper}/")] {
        let answer = server.get(&target("{}", &path, "chain=sim"));
        assert_eq!((answer.status, &answer.body), (200, &plain.body), "{path}");
    }
    for name in ["vitalik.eth", "some-name.sub.xyz", "%c3%bcber.eth"] {
        let answer = server.get(&target("{}", name, "chain=sim"));
        assert_eq!(answer.status, 400);
        assert!(answer.message().contains("names are not resolved here"), "{answer:?}");
    }
    for wrong in ["0x12", "x.", "..", "1.5"] {
        let answer = server.get(&target("{}", wrong, "chain=sim"));
        assert!(answer.message().ends_with("is not a valid hex address"), "{wrong}: {answer:?}");
    }
}

#[test]
fn operations_that_only_the_live_service_has_are_501_and_other_paths_404() {
    let server = TestServer::new();
    let hash = format!("0x{}", "1".repeat(64));
    for path in [
        format!("transaction/{hash}"),
        format!("transaction/{hash}/verbose"),
        "block/1".to_owned(),
        format!("{}/balance", server.wallet),
        format!("{}/erc20", server.wallet),
        format!("nft/{}/7/owners", server.wallet),
        format!("wallets/{}/tokens", server.wallet),
        "resolve/vitalik.eth".to_owned(),
    ] {
        for method in ["GET", "POST"] {
            let head = format!("{method} /api/v2.2/{path} HTTP/1.1\r\n");
            let answer = server.send(&format!("{head}x-api-key: {KEY}\r\n"), b"");
            assert_eq!(answer.status, 501, "{method} {path}: {answer:?}");
            assert!(answer.message().contains("does not have this operation"), "{answer:?}");
            assert_eq!(answer.header("x-request-weight"), Some("1"));
            assert_eq!(server.send(&head, b"").status, 401, "{method} {path}");
        }
    }
    for path in ["/api/v2.2", "/api/v2.2/", "/v2.2/0x12", "/api/v2.2/a/b/c/d"] {
        let answer = server.get(path);
        assert_eq!(answer.status, 404, "{path}: {answer:?}");
        assert!(answer.message().contains("below /api/v2.2"), "{path}: {answer:?}");
    }
    assert_eq!(server.get("/somewhere/else/entirely").message(), "nothing is served at this path");
}

#[test]
fn a_chain_without_a_block_is_503_whatever_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&Options::new(folder.path()));
    let server = TestServer::over(store, folder, &["eth"]);
    let address = format!("0x{}", "1".repeat(40));
    for operation in OPERATIONS {
        let answer = server.get(&target(operation, &address, ""));
        assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")), "{operation}");
        assert!(answer.message().starts_with("no block of eth is indexed yet"), "{answer:?}");
    }
}

#[test]
fn a_key_is_charged_with_the_rate_limit_cost_and_told_the_price() {
    let server = TestServer::with(|parts| {
        parts.keys = block_on(KeyRing::open(&parts.store, KEY, 43)).unwrap();
    });
    let good = target("{}", &server.wallet, "chain=sim&include=internal_transactions");
    for _ in 0..2 {
        let answer = server.get(&good);
        // 20 of 43 units each, although the price is 80.
        assert_eq!((answer.status, answer.header("x-request-weight")), (200, Some("80")));
    }
    // What is refused costs one unit, which is told; a bucket fills meanwhile, so some more may pass.
    let mut refused = 0;
    loop {
        let answer = server.get(&target("{}", "0x12", "chain=sim"));
        if answer.status == 429 {
            assert_eq!(answer.header("x-request-weight"), None, "nothing was taken");
            assert!(answer.header("retry-after").is_some());
            break;
        }
        assert_eq!((answer.status, answer.header("x-request-weight")), (400, Some("1")));
        refused += 1;
        assert!(refused < 1_000, "the bucket never runs dry");
    }
}

#[test]
fn coverage_is_partial_where_a_question_reaches_outside_by_block_or_by_date() {
    let mut market = NftMarket::new();
    market.mine(START, &[ape(1, 1)]);
    market.mine(START + 60, &[ape(2, 1)]);
    for (query, coverage) in [
        ("".to_owned(), None),
        ("to_block=1".to_owned(), None),
        ("to_block=2".to_owned(), Some("partial")),
        ("to_block=18446744073709551615".to_owned(), Some("partial")),
        ("from_block=2".to_owned(), Some("partial")),
        ("from_block=5&to_block=3".to_owned(), None),
        (format!("to_date={}", START + 60), None),
        (format!("to_date={}", START + 61), Some("partial")),
        (format!("from_date={}", START - 500), None),
        (format!("from_date={}", START + 61), Some("partial")),
        (format!("from_date={}&to_date={}", START + 900, START + 800), None),
    ] {
        let answer = market.trades(APES, &query);
        assert_eq!((answer.status, answer.header("x-coverage")), (200, coverage), "{query}");
        assert_eq!(answer.header("x-indexed-blocks"), Some("0-1"));
    }
}

#[test]
fn of_many_ranges_the_newest_are_told_and_that_there_are_more() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&Options { durable: false, ..Options::new(folder.path()) });
    let mut chain = testkit::SimChain::new(testkit::SimConfig::seeded(5));
    chain.extend(140);
    for number in (0..=130).step_by(2) {
        let apply = vec![prepared(&store, &chain, number, true)];
        let change = store::Change::apply(store::Origin::Head, apply);
        block_on(store.commit(CHAIN, change)).unwrap();
    }
    let server = TestServer::over(store, folder, &["sim"]);
    let address = format!("0x{}", "1".repeat(40));
    let answer = server.get(&target("{}", &address, "chain=sim"));
    let told = answer.header("x-indexed-blocks").unwrap();
    assert!(told.starts_with("4-4,6-6") && told.ends_with(",130-130,…"), "{told}");
    assert_eq!(told.split(',').count(), 65);
}

#[test]
fn what_the_http_library_refuses_has_the_body_and_the_headers_of_all_others() {
    let server = TestServer::new();
    let long = "x".repeat(70_000);
    for (head, status) in [
        (format!("GET /api/v2.2/{}?chain=sim&a={long} HTTP/1.1\r\n", server.wallet), 414),
        (format!("GET /health/live HTTP/1.1\r\nx-long: {long}\r\n"), 431),
        ("no HTTP\r\n".to_owned(), 400),
    ] {
        let answer = server.send(&head, b"");
        assert_eq!(answer.status, status, "{answer:?}");
        assert!(!answer.message().is_empty(), "{answer:?}");
        for name in ["x-request-id", "date"] {
            assert!(answer.header(name).is_some(), "{name}: {answer:?}");
        }
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    }
}

#[test]
fn heads_that_are_too_large_are_refused_in_the_same_words_over_http2() {
    let server = TestServer::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let client = reqwest::Client::builder().http2_prior_knowledge().build().unwrap();
    let page = format!("http://{}/api/v2.2/{}?chain=sim", server.address, server.wallet);
    let ask = |url: String, header: String| {
        let request = client.get(url).header("x-api-key", KEY).header("x-long", header);
        runtime.block_on(async move {
            let answer = request.send().await.unwrap();
            let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
            (status, headers, answer.text().await.unwrap())
        })
    };
    assert_eq!(ask(page.clone(), "x".into()).0, 200);
    // A longer one is no URL to either side.
    for bytes in [17_000, 60_000] {
        let long = "x".repeat(bytes);
        for (url, header, expected) in
            [(format!("{page}&a={long}"), "x".into(), 414), (page.clone(), long.clone(), 431)]
        {
            let (status, headers, body) = ask(url, header);
            assert_eq!(status, expected, "{bytes}");
            assert!(body.starts_with("{\"message\":"), "{body}");
            for name in ["x-request-id", "access-control-allow-origin", "cache-control"] {
                assert!(headers.contains_key(name), "{name}: {headers:?}");
            }
        }
    }
}

#[test]
fn answers_are_packed_where_the_client_takes_it_and_it_pays() {
    use std::io::{Read, Write};
    let server = TestServer::new();
    let raw = |target: &str, accept: &str| {
        let mut stream = std::net::TcpStream::connect(server.address).unwrap();
        let head = format!(
            "GET {target} HTTP/1.1\r\nhost: test\r\nx-api-key: {KEY}\r\nconnection: close\r\n{accept}\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let end = bytes.windows(4).position(|it| it == b"\r\n\r\n").unwrap();
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        (head, bytes[end + 4..].to_vec())
    };
    let page = target("{}", &server.wallet, "chain=sim&include=internal_transactions");
    let (_, plain) = raw(&page, "");
    assert!(plain.len() > 4_096, "{}", plain.len());
    let (head, packed) = raw(&page, "accept-encoding: deflate, gzip;q=0.8\r\n");
    assert!(head.contains("content-encoding: gzip"), "{head}");
    assert!(head.contains("vary: accept-encoding"), "{head}");
    assert!(head.contains("x-indexed-blocks"), "{head}");
    assert!(packed.len() < plain.len() / 2, "{} of {}", packed.len(), plain.len());
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(packed.as_slice()).read_to_end(&mut unpacked).unwrap();
    assert_eq!(unpacked, plain);
    let (head, small) = raw("/health/live", "accept-encoding: gzip\r\n");
    assert!(!head.contains("content-encoding"), "{head}");
    assert_eq!(small, br#"{"status":"live"}"#);
    let (head, _) = raw(&page, "accept-encoding: gzip;q=0\r\n");
    assert!(!head.contains("content-encoding"), "{head}");
}
