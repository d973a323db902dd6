//! The same on a real client: anvil gives proofs. Its genesis has another state root than it says, so audits
//! begin with block 2.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use alloy_primitives::{Address, U256, hex};
use ingest::audit::{Auditor, Verdict, accounts, explained, judge, proven_balance};
use ingest::import::import;
use model::chain::{Chain, ChainId, ChainTable, PrivateChain, Verification};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rpc::{Call, Fetch, Lane, Needs, Pool, PoolConfig, PoolOptions, UpstreamConfig};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use crate::changed_transfers::changed_transfers;
use crate::setup::{eventually_gives, open, scratch};

const CHAIN: ChainId = ChainId(31337);
/// Makes the contract below: for each pair of words in its input, value and all to the first, as the second says.
const SPLITTER: [u8; 47] = hex!(
    "602480600b6000396000f3"
    "60005b803611156022576000600060006000846020013585355af150604001600256"
    "5b00"
);
const TRANSACTIONS: usize = 40;

/// Ends with the test.
struct Anvil(Child);

impl Drop for Anvil {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn binary() -> Option<PathBuf> {
    let packaged = "../../tests/clients/node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil";
    let packaged = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(packaged);
    let named = std::env::var_os("ANVIL").map(PathBuf::from);
    let found = named.into_iter().chain([packaged]).find(|path| path.is_file());
    if found.is_none() {
        eprintln!("SKIPPED: anvil not found (npm ci in tests/clients, or set ANVIL to the binary)");
    }
    found
}

fn chain() -> Arc<Chain> {
    let mut private = PrivateChain::new(CHAIN, "anvil");
    private.verification = Some(Verification::Full);
    let table = ChainTable::default().with_private(private).unwrap();
    Arc::new(table.get(CHAIN).unwrap().clone())
}

async fn start(binary: PathBuf) -> (Anvil, Arc<Pool>) {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let child = Command::new(binary)
        .args(["--host", "127.0.0.1", "--port", &port.to_string(), "--quiet"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let anvil = Anvil(child);
    let listening = async || {
        let tried = tokio::net::TcpStream::connect(("127.0.0.1", port)).await;
        tried.map(|_| ()).map_err(|error| error.to_string())
    };
    eventually_gives("anvil listens", listening).await;
    let pool = Pool::start(PoolOptions {
        chain_id: CHAIN.0,
        chain_label: "anvil".into(),
        upstreams: vec![UpstreamConfig::from_url(format!("http://127.0.0.1:{port}"))],
        config: PoolConfig::default(),
        poll_interval: Duration::from_secs(3600),
    });
    (anvil, pool.unwrap())
}

async fn ask(pool: &Pool, method: &'static str, params: Value) -> Value {
    let calls = vec![Call::new(method, to_raw_value(&params).unwrap())];
    let fetch = Fetch { calls, not: &[], needs: Needs::default(), lane: Lane::History };
    let answer = pool.fetch(fetch).await.unwrap().answers.remove(0);
    answer.unwrap_or_else(|failure| panic!("{method}: {failure}")).parse::<Value>().unwrap()
}

/// Sends one transaction, which is a block.
async fn send(pool: &Pool, fields: Value) -> Value {
    let hash = ask(pool, "eth_sendTransaction", json!([fields])).await;
    let mined = async || {
        let receipt = ask(pool, "eth_getTransactionReceipt", json!([hash])).await;
        if receipt.is_null() { Err("no receipt".to_owned()) } else { Ok(receipt) }
    };
    eventually_gives("the transaction is mined", mined).await
}

fn word(value: U256) -> String {
    hex::encode(value.to_be_bytes::<32>())
}

/// Random transfers inside: to strangers, to accounts that send themselves, to contracts, of nothing, and more
/// than there is.
async fn play(pool: &Pool, seed: u64) {
    let mut rng = StdRng::seed_from_u64(seed);
    let senders: Vec<Address> =
        serde_json::from_value::<Vec<String>>(ask(pool, "eth_accounts", json!([])).await)
            .unwrap()
            .iter()
            .map(|text| text.parse().unwrap())
            .collect();
    let mut contracts: Vec<Address> = Vec::new();
    for n in 0..TRANSACTIONS {
        let from = senders[rng.random_range(0..senders.len())];
        if n < 2 || rng.random_bool(0.05) {
            let data = hex::encode_prefixed(SPLITTER);
            let fields = json!({ "from": from.to_string(), "data": data, "gas": "0x100000" });
            let receipt = send(pool, fields).await;
            contracts.push(receipt["contractAddress"].as_str().unwrap().parse().unwrap());
            continue;
        }
        let value = U256::from(rng.random_range(1_000u64..1_000_000_000_000));
        let mut data = String::from("0x");
        for _ in 0..rng.random_range(1..6) {
            let to = match rng.random_range(0..4) {
                0 => senders[rng.random_range(0..senders.len())],
                1 => contracts[rng.random_range(0..contracts.len())],
                2 => Address::from(rng.random::<[u8; 20]>()),
                _ => Address::repeat_byte(rng.random_range(0x20..0x24)),
            };
            // The last ones may find nothing left, and fail.
            let part = value / U256::from(rng.random_range(1u64..6));
            let part = if rng.random_bool(0.2) { U256::ZERO } else { part };
            data += &word(to.into_word().into());
            data += &word(part);
        }
        let to = contracts[rng.random_range(0..contracts.len())];
        let fields = json!({
            "from": from.to_string(), "to": to.to_string(), "value": format!("{value:#x}"), "data": data,
            "gas": "0x200000",
        });
        send(pool, fields).await;
    }
}

#[tokio::test]
async fn blocks_of_anvil_hold_and_changed_transfers_are_found() {
    let Some(binary) = binary() else { return };
    let (_anvil, pool) = start(binary).await;
    play(&pool, 12).await;
    let (dir, chain) = (scratch(), chain());
    let path = dir.path().join("anvil.jsonl");
    let mut file = std::fs::File::create(&path).unwrap();
    for number in 1..=TRANSACTIONS {
        let at = format!("{number:#x}");
        let mut block = ask(&pool, "eth_getBlockByNumber", json!([at, true])).await;
        // It counts a byte less than the block has.
        block.as_object_mut().unwrap().remove("size");
        let record = json!({
            "block": block,
            "receipts": ask(&pool, "eth_getBlockReceipts", json!([at])).await,
            "traces": ask(&pool, "trace_block", json!([at])).await,
        });
        writeln!(file, "{record}").unwrap();
    }
    let store = open(&dir).await;
    let summary = import(&store, &chain, &[path], &|_| {}).await.unwrap();
    assert!(summary.refused.is_empty(), "{:?}", summary.refused);
    assert_eq!((summary.blocks, summary.untraced), (TRANSACTIONS as u64, 0));
    let auditor = Auditor::new(store.clone(), pool.clone(), chain.clone(), Duration::from_secs(20));
    let (mut proven, mut found) = (0, 0);
    for number in 2..=TRANSACTIONS as u64 {
        let audit = auditor.audit(number, None).await.unwrap();
        assert_eq!(audit.skipped, None);
        for account in &audit.audits {
            assert_eq!(account.verdict, Verdict::Proven, "{number}: {account:?}");
        }
        proven += audit.audits.len();
        found += changed(&store, &pool, &chain, number).await;
    }
    println!("{proven} pairs of account and block are proven on anvil, {found} changes found");
    assert!(proven > 150 && found > 200, "{proven} {found}");
}

/// Every change of one transfer in the block, by the balances of both.
async fn changed(store: &store::Store, pool: &Pool, chain: &Chain, number: u64) -> usize {
    let view = store.view().await.unwrap();
    let (block, _) = view.whole_block(CHAIN, number).await.unwrap().unwrap();
    let parent = view.block(CHAIN, number - 1).await.unwrap().unwrap();
    let roots = [parent.header.state_root.unwrap(), block.header.state_root.unwrap()];
    let mut balances = std::collections::HashMap::new();
    let mut all = accounts(&block);
    all.insert(Address::repeat_byte(0x5a));
    for account in all {
        let mut pair = [U256::ZERO; 2];
        for (i, at) in [number - 1, number].into_iter().enumerate() {
            let params = json!([account.to_string(), [], format!("{at:#x}")]);
            let answer = ask(pool, "eth_getProof", params).await.to_string();
            pair[i] = proven_balance(answer.as_bytes(), account, roots[i]).unwrap();
        }
        balances.insert(account, pair);
    }
    let mut found = 0;
    for changed in changed_transfers(&block) {
        for account in changed.accounts {
            let [before, after] = balances[&account];
            let explained = explained(&changed.block, account, chain).unwrap();
            let verdict = judge(before, after, explained);
            assert!(matches!(verdict, Verdict::Mismatch(_)), "{number}: {}", changed.what);
            found += 1;
        }
    }
    found
}
