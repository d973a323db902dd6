//! A log that nobody takes: stderr closed by its reader, or never read. Lines are lost, and nothing else is.

use std::process::Stdio;
use std::time::Duration;

use serde_json::json;
use testkit::{SimConfig, SimNode, shared, write};

use crate::client::Client;
use crate::process::{KEY, Serve, run_well};
use crate::world::{CHAIN, SLUG, head};

/// More lines than a pipe holds, from every part of the server.
fn talkative(serve: Serve) -> Serve {
    serve.set("log.filter", "trace").set("rpc.poll_ms", "40")
}

async fn answers_go_on(log: Stdio) {
    let chain = shared(SimConfig::seeded(41));
    write(&chain).extend(5);
    let node = SimNode::start(chain.clone()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let serve = Serve::of(&folder.path().join("data")).rpc(CHAIN, &node.url());
    let server = talkative(serve).start_logging_to(log);
    let client = Client::new(server.url());
    for _ in 0..20 {
        write(&chain).extend(1);
        let (number, hash) = head(&chain);
        client.until_indexed(SLUG, number, &hash).await;
        // Each of these is logged, one of them as a failure of all nodes.
        assert_eq!(client.get("/nowhere").await.status, 404);
        client.rpc(CHAIN, "eth_gasPrice", json!([])).await;
    }
    assert_eq!(client.get("/health/ready").await.status, 200);
    let ended = tokio::task::spawn_blocking(|| server.terminate()).await.unwrap();
    assert_eq!(ended.code(), Some(0), "the end is not disturbed, either");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stderr_that_was_closed_by_its_reader_harms_nothing() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    answers_go_on(writer.into()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stderr_that_nobody_reads_harms_nothing() {
    let (_reader, writer) = std::io::pipe().unwrap();
    let done = tokio::time::timeout(Duration::from_secs(120), answers_go_on(writer.into()));
    done.await.expect("a full pipe stopped the server");
}

#[test]
fn a_command_ends_as_it_should_without_a_stderr() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let data = data.to_str().unwrap();
    run_well(["keys", "create", "--data", data]);
    let list = run_well(["keys", "list", "--data", data]);
    let id = list.lines().nth(1).unwrap().split_whitespace().next().unwrap();
    for (args, code) in [
        (vec!["keys", "revoke", "--data", data, id], 0),
        (vec!["keys", "revoke", "--data", data, id], 1),
        (vec!["config", "check", "--config", "/no/such/file.toml"], 1),
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_headwater"));
        command.env("HEADWATER__AUTH__BOOTSTRAP_KEY", KEY).args(&args).stderr(writer);
        assert_eq!(command.output().unwrap().status.code(), Some(code), "{args:?}");
    }
}
