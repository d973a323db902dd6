//! What an answer carries besides its rows: profile, headers, dates understood, labels, limits.

use serde_json::Value;

use crate::process::KEY;
use crate::world::{CHAIN, Imported};

#[tokio::test(flavor = "multi_thread")]
async fn the_profile_is_chosen_by_header_then_platform_then_configuration() {
    let spec = Imported::new(2);
    let live = Imported::with(2, |serve| serve.set("api.wire_profile", "live"));
    for (world, headers, expected) in [
        (&spec, &[][..], "spec"),
        (&live, &[], "live"),
        (&spec, &[("x-moralis-platform", "NodeJS SDK")], "live"),
        (&spec, &[("x-wire-profile", "live")], "live"),
        (&spec, &[("x-wire-profile", "spec"), ("x-moralis-platform", "Python SDK")], "spec"),
        (&live, &[("x-wire-profile", "SPEC")], "spec"),
    ] {
        let path = format!("/api/v2.2/{}?chain={CHAIN}&limit=1", world.address("exchange"));
        let answer = world.client.get_with(&path, headers).await;
        assert_eq!(answer.header("vary"), Some("X-Wire-Profile, X-Moralis-Platform"));
        let json = answer.json();
        let (total, nonce) = (json.get("total"), &json["result"][0]["nonce"]);
        match expected {
            "spec" => assert!(
                total.is_some_and(Value::is_string) && nonce.is_number(),
                "{headers:?} {json}"
            ),
            _ => assert!(total.is_none() && nonce.is_string(), "{headers:?} {json}"),
        }
    }
    let path = format!("/api/v2.2/{}?chain={CHAIN}&limit=1", live.address("exchange"));
    let refused = live.client.get_with(&path, &[("x-wire-profile", "other")]).await;
    assert_eq!(refused.status, 400, "{}", refused.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn both_profiles_say_the_same() {
    let world = Imported::new(8);
    let path = format!(
        "/api/v2.2/{}?chain={CHAIN}&include=internal_transactions",
        world.address("exchange")
    );
    let spec = world.client.get_with(&path, &[("x-wire-profile", "spec")]).await.page();
    let live = world.client.get_with(&path, &[("x-wire-profile", "live")]).await.page();
    for (a, b) in spec.result.iter().zip(&live.result) {
        let numbers = |row: &crate::client::Row| {
            (row.value, row.gas_price, row.receipt_gas_used, row.place())
        };
        assert_eq!((&a.hash, numbers(a)), (&b.hash, numbers(b)));
    }
    assert_eq!(spec.result.len(), live.result.len());
    assert_eq!(spec.total.unwrap().to_u64() as usize, spec.result.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_tell_their_weight_and_their_request() {
    let world = Imported::new(2);
    let path = format!("/api/v2.2/{}?chain={CHAIN}", world.address("exchange"));
    let plain = world.client.get_with(&path, &[("x-request-id", "mine-7.a_b")]).await;
    assert_eq!(plain.header("x-request-id"), Some("mine-7.a_b"));
    assert_eq!(plain.header("x-request-weight"), Some("30"));
    assert_eq!(plain.header("content-type"), Some("application/json"));
    let internal = world.client.get(&format!("{path}&include=internal_transactions")).await;
    assert_eq!(internal.header("x-request-weight"), Some("80"));
    assert_ne!(internal.header("x-request-id"), plain.header("x-request-id"));
    let body = r#"[{"jsonrpc":"2.0","id":1,"method":"eth_chainId"},{"jsonrpc":"2.0","id":2,"method":"eth_getBlockByHash"}]"#;
    let rpc = world.client.rpc_text(CHAIN, body.into()).await;
    assert_eq!(rpc.header("x-request-weight"), Some("15"));
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_in_browsers_may_ask_unless_the_operator_says_no() {
    let open = Imported::new(1);
    let path = format!("/api/v2.2/{}?chain={CHAIN}", open.address("exchange"));
    let http = reqwest::Client::new();
    let preflight = |url: String| {
        http.request(reqwest::Method::OPTIONS, url).header("origin", "https://app.example")
    };
    for path in [path.clone(), format!("/{CHAIN}/{KEY}")] {
        let answer = preflight(format!("{}{path}", open.server.url())).send().await.unwrap();
        assert_eq!(answer.status(), 204);
        let allowed =
            answer.headers()["access-control-allow-headers"].to_str().unwrap().to_lowercase();
        for name in ["x-api-key", "content-type", "x-wire-profile", "x-moralis-platform"] {
            assert!(allowed.contains(name), "{allowed}");
        }
        assert_eq!(answer.headers()["access-control-allow-origin"], "*");
        assert!(answer.headers().contains_key("x-request-id"));
    }
    let good = open.client.get(&path).await;
    assert_eq!(good.header("access-control-allow-origin"), Some("*"));
    let refused = open.client.get_with(&path, &[("x-api-key", "wrong")]).await;
    assert_eq!((refused.status, refused.header("access-control-allow-origin")), (401, Some("*")));
    let status = open.client.get("/status").await;
    assert_eq!(status.header("access-control-allow-origin"), None, "status is for operators");

    let closed = Imported::with(1, |serve| serve.set("api.cors", "false"));
    let answer = preflight(format!("{}{path}", closed.server.url())).send().await.unwrap();
    assert_eq!(answer.status(), 405);
    assert!(!closed.client.get(&path).await.headers.contains_key("access-control-allow-origin"));
}

#[tokio::test(flavor = "multi_thread")]
async fn dates_mean_the_blocks_at_or_after_and_at_or_before_them() {
    let world = Imported::new(20);
    let (address, client) = (world.address("exchange"), &world.client);
    let time = |number: u64| world.chain.block(number).unwrap().header.timestamp;
    let iso = |seconds: u64| api::date::iso_millis_utc(seconds);
    let far = iso(time(20) + 1_000_000);
    let cases = [
        (format!("from_date={}", time(7)), (7, 20)),
        (format!("from_date={}", time(7) + 1), (8, 20)),
        (format!("from_date={}", time(7) * 1000), (7, 20)),
        (format!("from_date={}", time(7) * 1000 + 1), (8, 20)),
        (format!("from_date={}", iso(time(7))), (7, 20)),
        (format!("to_date={}", time(7)), (0, 7)),
        (format!("to_date={}", time(7) - 1), (0, 6)),
        (format!("to_date={}", time(7) * 1000 + 999), (0, 7)),
        (format!("from_date={}&to_date={}", iso(time(5)), iso(time(9))), (5, 9)),
        // Blocks win over dates, at each end by itself.
        (format!("from_block=3&from_date={}&to_date={}", iso(time(9)), iso(time(12))), (3, 12)),
        (format!("from_date={}&to_block=10&to_date={}", iso(time(4)), iso(time(5))), (4, 10)),
        (format!("from_date={far}"), (21, 30)),
        (format!("to_date={far}"), (0, 20)),
        ("to_date=1969-12-31".to_owned(), (21, 30)),
        ("from_date=1969-12-31".to_owned(), (0, 20)),
    ];
    for (query, (from, to)) in cases {
        let by_date = client.wallet(&address, &format!("chain={CHAIN}&{query}")).await;
        let by_block = client
            .wallet(&address, &format!("chain={CHAIN}&from_block={from}&to_block={to}"))
            .await;
        let hashes = |page: &crate::client::Page| {
            page.result.iter().map(|row| row.hash.clone()).collect::<Vec<_>>()
        };
        assert_eq!(hashes(&by_date), hashes(&by_block), "{query}");
        assert_eq!(by_date.total, by_block.total, "{query}");
    }
}

/// A date and a block that mean the same range are still two questions: each keeps its own cursor.
#[tokio::test(flavor = "multi_thread")]
async fn questions_that_mean_the_same_blocks_keep_their_own_cursors() {
    let world = Imported::new(20);
    let address = world.address("exchange");
    let time = world.chain.block(7).unwrap().header.timestamp;
    for query in ["from_block=7".to_owned(), format!("from_date={time}"), "from_block=7".to_owned()]
    {
        let rows = world.client.whole_wallet(&address, &format!("chain={CHAIN}&{query}"), 2).await;
        assert!(rows.len() > 4, "{query}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_asks_too_much_is_told_when_to_come_back() {
    let world = Imported::with(1, |serve| serve.set("api.units_per_second", "80"));
    let address = world.address("exchange");
    let path = format!("/api/v2.2/{address}?chain={CHAIN}&include=internal_transactions");
    assert_eq!(world.client.get(&path).await.status, 200);
    // On a machine so busy that a second passes between two requests, the next one may be good.
    let refused = loop {
        let answer = world.client.get(&path).await;
        if answer.status != 200 {
            break answer;
        }
    };
    assert_eq!(refused.status, 429, "{}", refused.body);
    let message = refused.json()["message"].as_str().unwrap().to_owned();
    assert!(message.contains("80 compute units per second"), "{message}");
    let wait_s: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=2).contains(&wait_s));
    tokio::time::sleep(std::time::Duration::from_millis(wait_s * 1000 + 200)).await;
    // A batch is weighed whole, and what is wrong in it does not make it lighter.
    let calls = [r#"{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByHash"}"#; 9].join(",");
    let batch = async || world.client.rpc_text(CHAIN, format!("[5,{calls}]")).await.status;
    assert_eq!(batch().await, 200);
    while batch().await == 200 {}
    assert_eq!(world.client.get(&path).await.status, 429, "both hosts draw from one bucket");
}
