//! A server in its operator's hands: keys, listeners, health, stopping.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use crate::client::{Answer, Client};
use crate::process::{KEY, Serve, run, run_well, text};
use crate::world::{CHAIN, Imported, private};

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
    assert_eq!(ask(key).await.status, 401);
    assert_eq!(ask(KEY).await.status, 200);
    let again = run(["keys", "revoke", "--data", data, id]);
    assert!(
        !again.status.success() && text(&again.stderr).contains(&format!("no key with id {id}"))
    );

    // The command line came in through a socket that nobody else can open.
    let socket = std::fs::metadata(format!("{data}/headwater.sock")).unwrap();
    assert_eq!(socket.permissions().mode() & 0o777, 0o600);
    for file in files_below(std::path::Path::new(data)) {
        let stored = String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned();
        assert!(!stored.contains(key) && !stored.contains(slow.trim()), "keys are hashed");
    }
}

fn files_below(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            files.extend(files_below(&entry.path()));
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    files
}

#[test]
fn keys_are_made_without_a_server_and_count_when_one_starts() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let data = data.to_str().unwrap();
    let key = run_well(["keys", "create", "--data", data, "--admin"]);
    let list = run_well(["keys", "list", "--data", data]);
    assert!(list.lines().nth(1).unwrap().contains(" admin "), "{list}");
    let server = private(Serve::of(std::path::Path::new(data))).start();
    let status = run_well(["status", "--data", data]);
    assert!(status.contains("\"version\""), "{status}");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let client = Client::new(server.url());
    let headers = [("x-api-key", key.trim())];
    let sizes = runtime.block_on(client.get_with("/admin/v1/sizes", &headers));
    assert_eq!(sizes.status, 200, "{}", sizes.body);
    assert!(server.terminate().success());
    let gone = run(["status", "--data", data]);
    assert_eq!(gone.status.code(), Some(1));
    assert!(text(&gone.stderr).contains("no server runs on the data folder"), "{gone:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_admin_surface_is_for_admin_keys_alone() {
    let world = Imported::with(1, |serve| serve.split("admin").set("auth.status", "key"));
    let data = world.folder.path().join("data");
    let tenant = run_well(["keys", "create", "--data", data.to_str().unwrap()]);
    let [all, admin] = world.server.urls() else { panic!("two listeners") };
    let (all, admin) = (Client::new(all), Client::new(admin));
    for path in ["/admin/v1/keys", "/admin/v1/readers", "/admin/v1/upstreams", "/admin/v1/redecode"]
    {
        let with = async |key: &str| admin.get_with(path, &[("x-api-key", key)]).await.status;
        assert_eq!(with(KEY).await, 200, "{path}: the bootstrap key is an admin's");
        assert_eq!(with(tenant.trim()).await, 403, "{path}");
        assert_eq!(with("nobody").await, 401, "{path}");
        assert_eq!(all.get_with(path, &[("x-api-key", KEY)]).await.status, 404, "{path}");
    }
    // Closed by the configuration; health stays open.
    for path in ["/status", "/metrics"] {
        let with = async |key: &str| all.get_with(path, &[("x-api-key", key)]).await.status;
        assert_eq!((with(KEY).await, with(tenant.trim()).await), (200, 403), "{path}");
    }
    assert_eq!(all.get_with("/health/ready", &[("x-api-key", "")]).await.status, 200);
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
    // Where a connection is waited for, it is for `listen.drain_timeout_ms`.
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
}

#[test]
fn a_second_process_on_the_same_folder_is_told_why_it_cannot_start() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let _first = private(Serve::of(&data)).start();
    let import = ["--chain", CHAIN, "/no/such/file.json"];
    for (command, more) in [("serve", &["--listen", "127.0.0.1:0"][..]), ("import", &import)] {
        let mut args = vec![command, "--data", data.to_str().unwrap()];
        args.extend(more);
        let second = run(args);
        assert_eq!(second.status.code(), Some(1));
        let told = text(&second.stderr);
        assert!(
            told.contains("is in use by another headwater process") && told.contains("--data"),
            "{told}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_beyond_its_budget_is_warned_of_and_goes_on() {
    let world = Imported::with(3, |serve| serve.set("store.disk_budget_bytes", "1000"));
    let status = world.client.get("/status").await.json();
    let budget = &status["store"]["budget"];
    assert_eq!((&budget["budget_bytes"], &budget["level"]), (&1000.into(), &"critical".into()));
    assert!(budget["used_percent"].as_u64().unwrap() > 100, "{budget}");
    assert!(budget["advice"].as_str().unwrap().contains("retain_blocks"), "{budget}");
    let warning = "% of store.disk_budget_bytes";
    let log = world.server.until_logged(warning).await;
    assert_eq!(log.matches(warning).count(), 1, "{log}");
    let metrics = world.client.get("/metrics").await.body;
    assert!(metrics.contains("headwater_store_budget_used_ratio"), "{metrics}");
    let none = Imported::new(1);
    assert!(none.client.get("/status").await.json()["store"]["budget"].is_null());
}

/// The allocator reads it before `main`, so the server starts its program again, and stays the process that it was.
#[cfg(target_os = "linux")]
#[test]
fn freed_memory_is_kept_for_a_second_unless_the_operator_says_otherwise() {
    const NAME: &str = "MIMALLOC_PURGE_DELAY";
    for (told, expected) in [(None, "1000"), (Some("7"), "7")] {
        let folder = tempfile::tempdir().unwrap();
        let mut serve = private(Serve::of(&folder.path().join("data")));
        if let Some(told) = told {
            serve = serve.variable(NAME, told);
        }
        let server = serve.start();
        let variables = std::fs::read(format!("/proc/{}/environ", server.pid())).unwrap();
        let wanted = format!("{NAME}={expected}");
        assert!(variables.split(|byte| *byte == 0).any(|it| it == wanted.as_bytes()), "{told:?}");
        let command = std::fs::read(format!("/proc/{}/cmdline", server.pid())).unwrap();
        assert_eq!(text(&command).split('\0').nth(1), Some("serve"));
        assert_eq!(server.terminate().code(), Some(0));
    }
}
