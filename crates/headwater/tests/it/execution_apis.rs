//! The conformance suite of ethereum/execution-apis, answered from the store without a node: its chain is imported from
//! `chain.rlp` and `genesis.json`, which hold blocks and transactions and no receipts.
//!
//! `cargo test -p headwater --test it execution_apis -- --nocapture` prints the score.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use testkit::fixtures::{fixtures_dir, skip};

use crate::client::Client;
use crate::process::{Serve, import};

const ID: &str = "3503995874084926";
const CHAIN: &str = "chain-3503995874084926";

/// Methods that blocks and transactions alone can answer.
const METHODS: [&str; 13] = [
    "debug_getRawBlock",
    "debug_getRawHeader",
    "debug_getRawTransaction",
    "eth_blockNumber",
    "eth_chainId",
    "eth_getBlockByHash",
    "eth_getBlockByNumber",
    "eth_getBlockTransactionCountByHash",
    "eth_getBlockTransactionCountByNumber",
    "eth_getTransactionByBlockHashAndIndex",
    "eth_getTransactionByBlockNumberAndIndex",
    "eth_getTransactionByHash",
    "net_version",
];
/// What was final when the suite was made was said by another program, no block tells it; and the body of this block has
/// an uncle's header, of which a block as nodes tell it has the hash alone.
const SAID_ELSEWHERE: [&str; 3] = [
    "eth_getBlockByNumber/get-finalized.io",
    "eth_getBlockByNumber/get-safe.io",
    "debug_getRawBlock/get-block-n.io",
];
/// These need receipts, of which the files have none: to be told so, not an empty answer.
const NEED_RECEIPTS: [&str; 4] =
    ["debug_getRawReceipts", "eth_getTransactionReceipt", "eth_getBlockReceipts", "eth_getLogs"];

struct RoundTrip {
    request: String,
    response: Value,
    is_only_of_form: bool,
}

fn round_trips(path: &Path) -> Vec<RoundTrip> {
    let text = std::fs::read_to_string(path).unwrap();
    let is_only_of_form = text.lines().any(|line| line.starts_with("// speconly:"));
    let said = |mark: &str| -> Vec<String> {
        text.lines().filter_map(|line| line.strip_prefix(mark)).map(str::to_owned).collect()
    };
    let responses = said("<< ").into_iter().map(|line| serde_json::from_str(&line).unwrap());
    said(">> ")
        .into_iter()
        .zip(responses)
        .map(|(request, response)| RoundTrip { request, response, is_only_of_form })
        .collect()
}

fn files_of(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    files
}

#[tokio::test]
async fn execution_apis_are_answered_from_an_imported_chain_without_a_node() {
    let Some(suite) = fixtures_dir().map(|dir| dir.join("rpc/execution-apis/tests")) else {
        return skip("the conformance suite of execution-apis");
    };
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let files = [suite.join("genesis.json"), suite.join("chain.rlp")];
    let summary = import(&data, ID, &files);
    assert!(summary.contains("imported 55 blocks with 249 transactions"), "{summary}");
    assert!(summary.contains("0 refused"), "{summary}");
    let server = Serve::of(&data).set(&format!("chains.{ID}.from_block"), "0").start();
    let client = Client::new(server.url());
    let mut score = BTreeMap::<&str, (u32, u32)>::new();
    let mut wrong = Vec::new();
    for method in METHODS {
        for path in files_of(&suite.join(method)) {
            let name = path.file_name().unwrap().to_str().unwrap();
            if SAID_ELSEWHERE.contains(&format!("{method}/{name}").as_str()) {
                continue;
            }
            for trip in round_trips(&path) {
                let answer = client.rpc_text(CHAIN, trip.request.clone()).await.json();
                // What is wrong is said in words of our own.
                let expected_code = trip.response["error"]["code"].as_i64();
                let same = trip.is_only_of_form && answer.get("result").is_some()
                    || expected_code.is_some_and(|code| answer["error"]["code"] == code)
                    || answer == trip.response;
                let (right, all) = score.entry(method).or_default();
                *all += 1;
                *right += u32::from(same);
                if !same {
                    wrong.push(format!("{method}/{name}: {answer}\n  expected {}", trip.response));
                }
            }
        }
    }
    let (right, all) = score.values().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    println!("execution-apis from the store, without a node: {right} of {all} {score:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(all >= 36, "{all}");
    for method in NEED_RECEIPTS {
        for path in files_of(&suite.join(method)) {
            for trip in round_trips(&path) {
                let answer = client.rpc_text(CHAIN, trip.request.clone()).await.json();
                let is_known = trip.response.get("error").is_some()
                    || trip.response["result"].is_null()
                    || trip.response["result"] == Value::Array(Vec::new());
                if is_known {
                    let expected = trip.response["error"]["code"].clone();
                    assert_eq!(answer["error"]["code"], expected, "{}: {answer}", path.display());
                } else {
                    assert_eq!(answer["error"]["code"], -32002, "{}: {answer}", path.display());
                }
            }
        }
    }
}
