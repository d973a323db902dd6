//! What processes of each role do and refuse, and what they see of each other.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use testkit::{SimConfig, SimNode, shared, write};

use super::members::{Cluster, asked, serve, until};
use crate::client::Client;
use crate::postgres_process::PostgresProcess;
use crate::process::{KEY, run, text};
use crate::world::{CHAIN, SLUG, head};

#[test]
fn a_data_folder_belongs_to_one_process() {
    let folder = tempfile::tempdir().unwrap();
    for role in ["ingest", "gateway", "streams"] {
        let data = folder.path().join(role);
        let ended = run(["serve", "--role", role, "--data", data.to_str().unwrap()]);
        let said = text(&ended.stderr);
        assert!(!ended.status.success() && said.contains(&format!("--role {role}")), "{said}");
        assert!(said.contains("store.url is empty"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_waits_for_its_database_and_says_so_and_its_clients_are_put_off() {
    let folder = tempfile::tempdir().unwrap();
    let Some(postgres) = PostgresProcess::start() else { return };
    let chain = shared(SimConfig::seeded(83));
    write(&chain).extend(20);
    let node = SimNode::start(chain.clone()).await.unwrap();
    let url = postgres.url("postgres");
    let cluster = Cluster::new(folder.path(), &url, &node);
    let server = cluster.start("all", "one");
    let client = Client::new(server.url());
    let (number, hash) = head(&chain);
    client.until_indexed(SLUG, number, &hash).await;
    drop(postgres);
    let wallet = "0x00000000000000000000000000000000000000aa";
    let path = format!("/api/v2.2/{wallet}?chain={CHAIN}");
    until("the database is away", || async { client.get(&path).await.status != 200 }).await;
    let answer = client.get(&path).await;
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")), "{}", answer.body);
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_getBlockByNumber", "params": ["0x1", false] });
    let answer = client.rpc_text(CHAIN, call.to_string()).await;
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")), "{}", answer.body);
    drop(server);
    // Nobody is there at all: it waits, and ends only when it is told to.
    let data = folder.path().join("waits");
    let waits = serve(&data, &node.url()).set("store.url", &url);
    let log = waits.runs_until_logged("waiting for the database", Duration::from_secs(60));
    assert!(log.contains("reach the database"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_of_all_roles_are_one_service() {
    let Some(postgres) = PostgresProcess::start() else { return };
    let chain = shared(SimConfig { txs_per_block: 5, ..SimConfig::seeded(84) });
    write(&chain).extend(60);
    let node = SimNode::start(chain.clone()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let cluster = Cluster::new(folder.path(), &postgres.url("postgres"), &node);
    let ingest = cluster.start("ingest", "ingest");
    let [one, other] = ["api-1", "api-2"].map(|name| cluster.start("api", name));
    let gateway = cluster.start("gateway", "gateway");
    let (number, hash) = head(&chain);
    let [first, second] = [&one, &other].map(|server| Client::new(server.url()));
    first.until_indexed(SLUG, number, &hash).await;

    // A cursor of one process is good at another.
    let wallet = testkit::read(&chain).address_of("exchange").unwrap();
    let path = format!("/api/v2.2/{wallet:#x}?chain={CHAIN}&limit=2");
    let page = first.get(&path).await.page();
    let next = format!("{path}&cursor={}", page.next().unwrap());
    let (here, there) = (first.get(&next).await, second.get(&next).await);
    assert_eq!((here.status, &here.body), (200, &there.body));

    // So is a filter.
    let call = |method: &str, params: serde_json::Value| {
        json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
    };
    let made = first.rpc_text(CHAIN, call("eth_newBlockFilter", json!([]))).await.json();
    write(&chain).extend(1);
    let (number, hash) = head(&chain);
    first.until_indexed(SLUG, number, &hash).await;
    let asks = call("eth_getFilterChanges", json!([made["result"]]));
    let changes = Client::new(gateway.url()).rpc_text(CHAIN, asks).await.json();
    assert_eq!(changes["result"], json!([hash]), "{changes}");

    // A key of one process is known to another, and so is that it was revoked.
    let body = json!({ "tenant": "t", "name": "n" });
    let key = asked(&one, Method::POST, "/admin/v1/keys", &body).await;
    let with_key = |url: &str| {
        let request = reqwest::Client::new().get(format!("{url}{path}"));
        request.header("x-api-key", key["key"].as_str().unwrap())
    };
    let is_let_in = |url: String| {
        let request = with_key(&url);
        async move { request.send().await.unwrap().status() == 200 }
    };
    until("the other knows the key", || is_let_in(other.url().to_owned())).await;
    let id = key["id"].as_str().unwrap();
    asked(&one, Method::DELETE, &format!("/admin/v1/keys/{id}"), &json!({})).await;
    until("the other forgets the key", || async { !is_let_in(other.url().to_owned()).await }).await;

    // Each serves what is its own, and nothing else.
    let statuses = [(&ingest, 404), (&gateway, 404), (&one, 200)];
    for (server, status) in statuses {
        assert_eq!(Client::new(server.url()).get(&path).await.status, status);
    }
    for (server, status) in [(&ingest, 404), (&gateway, 200)] {
        let url = format!("{}/{CHAIN}/{KEY}", server.url());
        let body = call("eth_blockNumber", json!([]));
        let request = reqwest::Client::new().post(url).header("content-type", "application/json");
        assert_eq!(request.body(body).send().await.unwrap().status().as_u16(), status);
    }
    // Nobody matches streams here: requests about them are put off, and say so.
    let path = format!("{}/streams/evm?limit=10", one.url());
    let asked = reqwest::Client::new().get(path).header("x-api-key", KEY);
    let put_off = asked.send().await.unwrap();
    assert_eq!(put_off.status(), 503);
    assert!(put_off.headers().contains_key("retry-after"));
}
