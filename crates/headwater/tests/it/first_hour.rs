//! The commands of an operator's first hour: `init`, `doctor`, `completions`.

use std::os::unix::fs::PermissionsExt;
use std::process::Output;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;
use testkit::{Fault, Rule, SimConfig, SimNode, shared, write};

use crate::process::{Serve, run, run_well, text};
use crate::world::CHAIN;

const BLOCKS: u64 = 30;

/// A node whose head is of now.
async fn node() -> SimNode {
    let config = SimConfig::default();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let start_time = now - BLOCKS * config.block_time_s;
    let chain = shared(SimConfig { start_time, ..config });
    write(&chain).extend(BLOCKS as usize);
    SimNode::start(chain).await.unwrap()
}

/// Beside the test's own tasks, which are the node.
async fn doctor(args: &[&str]) -> Output {
    let args: Vec<String> = ["doctor"].iter().chain(args).map(|arg| arg.to_string()).collect();
    tokio::task::spawn_blocking(move || run(args)).await.unwrap()
}

async fn examined(args: &[&str]) -> (Option<i32>, Value) {
    let output = doctor(&[args, &["--json"]].concat()).await;
    let report = serde_json::from_slice(&output.stdout);
    let report = report.unwrap_or_else(|_| panic!("no report: {}", text(&output.stderr)));
    (output.status.code(), report)
}

