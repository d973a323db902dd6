//! A server in its operator's hands: keys, listeners, health, stopping.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use crate::client::{Answer, Client};
use crate::process::{KEY, Serve, run, run_well, text};
use crate::world::{CHAIN, Imported, private};

/// A running server looks at the key file twice a second.
const NOTICED: Duration = Duration::from_millis(1000);

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_made_listed_and_revoked_beside_a_running_server() {
    let world = Imported::new(1);
    let data = world.folder.path().join("data");
    let data = data.to_str().unwrap();
    let path = format!("/api/v2.2/{}?chain={CHAIN}", world.address("exchange"));
    let create = |extra: &[&str]| run_well([&["keys", "create", "--data", data], extra].concat());
    let created = create(&["--tenant", "acme", "--name", "ci"]);
    let key = created.strip_suffix('\n').unwrap();
    assert!(key.len() >= 64 && !key.contains(char::is_whitespace), "the key alone: {created:?}");
    let slow = create(&["--units-per-second", "30"]);
    tokio::time::sleep(NOTICED).await;
    let ask =
        async |key: &str| -> Answer { world.client.get_with(&path, &[("x-api-key", key)]).await };
    assert_eq!(ask(key).await.status, 200);
    assert_eq!(ask(slow.trim()).await.status, 200);
    assert_eq!(ask(slow.trim()).await.status, 429, "a key's own limit holds");
    assert_eq!(ask(key).await.status, 200, "and is nobody else's");

    let list = run_well(["keys", "list", "--data", data]);
    let line = list.lines().find(|line| line.contains("acme")).unwrap();
    assert!(line.contains("ci") && !list.contains(key), "{list}");
    let id = line.split_whitespace().next().unwrap();
    run_well(["keys", "revoke", "--data", data, id]);
    tokio::time::sleep(NOTICED).await;
    assert_eq!(ask(key).await.status, 401);
    assert_eq!(ask(KEY).await.status, 200);
    let again = run(["keys", "revoke", "--data", data, id]);
    assert!(
        !again.status.success() && text(&again.stderr).contains(&format!("no key with id {id}"))
    );

    let file = std::fs::metadata(format!("{data}/keys.json")).unwrap();
    assert_eq!(file.permissions().mode() & 0o777, 0o600);
    let stored = std::fs::read_to_string(format!("{data}/keys.json")).unwrap();
    assert!(!stored.contains(key) && !stored.contains(slow.trim()));
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_with_listeners_of_their_own_are_served_there_and_nowhere_else() {
    let world = Imported::with(1, |serve| serve.split("data").split("rpc"));
    let path = format!("/api/v2.2/{}?chain={CHAIN}", world.address("exchange"));
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}"#;
    let [all, data, rpc] = world.server.urls() else { panic!("three listeners") };
    for (url, serves_data, serves_rpc) in
        [(all, false, false), (data, true, false), (rpc, false, true)]
    {
        let client = Client::new(url);
        let expected = |serves| if serves { 200 } else { 404 };
        assert_eq!(client.get(&path).await.status, expected(serves_data), "{url}");
        assert_eq!(client.rpc_text(CHAIN, call.into()).await.status, expected(serves_rpc), "{url}");
        assert_eq!(client.get("/health/live").await.status, 200, "health is everywhere");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn health_status_and_metrics_tell_operators_how_it_is() {
    let world = Imported::new(5);
    assert_eq!(world.client.get("/health/live").await.json()["status"], "live");
    assert_eq!(world.client.get("/health/ready").await.json()["status"], "ready");
    let status = world.client.get("/status").await.json();
    let chain = &status["chains"][crate::world::SLUG];
    let head = world.chain.head();
    assert_eq!(chain["id"], 1337);
    assert_eq!((&chain["head"]["number"], &chain["coverage"]), (&5.into(), &"0-5".into()));
    assert_eq!(chain["head"]["hash"], format!("{:#x}", head.hash));
    assert_eq!(chain["blocks"], 6);
    assert!(
        status["store"]["tables"].as_array().is_some_and(|tables| !tables.is_empty()),
        "{status}"
    );
    let metrics = world.client.get("/metrics").await;
    assert!(metrics.header("content-type").unwrap().starts_with("text/plain"));
    for name in [
        "headwater_http_requests_total",
        "headwater_http_request_seconds",
        "headwater_store_table_bytes",
        "headwater_store_bytes",
    ] {
        assert!(metrics.body.contains(name), "{name}: {}", metrics.body);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_word_to_stop_ends_it_well_and_at_once() {
    let world = Imported::new(1);
    // An idle connection that stays open must not hold it up.
    world.client.get("/health/live").await;
    let started = std::time::Instant::now();
    assert_eq!(world.server.terminate().code(), Some(0));
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

#[test]
fn a_second_process_on_the_same_folder_is_told_why_it_cannot_start() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let _first = private(Serve::of(&data)).start();
    for command in ["serve", "digest"] {
        let mut args = vec![command, "--data", data.to_str().unwrap()];
        args.extend(match command {
            "serve" => ["--listen", "127.0.0.1:0"],
            _ => ["--chain", "eth"],
        });
        let second = run(args);
        assert_eq!(second.status.code(), Some(1));
        let told = text(&second.stderr);
        assert!(
            told.contains("is in use by another headwater process") && told.contains("--data"),
            "{told}"
        );
    }
}
