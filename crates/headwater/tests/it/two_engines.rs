//! The same blocks in a data folder and in PostgreSQL: the same answers, byte for byte, the same digest, and a copy
//! from one to the other.

use std::path::Path;

use serde_json::{Value, json};
use testkit::SimConfig;

use crate::client::Client;
use crate::postgres_process::PostgresProcess;
use crate::process::{Serve, run, run_well, text};
use crate::records::{self, Traces};
use crate::simulated::{self, everything_is_answered};
use crate::world::{CHAIN, Live, private};

const BLOCKS: usize = 40;

/// A configuration file whose store is that database, and whose files are in `data`.
fn config(folder: &Path, name: &str, url: &str) -> String {
    let (file, data) = (folder.join(format!("{name}.toml")), folder.join(name));
    let path = data.display();
    std::fs::write(&file, format!("[store]\npath = \"{path}\"\nurl = \"{url}\"\n")).unwrap();
    file.display().to_string()
}

async fn called(client: &Client, method: &str, params: &Value) -> String {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let answer = client.rpc_text(CHAIN, body.to_string()).await;
    assert!(answer.body.contains("\"result\""), "{method} {params}: {}", answer.body);
    answer.body
}

/// A cursor is signed with a secret of the installation that gave it.
pub fn without_cursor(body: &str) -> Value {
    let mut body: Value = serde_json::from_str(body).unwrap();
    body["cursor"] = Value::Null;
    body
}

#[tokio::test(flavor = "multi_thread")]
async fn both_engines_answer_alike_and_a_copy_has_the_same_digest() {
    let Some(postgres) = PostgresProcess::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let chain = records::chain(BLOCKS);
    let file = records::write(folder.path(), &chain, 0..=BLOCKS as u64, Traces::Parity);
    let (plain, database) = (
        config(folder.path(), "plain", ""),
        config(folder.path(), "database", &postgres.url("postgres")),
    );
    run_well(["migrate", "--config", &database]);
    for config in [&plain, &database] {
        let file = file.to_str().unwrap();
        run_well(["import", "--config", config, "--chain", CHAIN, file]);
    }
    let digest = |config: &str| run_well(["digest", "--config", config, "--chain", CHAIN]);
    assert_eq!(digest(&plain), digest(&database));
    let checked = run_well(["check", "--config", &database]);
    assert!(checked.contains("everything holds"), "{checked}");
    let servers = [&plain, &database].map(|config| {
        let data = Path::new(config).with_extension("");
        private(Serve::of(&data)).arg("--config").arg(config).start()
    });
    let [one, other] = [&servers[0], &servers[1]].map(|server| Client::new(server.url()));
    let wallets = ["exchange", "router"].map(|name| chain.address_of(name));
    for wallet in wallets.into_iter().flatten() {
        for query in ["limit=7", "limit=100&order=ASC&include=internal_transactions"] {
            let path = format!("/api/v2.2/{wallet:#x}?chain={CHAIN}&{query}");
            let (here, there) = (one.get(&path).await, other.get(&path).await);
            assert_eq!((here.status, there.status), (200, 200), "{} {}", here.body, there.body);
            assert_eq!(without_cursor(&here.body), without_cursor(&there.body), "{path}");
        }
    }
    for number in 0..=BLOCKS {
        let number = format!("{number:#x}");
        for (method, params) in [
            ("eth_getBlockByNumber", json!([number, true])),
            ("eth_getBlockReceipts", json!([number])),
            ("debug_getRawBlock", json!([number])),
            ("debug_getRawReceipts", json!([number])),
            ("eth_getLogs", json!([{ "fromBlock": number, "toBlock": number }])),
        ] {
            let here = called(&one, method, &params).await;
            assert_eq!(here, called(&other, method, &params).await, "{method}");
        }
    }
    for server in servers {
        assert!(server.terminate().success());
    }
    let log = std::fs::read_to_string(postgres.folder().join("server.log")).unwrap();
    assert!(!log.contains("ERROR"), "a statement was refused: {log}");
    // Back into a folder of its own.
    let copy = folder.path().join("copy").display().to_string();
    let copied = run_well(["copy", "--from", &postgres.url("postgres"), "--to", &copy]);
    let hash = digest(&plain);
    let hash = hash.split(' ').next().unwrap();
    assert!(copied.contains(hash), "{copied}");
    let refused = run(["migrate", "--data", &copy]);
    assert!(text(&refused.stderr).contains("store.url is empty"), "{}", text(&refused.stderr));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_simulated_chain_is_answered_from_postgres_to_the_last_wallet_wei_and_field() {
    let Some(postgres) = PostgresProcess::start() else { return };
    let config = SimConfig { txs_per_block: 10, wallets: 40, ..SimConfig::seeded(21) };
    let url = postgres.url("postgres");
    let live = Live::start(config, simulated::BLOCKS, |serve| serve.set("store.url", &url)).await;
    everything_is_answered(&live).await;
}