/// State, text and what to do of the finding about this.
fn finding<'a>(report: &'a Value, check: &str) -> (&'a str, &'a str, &'a str) {
    let all = report["findings"].as_array().unwrap();
    let found = all.iter().find(|finding| finding["check"] == check);
    let found = found.unwrap_or_else(|| panic!("nothing about {check}: {report:#}"));
    let part = |name: &str| found[name].as_str().unwrap_or_default();
    (part("state"), part("text"), part("todo"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_good_node_and_a_good_machine_are_well() {
    let node = node().await;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let rpc = format!("{CHAIN}={}", node.url());
    let args = ["--rpc", &rpc, "--data", data.to_str().unwrap(), "--listen", "127.0.0.1:0"];
    let (code, report) = examined(&args).await;
    assert_eq!((code, &report["is_well"]), (Some(0), &Value::Bool(true)), "{report:#}");
    for check in
        ["settings", "folder", "port", "reachable", "chain", "head", "traces", "archive", "batches"]
    {
        let (state, text, todo) = finding(&report, check);
        assert_eq!((state, todo), ("good", ""), "{check}: {text}");
    }
    assert!(!data.exists(), "it only looks");
    let found = &report["nodes"][0]["nodes"][0]["usable"];
    assert_eq!(found["head"]["number"], BLOCKS);
    assert_eq!((&found["batch_asked"], &found["batch_max"]), (&20.into(), &20.into()));
    assert!(found["latency_ms"].as_f64().unwrap() > 0.0, "{found}");
    assert!(found["blocks_per_second"].as_f64().unwrap() > 0.0, "{found}");
    let shown = doctor(&args).await;
    let shown = text(&shown.stdout);
    assert!(shown.contains("good    chain        1337"), "{shown}");
    assert!(shown.contains("by debug_traceBlockByNumber, of old blocks, too"), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_socket_that_tells_new_heads_is_good() {
    let node = node().await;
    let folder = tempfile::tempdir().unwrap();
    let rpc = format!("{CHAIN}={}", node.ws_url());
    let data = folder.path().to_str().unwrap();
    let args = ["--rpc", &rpc, "--data", data, "--listen", "127.0.0.1:0"];
    let (_, report) = examined(&args).await;
    assert_eq!(finding(&report, "socket"), ("good", "tells new heads", ""));
    node.faults.add(Rule::no_methods(["eth_subscribe"]));
    let (code, report) = examined(&args).await;
    let (state, text, todo) = finding(&report, "socket");
    assert_eq!((code, state), (Some(0), "warning"), "{text}");
    assert!(todo.contains("polled"), "{todo}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_node_lacks_is_told_with_what_to_do() {
    let node = node().await;
    node.faults.add(Rule::no_debug_trace());
    node.faults.add(Rule::no_parity_trace());
    node.faults.add(Rule::new(Fault::MaxBatch(5)));
    let pruned = Fault::RpcError { code: -32000, message: "missing trie node 12ab".into() };
    node.faults.add(Rule::new(pruned).on_methods(["eth_getBalance"]));
    node.faults.add(Rule::new(Fault::NotFound).on_blocks(0..=9));
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    let rpc = format!("{CHAIN}={}", node.url());
    let (code, report) =
        examined(&["--rpc", &rpc, "--data", data, "--listen", "127.0.0.1:0"]).await;
    assert_eq!(code, Some(0), "all of it works, with less: {report:#}");
    for (check, says, advises) in [
        ("traces", "none: the node does not know the methods", "internal transactions"),
        ("archive", "recent state alone", "archive node"),
        ("batches", "takes 5 calls in one request, not 20", "max_batch = 5"),
        ("blocks", "has blocks from 10 on", "from_block = 10"),
    ] {
        let (state, text, todo) = finding(&report, check);
        assert!(state == "warning" && text.contains(says) && todo.contains(advises), "{report:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_work_is_wrong_and_ends_with_1() {
    let (node, other) = (node().await, node().await);
    other.faults.add(Rule::new(Fault::WrongChainId(5)));
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().to_str().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap().to_string();
    let free = "127.0.0.1:0";
    // Nobody listens on a port that was just given back.
    let nobody = std::net::TcpListener::bind(free).unwrap().local_addr().unwrap();
    let (good, gone) =
        (format!("{CHAIN}={}", node.url()), format!("{CHAIN}=http://{nobody}/geheim"));
    let wrong = format!("{CHAIN}={}", other.url());
    for (rpc, listen, check, says, advises) in [
        (&good, listen.as_str(), "port", "in use", "another port"),
        (&gone, free, "reachable", "could not connect", "see that the node runs"),
        (&wrong, free, "chain", "it serves chain 5, not 1337", "--rpc 5=URL"),
    ] {
        let (code, report) = examined(&["--rpc", rpc, "--data", data, "--listen", listen]).await;
        let (state, text, todo) = finding(&report, check);
        assert_eq!((code, state), (Some(1), "wrong"), "{report:#}");
        assert!(text.contains(says) && todo.contains(advises), "{check}: {text}; {todo}");
        assert!(!report.to_string().contains("geheim"), "{report:#}");
    }
    let (code, report) = examined(&["--config", "/no/such/file.toml"]).await;
    assert_eq!((code, finding(&report, "settings").0), (Some(1), "wrong"));
}

/// A chain whose blocks are of the year 2100: either the clock is wrong, or the chain is.
#[tokio::test(flavor = "multi_thread")]
async fn a_head_from_the_future_speaks_against_the_clock() {
    let chain = shared(SimConfig { start_time: 4_102_444_800, ..SimConfig::default() });
    write(&chain).extend(3);
    let node = SimNode::start(chain).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let rpc = format!("{CHAIN}={}", node.url());
    let data = folder.path().to_str().unwrap();
    let (code, report) =
        examined(&["--rpc", &rpc, "--data", data, "--listen", "127.0.0.1:0"]).await;
    let (state, text, todo) = finding(&report, "clock");
    assert_eq!((code, state), (Some(1), "wrong"), "{text}");
    assert!(text.contains("in the future") && todo.contains("clock"), "{text}; {todo}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_runs_is_known_by_its_folder_and_its_port() {
    let folder = tempfile::tempdir().unwrap();
    let server = Serve::of(folder.path()).start();
    let data = folder.path().to_str().unwrap();
    let (code, report) = examined(&["--data", data, "--listen", server.address()]).await;
    assert_eq!(code, Some(0), "{report:#}");
    assert_eq!(finding(&report, "folder"), ("good", "a server runs on it", ""));
    assert!(finding(&report, "port").1.contains("in use, and a server runs"), "{report:#}");
    assert_eq!(finding(&report, "nodes").0, "warning", "it has none");
}

#[test]
fn init_writes_a_file_that_can_be_served_from_and_replaces_none() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("headwater.toml");
    let path = file.to_str().unwrap();
    let data = folder.path().join("data");
    let args = |more: &[&str]| {
        let base = ["init", "--config", path, "--data", data.to_str().unwrap()];
        run(base.iter().chain(more))
    };
    let first = args(&["--rpc", "eth=https://node.example/geheim", "--from-block", "eth=19000000"]);
    assert!(first.status.success(), "{}", text(&first.stderr));
    let shown = text(&first.stdout);
    assert!(shown.contains(&format!("headwater serve --config {path}")), "{shown}");
    assert!(!shown.contains("geheim"), "{shown}");
    assert_eq!(run_well(["config", "check", "--config", path]), "the configuration is good\n");
    let written = std::fs::read_to_string(&file).unwrap();
    let table: toml::Table = written.parse().unwrap();
    assert_eq!(table["chains"]["eth"]["from_block"].as_integer(), Some(19_000_000));
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);

    let again = args(&["--rpc", "polygon=http://127.0.0.1:8545"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(text(&again.stderr).contains("is there already; --force replaces it"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), written, "as it was");
    assert!(args(&["--rpc", "polygon=http://127.0.0.1:8545", "--force"]).status.success());
    assert!(std::fs::read_to_string(&file).unwrap().contains("[chains.polygon]"));
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing stays beside it: {left:?}");
}

#[test]
fn init_refuses_what_could_not_be_served_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("headwater.toml");
    for (args, says) in [
        (vec![], "give one with --rpc CHAIN=URL"),
        (vec!["--rpc", "nowhere=http://n"], "chain 'nowhere' is not built in"),
        (vec!["--rpc", "eth=ftp://node/geheim"], "must start with http://"),
        (vec!["--rpc", "eth"], "--rpc: give it as CHAIN=URL"),
        (vec!["--rpc", "eth=http://n", "--from-block", "eth=many"], "'many' is not a block number"),
        (vec!["--rpc", "eth=http://n", "--from-block", "base=1"], "names no node of 'base'"),
        (vec!["--rpc", "eth=http://n", "--listen", "localhost"], "'localhost'"),
    ] {
        let output = run(["init", "--config", file.to_str().unwrap()].iter().chain(&args));
        let told = text(&output.stderr);
        assert!(output.status.code() == Some(1) && told.contains(says), "{args:?}: {told}");
        assert!(!told.contains("geheim"), "{told}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{args:?}");
    }
}

#[test]
fn shells_get_what_they_need_to_complete() {
    for (shell, has) in
        [("bash", "complete -F"), ("zsh", "#compdef headwater"), ("fish", "complete -c")]
    {
        let script = run_well(["completions", shell]);
        assert!(script.contains(has) && script.contains("doctor"), "{shell}: {script}");
    }
    assert_eq!(run(["completions", "abacus"]).status.code(), Some(2));
}
