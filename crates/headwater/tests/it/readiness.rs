//! Whether a server says that it cannot do its work, why, and that it can again.

use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::{Fault, Rule, SimConfig, SimNode, shared, write};

use crate::client::Client;
use crate::process::Serve;
use crate::world::{CHAIN, SLUG};

/// Only a broken test waits this long.
const PATIENCE: Duration = Duration::from_secs(180);

/// The first answer with this status.
pub async fn until_ready_is(client: &Client, status: u16) -> Value {
    let started = Instant::now();
    loop {
        let answer = client.get("/health/ready").await;
        if answer.status == status {
            return answer.json();
        }
        assert!(started.elapsed() < PATIENCE, "never {status}: {answer:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chain_with_neither_a_block_nor_a_node_is_not_ready_until_there_is_one() {
    let chain = shared(SimConfig::seeded(71));
    write(&chain).extend(5);
    let node = SimNode::start(chain.clone()).await.unwrap();
    node.faults.add(Rule::new(Fault::HttpError(503)));
    let folder = tempfile::tempdir().unwrap();
    let serve = Serve::of(&folder.path().join("data")).rpc(CHAIN, &node.url());
    let serve = serve.set("rpc.poll_ms", "40").set("rpc.backoff_max_ms", "200");
    let server = serve.start();
    let client = Client::new(server.url());

    let body = until_ready_is(&client, 503).await;
    let problem = &body["problems"][0];
    assert_eq!((&body["status"], &problem["chain"]), (&"not ready".into(), &SLUG.into()));
    assert!(problem["reason"].as_str().unwrap().contains("nothing is stored yet"), "{body}");
    assert!(problem["advice"].as_str().unwrap().contains("/status"), "{body}");
    let status = client.get("/status").await.json();
    assert_eq!(&status["problems"][0], problem);

    node.faults.clear();
    assert_eq!(until_ready_is(&client, 200).await["status"], "ready");
    let head = testkit::read(&chain).head().hash;
    client.until_indexed(SLUG, 5, &format!("{head:#x}")).await;
    node.faults.add(Rule::new(Fault::HttpError(503)));
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(client.get("/health/ready").await.status, 200, "what is stored is answered from");
}
