//! `[chains.NAME] retain_blocks`, as a server's users and its operator meet it: after ten times as many blocks
//! it answers as one that never saw the others, and takes the room of those that it kept.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{SharedChain, SimConfig, SimNode, read, shared, write};

use crate::client::Client;
use crate::process::{Serve, Server, run_well};
use crate::world::{CHAIN, SLUG, head};

/// The least that may be asked for.
const KEEP: u64 = 128;
/// So many more may gather before they are dropped.
const SLACK: u64 = KEEP / 16;
const GROWN: u64 = 10 * KEEP;

struct World {
    chain: SharedChain,
    node: SimNode,
    folder: tempfile::TempDir,
}

impl World {
    fn data(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A server of its own on the same node.
    fn serve(&self, name: &str, settings: impl FnOnce(Serve) -> Serve) -> (Server, Client) {
        let serve = Serve::of(&self.data(name)).rpc(CHAIN, &self.node.url());
        let serve = serve.set("rpc.poll_ms", "20").set("ingest.senders", "all");
        let server = settings(serve).start();
        let client = Client::new(server.url());
        (server, client)
    }

    /// Waits until a server is at the head and its status is good, and gives what was made of that.
    async fn until<T>(&self, client: &Client, good: impl Fn(&Value) -> Option<T>) -> T {
        let (number, hash) = head(&self.chain);
        let started = Instant::now();
        loop {
            let status = client.status(SLUG).await;
            let found = good(&status).filter(|_| status["head"]["hash"] == hash);
            if let Some(found) = found {
                return found;
            }
            assert!(started.elapsed() < Duration::from_secs(120), "at {number}: {status}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn until_covered(&self, client: &Client, from: u64) {
        let coverage = format!("{from}-{}", head(&self.chain).0);
        self.until(client, |status| (status["coverage"] == coverage).then_some(())).await;
    }

    /// Waits until there is nothing more to drop, and gives the oldest block that is left.
    async fn until_pruned(&self, client: &Client) -> u64 {
        let number = head(&self.chain).0;
        let cut = number + 1 - KEEP;
        let oldest = |status: &Value| {
            let (from, to) = status["coverage"].as_str()?.split_once('-')?;
            let from: u64 = from.parse().ok()?;
            let is_left = to == number.to_string() && from <= cut && from + SLACK > cut;
            is_left.then_some(from)
        };
        self.until(client, oldest).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_ten_times_as_many_blocks_the_newest_are_answered_and_take_their_room() {
    let config = SimConfig { txs_per_block: 8, wallets: 40, ..SimConfig::seeded(71) };
    let chain = shared(config);
    write(&chain).extend(KEEP as usize);
    let node = SimNode::start(chain.clone()).await.unwrap();
    let world = World { chain, node, folder: tempfile::tempdir().unwrap() };
    let keep = KEEP.to_string();
    let retain = |serve: Serve| serve.set(&format!("chains.{CHAIN}.retain_blocks"), &keep);
    let (pruned_server, pruned) = world.serve("pruned", retain);
    let (whole_server, whole) = world.serve("whole", |serve| serve);
    let mut round = 0;
    while read(&world.chain).head_number() < GROWN {
        round += 1;
        if round % 6 == 5 {
            write(&world.chain).reorg(9, 12);
        } else {
            write(&world.chain).extend(24);
        }
        world.until(&pruned, |_| Some(())).await;
    }
    // Dropping takes several commits, and the first that is good enough may not be the last. A few blocks
    // more take one.
    world.until_pruned(&pruned).await;
    write(&world.chain).extend(SLACK as usize);
    let oldest = world.until_pruned(&pruned).await;
    let (number, _) = head(&world.chain);
    world.until_covered(&whole, 0).await;
    let (newcomer_server, newcomer) = world.serve("newcomer", |serve| {
        serve.set(&format!("chains.{CHAIN}.from_block"), &oldest.to_string())
    });
    world.until_covered(&newcomer, oldest).await;

    same_answers(&world, &pruned, &newcomer, oldest).await;
    totals_are_those_of_what_is_kept(&world, &pruned, &whole, oldest).await;
    let status = pruned.status(SLUG).await;
    assert_eq!(status["ingest"]["retain"]["retain_blocks"], KEEP, "{status}");
    let dropped = status["ingest"]["retain"]["blocks_pruned"].as_u64().unwrap();
    assert!(dropped >= GROWN - 2 * KEEP, "{status}");

    let serving = [folder_bytes(&world.data("pruned")), folder_bytes(&world.data("whole"))];
    for server in [pruned_server, whole_server, newcomer_server] {
        let ended = tokio::task::spawn_blocking(|| server.terminate()).await.unwrap();
        assert!(ended.success());
    }
    assert_eq!(digest(&world.data("pruned")), digest(&world.data("newcomer")));
    let checked = run_well(["check", "--data", world.data("pruned").to_str().unwrap()]);
    assert!(checked.ends_with("everything holds\n"), "{checked}");
    let compacted =
        [compacted_bytes(&world.data("pruned")).await, compacted_bytes(&world.data("whole")).await];
    eprintln!(
        "{number} blocks, {KEEP} kept: {} bytes of {} on disk while serving, {} of {} in tables when compacted",
        serving[0], serving[1], compacted[0], compacted[1]
    );
    assert!(compacted[0] * 5 < compacted[1], "{compacted:?}");
}

/// Every wallet, page by page, with and without internal transactions, and blocks by JSON-RPC.
async fn same_answers(world: &World, pruned: &Client, newcomer: &Client, oldest: u64) {
    let wallets = read(&world.chain).expected_wallets();
    let mut rows = 0;
    for (address, wallet) in &wallets {
        let expected = |internal: bool| {
            let all = if internal { wallet.all() } else { wallet.direct.clone() };
            let kept = all.into_iter().filter(|row| row.block_number >= oldest);
            kept.map(|row| format!("{:#x}", row.hash)).collect::<Vec<_>>()
        };
        for (include, expected) in
            [("", expected(false)), ("&include=internal_transactions", expected(true))]
        {
            let address = format!("{address:#x}");
            let query = format!("chain={CHAIN}{include}");
            // This also holds the total against the rows.
            let found = pruned.whole_wallet(&address, &query, 100).await;
            let hashes: Vec<_> = found.iter().map(|row| row.hash.clone()).collect();
            assert_eq!(hashes, expected, "{address} {query}");
            rows += hashes.len();
            for query in [query.clone(), format!("{query}&from_block={}", oldest + 5)] {
                same_page(pruned, newcomer, &format!("/api/v2.2/{address}?{query}&limit=50")).await;
            }
        }
    }
    assert!(rows as u64 > KEEP, "{rows} rows are too few to prove anything");
    for number in [oldest, oldest + KEEP / 2, oldest + KEEP - 1] {
        let params = json!([format!("{number:#x}"), true]);
        let ours = pruned.rpc(CHAIN, "eth_getBlockByNumber", params.clone()).await;
        assert_eq!(ours, newcomer.rpc(CHAIN, "eth_getBlockByNumber", params).await);
        let status = |client: Client| async move {
            client.get(&format!("/status/{CHAIN}/blocks/{number}")).await.status
        };
        assert_eq!((status(pruned.clone()).await, status(newcomer.clone()).await), (200, 200));
    }
    let gone = pruned.get(&format!("/status/{CHAIN}/blocks/{}", oldest - 1)).await;
    assert_eq!(gone.status, 404, "{}", gone.body);
}

/// The same body, but for the cursor, which every server signs with its own secret, and the same words about
/// what is stored.
async fn same_page(pruned: &Client, newcomer: &Client, path: &str) {
    let (ours, theirs) = (pruned.get(path).await, newcomer.get(path).await);
    assert_eq!((ours.status, theirs.status), (200, 200), "{path}: {}", ours.body);
    let without_cursor = |mut body: Value| {
        let cursor = body.as_object_mut().unwrap().remove("cursor");
        (cursor.is_some_and(|cursor| cursor.is_string() && cursor != ""), body)
    };
    assert_eq!(without_cursor(ours.json()), without_cursor(theirs.json()), "{path}");
    for name in ["x-indexed-blocks", "x-coverage", "x-traces"] {
        assert_eq!(ours.header(name), theirs.header(name), "{path}: {name}");
    }
}

async fn totals_are_those_of_what_is_kept(
    world: &World,
    pruned: &Client,
    whole: &Client,
    oldest: u64,
) {
    let (number, _) = head(&world.chain);
    let exchange = format!("{:#x}", read(&world.chain).address_of("exchange").unwrap());
    let path = format!("/api/v2.2/{exchange}?chain={CHAIN}");
    for (query, is_partial) in [
        (String::new(), true),
        (format!("&from_block={oldest}"), false),
        (format!("&from_block={}", oldest - 1), true),
    ] {
        let answer = pruned.get(&format!("{path}{query}")).await;
        let stored = format!("{oldest}-{number}");
        assert_eq!(answer.header("x-indexed-blocks"), Some(stored.as_str()), "{query}");
        assert_eq!(answer.header("x-coverage"), is_partial.then_some("partial"), "{query}");
        // The server that has all of it counts the same for the same blocks.
        let of_all = whole.get(&format!("{path}&from_block={oldest}")).await.page();
        assert_eq!(answer.page().total, of_all.total, "{query}");
    }
    let everything = whole.get(&path).await;
    assert_eq!(everything.header("x-coverage"), None);
    assert!(everything.page().total > pruned.get(&path).await.page().total);
}

/// All files with the log, which has what was written of late, whatever became of it.
fn folder_bytes(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let bytes = entries.map(|entry| match entry.metadata() {
        Ok(it) if it.is_dir() => folder_bytes(&entry.path()),
        // Merged into another meanwhile where there is none.
        it => it.map_or(0, |it| it.blocks() * 512),
    });
    bytes.sum()
}

/// Without the log.
async fn compacted_bytes(data: &Path) -> u64 {
    let store = store::Store::open(&store::Options::new(data), |_| ()).await.unwrap();
    store.compact().await.unwrap();
    store.table_sizes().await.iter().map(|table| table.disk_bytes).sum()
}

fn digest(data: &Path) -> String {
    let told = run_well(["digest", "--chain", CHAIN, "--data", data.to_str().unwrap()]);
    told.split_whitespace().next().unwrap().to_owned()
}
