//! A backup beside a server that follows its chain at full speed: what is restored elsewhere is the store
//! at the moment that the manifest names, and goes on from there as if nothing had been.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use testkit::{SharedChain, SimConfig, SimNode, read, shared, write};

use crate::client::Client;
use crate::process::{KEY, Serve, run, run_well, text};
use crate::world::{CHAIN, Imported, SLUG, head};

fn args(command: &str, data: &Path, folder: &Path) -> Vec<String> {
    let words = [command, "--data", data.to_str().unwrap(), folder.to_str().unwrap()];
    words.map(str::to_owned).to_vec()
}

fn digest(data: &Path) -> String {
    let told = run_well(["digest", "--chain", CHAIN, "--data", data.to_str().unwrap()]);
    told.split_whitespace().next().unwrap().to_owned()
}

fn manifest(folder: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(folder.join("manifest.json")).unwrap()).unwrap()
}

/// New blocks and reorgs as fast as the server takes them in.
async fn load(chain: SharedChain, client: Client, stop: Arc<AtomicBool>) -> u64 {
    let mut rounds = 0u64;
    while !stop.load(Ordering::Relaxed) {
        if rounds % 5 == 4 {
            let depth = 1 + (rounds % 7) as usize;
            write(&chain).reorg(depth, depth + 1);
        } else {
            write(&chain).extend(2);
        }
        let address = format!("{:#x}", read(&chain).address_of("exchange").unwrap());
        // 503 until the first block is there.
        client.get(&format!("/api/v2.2/{address}?chain={CHAIN}&limit=5")).await;
        tokio::time::sleep(Duration::from_millis(15)).await;
        rounds += 1;
    }
    rounds
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_under_load_is_one_moment_and_goes_on_elsewhere() {
    let scratch = tempfile::tempdir().unwrap();
    let place = |name: &str| scratch.path().join(name);
    let chain = shared(SimConfig { txs_per_block: 5, wallets: 30, ..SimConfig::seeded(81) });
    write(&chain).extend(600);
    let node = SimNode::start(chain.clone()).await.unwrap();
    let serve = |name: &str| {
        let serve = Serve::of(&place(name)).rpc(CHAIN, &node.url()).set("rpc.poll_ms", "10");
        serve.set("ingest.senders", "all").start()
    };
    // Not a word is waited for: history fills while the first backup runs.
    let server = serve("data");
    let client = Client::new(server.url());
    let stop = Arc::new(AtomicBool::new(false));
    let loading = tokio::spawn(load(chain.clone(), Client::new(server.url()), stop.clone()));
    while client.status(SLUG).await["blocks"].as_u64().unwrap_or(0) < 20 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let mut seqs = Vec::new();
    for n in 0..4 {
        let (data, folder) = (place("data"), place(&format!("backup-{n}")));
        let asked = args("backup", &data, &folder);
        let told = tokio::task::spawn_blocking(move || run_well(asked)).await.unwrap();
        let manifest = manifest(&folder);
        let moment = &manifest["chains"][0];
        let line = told.lines().nth(1).unwrap();
        assert!(line.starts_with(&format!("{SLUG}: head {} ", moment["head_number"])), "{told}");
        assert!(line.ends_with(moment["digest"].as_str().unwrap()), "{told}");
        seqs.push(moment["journal_seq"].as_u64().unwrap());
    }
    stop.store(true, Ordering::Relaxed);
    assert!(loading.await.unwrap() > 10);
    assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]), "the server went on: {seqs:?}");
    for n in 0..4 {
        let (backup, data) = (place(&format!("backup-{n}")), place(&format!("restored-{n}")));
        run_well(args("restore", &data, &backup));
        assert_eq!(digest(&data), manifest(&backup)["chains"][0]["digest"].as_str().unwrap());
    }
    let (number, hash) = head(&chain);
    client.until_indexed(SLUG, number, &hash).await;
    let log = server.log();
    assert!(log.contains("old blocks were replaced") && log.contains("backup finished"), "{log}");
    assert!(!log.contains("ERROR") && !log.contains("panicked"), "{log}");
    assert!(server.terminate().success());
    // The oldest has the longest way to go.
    let restored = serve("restored-0");
    Client::new(restored.url()).until_indexed(SLUG, number, &hash).await;
    assert!(restored.terminate().success());
    assert_eq!(digest(&place("restored-0")), digest(&place("data")));
}

#[tokio::test(flavor = "multi_thread")]
async fn backups_are_made_with_and_without_a_server_and_refused_with_a_reason() {
    let world = Imported::new(12);
    let data = world.folder.path().join("data");
    let place = |name: &str| -> PathBuf { world.folder.path().join(name) };
    let fails = |args: Vec<String>| {
        let output = run(args);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        text(&output.stderr)
    };
    run_well(args("backup", &data, &place("by-server")));
    let again = fails(args("backup", &data, &place("by-server")));
    assert!(again.contains("by-server is not empty"), "{again}");
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&place("by-server")), 0o700);
    assert_eq!(mode(&place("by-server").join("meta.rows")), 0o600, "secrets are in it");
    // A key does not say where the server writes.
    let body = format!(r#"{{"folder":"{}"}}"#, place("by-key").display());
    let post = reqwest::Client::new().post(format!("{}/admin/v1/backup", world.server.url()));
    let post = post.header("x-api-key", KEY).header("content-type", "application/json");
    let refused = post.body(body).send().await.unwrap();
    assert_eq!(refused.status(), 400);
    let refused = refused.text().await.unwrap();
    assert!(refused.contains("headwater backup DIR"), "{refused}");
    let status = world.client.get_with("/admin/v1/backup", &[("x-api-key", KEY)]).await.json();
    assert_eq!(status["state"], "failed");
    assert!(status["error"].as_str().unwrap().contains("is not empty"), "{status}");

    assert!(world.server.terminate().success());
    run_well(args("backup", &data, &place("alone")));
    let chains = |name: &str| manifest(&place(name))["chains"].clone();
    assert_eq!(chains("alone"), chains("by-server"), "nothing was written between");
    let none = fails(args("backup", &place("nowhere"), &place("new")));
    assert!(none.contains("there is no data folder"), "{none}");

    let full = fails(args("restore", &data, &place("alone")));
    assert!(full.contains("data is not empty"), "{full}");
    run_well(args("restore", &place("copy"), &place("alone")));
    assert_eq!(digest(&place("copy")), digest(&data));
    let file = place("alone").join("txs.rows");
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let damaged = fails(args("restore", &place("other"), &place("alone")));
    assert!(damaged.contains("txs.rows is damaged"), "{damaged}");
    assert_eq!(std::fs::read_dir(place("other")).unwrap().count(), 0, "as it was before");
}
