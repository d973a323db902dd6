//! A damaged data folder, as its operator meets it: what is said, and what `check` and `repair` do.

use std::path::{Path, PathBuf};

use testkit::{SharedChain, SimConfig, SimNode, shared, write};

use crate::client::Client;
use crate::process::{Serve, import, run, run_well, text};
use crate::records::{self, Traces};
use crate::world::{CHAIN, SLUG, head};

fn log_of(data: &Path) -> PathBuf {
    let entries = std::fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|it| it == "jnl")).max().unwrap()
}

#[test]
fn a_damaged_log_is_named_and_repaired_and_after_a_clean_stop_nothing_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let at = data.to_str().unwrap();
    let chain = records::chain(8);
    import(&data, CHAIN, &[records::write(folder.path(), &chain, 0..=8, Traces::Geth)]);
    let good = run_well(["check", "--data", at]);
    assert!(good.ends_with("everything holds\n"), "{good}");
    assert!(good.contains("transactions of wallets"), "{good}");
    let digest = run_well(["digest", "--chain", CHAIN, "--data", at]);
    assert!(run_well(["repair", "--data", at]).starts_with("nothing had to be repaired"));
    assert_eq!(run_well(["digest", "--chain", CHAIN, "--data", at]), digest);

    let (log, bytes) = damage_log(&data);
    for command in ["check", "digest", "serve", "keys"] {
        let args: &[&str] = match command {
            "digest" => &["digest", "--chain", CHAIN, "--data", at],
            "keys" => &["keys", "list", "--data", at],
            other => &[other, "--data", at],
        };
        let output = run(args);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command}: {told}");
        assert!(told.contains(log.to_str().unwrap()), "{command}: {told}");
        assert!(told.contains("headwater repair"), "{command}: {told}");
    }
    assert_eq!(std::fs::read(&log).unwrap(), bytes, "nothing was changed");

    let repaired = run_well(["repair", "--data", at]);
    assert!(repaired.contains("is broken at byte"), "{repaired}");
    assert!(repaired.contains("kept as ") && repaired.contains(".jnl.damaged"), "{repaired}");
    assert!(repaired.contains("no block is lost"), "{repaired}");
    assert!(repaired.ends_with("everything holds\n"), "{repaired}");
    assert_eq!(run_well(["digest", "--chain", CHAIN, "--data", at]), digest);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_lost_bytes_after_a_kill_is_repaired_with_a_list_of_what_is_gone() {
    let chain = shared(SimConfig { txs_per_block: 4, ..SimConfig::seeded(61) });
    write(&chain).extend(8);
    let node = SimNode::start(chain.clone()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let at = data.to_str().unwrap();
    fill_and_kill(&data, &node, &chain).await;
    let digest = run_well(["digest", "--chain", CHAIN, "--data", at]);

    damage_log(&data);
    let repaired = run_well(["repair", "--data", at]);
    assert!(repaired.contains("the newest block was 8, and is "), "{repaired}");
    assert!(repaired.ends_with("everything holds\n"), "{repaired}");
    run_well(["check", "--data", at]);
    assert_ne!(run_well(["digest", "--chain", CHAIN, "--data", at]), digest);
    // What is missing comes again.
    fill_and_kill(&data, &node, &chain).await;
    assert_eq!(run_well(["digest", "--chain", CHAIN, "--data", at]), digest);
}

async fn fill_and_kill(data: &Path, node: &SimNode, chain: &SharedChain) {
    // So that a block's proof does not tell which way it came in.
    let server = Serve::of(data).rpc(CHAIN, &node.url()).set("ingest.senders", "all").start();
    let (number, hash) = head(chain);
    Client::new(server.url()).until_indexed(SLUG, number, &hash).await;
    server.kill_nine();
}

/// One bit of a length in the middle: the engine alone would take it for the end.
fn damage_log(data: &Path) -> (PathBuf, Vec<u8>) {
    let log = log_of(data);
    let mut bytes = std::fs::read(&log).unwrap();
    let middle = bytes.iter().rposition(|byte| *byte != 0).unwrap() / 2;
    bytes[middle] ^= 0x40;
    std::fs::write(&log, &bytes).unwrap();
    (log, bytes)
}

#[test]
fn commands_that_only_look_make_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("mistyped");
    let at = data.to_str().unwrap();
    let commands: [&[&str]; 5] = [
        &["digest", "--chain", CHAIN, "--data", at],
        &["check", "--data", at],
        &["repair", "--data", at],
        &["keys", "list", "--data", at],
        &["redecode", "--data", at],
    ];
    for args in commands {
        let output = run(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(text(&output.stderr).contains(at), "{args:?}: {}", text(&output.stderr));
        assert!(!data.exists(), "{args:?}");
    }
}
