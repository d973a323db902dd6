//! `ingest = "off"`: a chain that is forwarded, checked and cached, and of which nothing is stored.

use serde_json::{Value, json};
use testkit::{Rule, SimConfig, SimNode, Tamper, read, shared, write};

use crate::client::{Answer, Client};
use crate::process::Serve;
use crate::subscriptions::Socket;
use crate::world::{CHAIN, SLUG};

async fn call(client: &Client, method: &str, params: Value) -> Answer {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    client.rpc_text(SLUG, body.to_string()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chain_is_served_by_its_nodes_alone() {
    let chain = shared(SimConfig { txs_per_block: 6, ..SimConfig::seeded(5) });
    write(&chain).extend(80);
    let node = SimNode::start(chain.clone()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let serve = Serve::of(&folder.path().join("data")).rpc(CHAIN, &node.url());
    let serve = serve.set("rpc.poll_ms", "40").set(&format!("chains.{CHAIN}.ingest"), "off");
    let server = serve.start();
    let client = Client::new(server.url());

    let (hash, tx) = {
        let chain = read(&chain);
        let block = chain.block(5).unwrap();
        (block.hash.to_string(), block.txs[0].hash.to_string())
    };
    let first = call(&client, "eth_getBlockByHash", json!([hash, true])).await;
    assert_eq!(first.header("x-answered-from"), Some("node"), "{}", first.body);
    let again = call(&client, "eth_getBlockByHash", json!([hash, true])).await;
    assert_eq!(again.header("x-answered-from"), Some("cache"));
    assert_eq!(again.json()["result"], first.json()["result"]);
    let receipt = client.rpc(SLUG, "eth_getTransactionReceipt", json!([tx])).await;
    assert_eq!(receipt["transactionHash"], json!(tx));
    assert_eq!(client.rpc(SLUG, "eth_blockNumber", json!([])).await, "0x50");

    // What is wrong with parameters the node says in its own words.
    let odd = call(&client, "eth_getUncleCountByBlockHash", json!(["latest"])).await.json();
    assert_eq!(
        odd["error"]["message"],
        "the method eth_getUncleCountByBlockHash does not exist/is not available"
    );

    // Nobody else is there, so a lie is an error.
    node.faults.add(Rule::from(Tamper::ChangedTimestamp).on_block(6));
    let other = read(&chain).block(6).unwrap().hash.to_string();
    let lie = call(&client, "eth_getBlockByHash", json!([other, true])).await.json();
    assert_eq!(lie["error"]["code"], -32603, "{lie}");

    let mut socket = Socket::open_at(server.url()).await;
    let heads = socket.subscribe(json!(["newHeads"])).await;
    write(&chain).extend(2);
    let told = socket.events(&heads, 2).await;
    let hashes: Vec<String> = [81, 82]
        .iter()
        .map(|number| read(&chain).block(*number).unwrap().hash.to_string())
        .collect();
    assert_eq!(
        told.iter().map(|head| &head["hash"]).collect::<Vec<_>>(),
        hashes.iter().collect::<Vec<_>>()
    );

    let status = client.get("/status").await.json();
    assert_eq!(status["chains"][SLUG]["ingest"], "off", "{status}");
    let counts = &status["gateway"]["methods"]["eth_getBlockByHash"];
    assert_eq!((&counts["node"], &counts["cache"]), (&json!(1), &json!(1)), "{status}");
    let chain = &status["chains"][SLUG];
    assert_eq!((&chain["blocks"], &chain["journal"]), (&json!(0), &json!(0)), "{status}");
}
