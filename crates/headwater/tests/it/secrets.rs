//! A key is shown to nobody: not in the log at its most talkative, nor in /metrics, /status or errors.

use serde_json::json;
use testkit::{Fault, Rule, SimConfig};

use crate::process::KEY;
use crate::raw::{Request, send};
use crate::world::{CHAIN, Live};

/// Where a hosted node's URL has its key.
const NODE_KEY: &str = "node-secret-5e37";

#[tokio::test(flavor = "multi_thread")]
async fn keys_reach_neither_log_nor_metrics_nor_answers() {
    let live = Live::start(SimConfig::seeded(31), 3, |serve| {
        serve
            .set("log.filter", "trace")
            .arg("--rpc")
            .arg(format!("{CHAIN}=http://127.0.0.1:9/{NODE_KEY}"))
    })
    .await;
    let client = &live.client;
    let wallet = live.address("exchange");
    client.wallet(&wallet, &format!("chain={CHAIN}")).await;
    client.rpc(CHAIN, "eth_gasPrice", json!([])).await;
    // Wrong paths, methods and bodies with the right key, as people send them by mistake.
    for (method, target) in [
        ("GET", format!("/{CHAIN}/{KEY}")),
        ("POST", format!("/nowhere/{KEY}")),
        ("POST", format!("/{CHAIN}/{KEY}/more")),
        ("GET", format!("/{KEY}")),
        ("GET", format!("/api/v2.2/{wallet}?chain={CHAIN}&api_key={KEY}")),
        ("POST", format!("/{CHAIN}/{KEY}%FF")),
        ("POST", format!("/{CHAIN}/{KEY}")),
    ] {
        let headers = vec![("content-type", "text/html"), ("authorization", "Bearer x")];
        let request = Request { method, target: &target, headers, body: b"" };
        let answer = send(live.server.address(), &request);
        assert!(!answer.body.contains(KEY), "{method} {target}: {}", answer.body);
    }
    live.node.faults.add(Rule::new(Fault::HttpError(500)));
    let failed =
        client.rpc_text(CHAIN, r#"{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice"}"#.into()).await;
    assert!(failed.body.contains("error"), "{}", failed.body);
    let status = client.get("/status").await.body;
    let metrics = client.get("/metrics").await.body;
    assert!(metrics.contains("headwater_http_requests_total"), "{metrics}");
    assert!(metrics.contains("route=\"/{chain}/{key}\""), "{metrics}");
    let log = live.server.log();
    assert!(log.contains("TRACE") && log.len() > 10_000, "a log that says nothing proves nothing");
    for (what, text) in
        [("log", log), ("metrics", metrics), ("status", status), ("answer", failed.body)]
    {
        for secret in [KEY, NODE_KEY] {
            let line = text.lines().find(|line| line.contains(secret));
            assert!(line.is_none(), "{what}: {line:?}");
        }
    }
}
