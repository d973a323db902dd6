//! Stored blocks decoded again: by the command, by a server at its start, by a server that is asked; with
//! kills and reorgs on the way. The digest is always that of a store that these decoders filled.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::Value;
use testkit::{SimConfig, SimNode, shared, write};

use crate::client::Client;
use crate::handmade;
use crate::process::{Serve, run, run_killed, run_well, text};
use crate::world::{CHAIN, SLUG, head, private};

/// Two ways to decode the same chain: knowing nothing of it, and knowing mainnet's contracts.
struct Place {
    folder: tempfile::TempDir,
    knowing: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let knowing = folder.path().join("knowing.toml");
        std::fs::write(&knowing, format!("[chains.{CHAIN}]\ncontracts_of = \"eth\"\n")).unwrap();
        Place { folder, knowing }
    }

    fn data(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A command on a data folder, knowing or not.
    fn args(&self, command: &str, data: &Path, knows: bool, more: &[&str]) -> Vec<String> {
        let mut args = vec![command.to_owned(), "--data".into(), data.to_str().unwrap().into()];
        if knows {
            args.extend(["--config".into(), self.knowing.to_str().unwrap().into()]);
        }
        args.extend(more.iter().map(|arg| (*arg).to_owned()));
        args
    }

    fn imported(&self, name: &str, file: &Path, knows: bool) -> PathBuf {
        let data = self.data(name);
        let more = ["--chain", CHAIN, file.to_str().unwrap()];
        run_well(self.args("import", &data, knows, &more));
        data
    }

    fn redecode(&self, data: &Path, knows: bool, more: &[&str]) -> String {
        let more = [&["--chain", CHAIN], more].concat();
        run_well(self.args("redecode", data, knows, &more))
    }

    fn serve(&self, data: &Path, knows: bool) -> Serve {
        let serve = private(Serve::of(data)).set("log.filter", "info");
        if knows { serve.arg("--config").arg(&self.knowing) } else { serve }
    }
}

fn digest(data: &Path) -> String {
    run_well(["digest", "--chain", CHAIN, "--data", data.to_str().unwrap()])
}

async fn until_current(client: &Client) -> Value {
    let started = Instant::now();
    loop {
        let status = client.status(SLUG).await["redecode"].take();
        if status["state"] == "current" {
            return status;
        }
        assert!(started.elapsed() < Duration::from_secs(90), "{status}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[test]
fn the_command_reads_blocks_anew_and_says_what_it_did() {
    let place = Place::new();
    let file = handmade::write(place.folder.path(), 200);
    let data = place.imported("data", &file, false);
    let (ignorant, knowing) = (digest(&data), digest(&place.imported("known", &file, true)));
    assert_ne!(ignorant, knowing, "the test's blocks hold sales");

    let told = place.redecode(&data, false, &[]);
    let nothing = format!("{SLUG}: nothing to do: all blocks are decoded by these decoders\n");
    assert_eq!(told, nothing);
    let told = place.redecode(&data, true, &[]);
    assert!(told.starts_with(&format!("{SLUG}: 201 blocks decoded again in ")), "{told}");
    assert_eq!(digest(&data), knowing);
    assert_eq!(place.redecode(&data, true, &[]), nothing);
    let told = place.redecode(&data, true, &["--force"]);
    assert!(told.contains("201 blocks decoded again"), "{told}");
    assert_eq!(digest(&data), knowing);
    // And back: without what is known of the chain, its sales are nobody's again.
    place.redecode(&data, false, &[]);
    assert_eq!(digest(&data), ignorant);
    // Without --chain, all that the configuration knows of; here all that there is.
    let told = run_well(place.args("redecode", &data, true, &[]));
    assert!(told.contains("201 blocks decoded again"), "{told}");
    assert_eq!(digest(&data), knowing);
}

#[test]
fn chains_and_folders_that_hold_nothing_are_told_apart() {
    let place = Place::new();
    let data = place.data("data");
    let missing = run(place.args("redecode", &data, false, &[]));
    assert_eq!(missing.status.code(), Some(1), "no folder is made");
    run_well(["keys", "create", "--data", data.to_str().unwrap()]);
    let told = run_well(place.args("redecode", &data, false, &[]));
    assert_eq!(told, format!("{} holds no blocks\n", data.display()));
    let told = run_well(place.args("redecode", &data, false, &["--chain", "eth"]));
    assert_eq!(told, "eth: no blocks are stored\n");
    let unknown = run(place.args("redecode", &data, false, &["--chain", "nowhere"]));
    assert_eq!(unknown.status.code(), Some(1));
    assert!(text(&unknown.stderr).contains("chain 'nowhere' is not built in"));
    // What is known of a private chain may stand in a configuration that was not given.
    let file = handmade::write(place.folder.path(), 3);
    let data = place.imported("private", &file, true);
    let before = digest(&data);
    let unnamed = run(place.args("redecode", &data, false, &[]));
    assert_eq!(unnamed.status.code(), Some(1));
    assert!(text(&unnamed.stderr).contains("chain 1337 is not built in; name it with --chain"));
    assert_eq!(digest(&data), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_held_by_something_else_is_named() {
    let place = Place::new();
    let data = place.imported("data", &handmade::write(place.folder.path(), 2), false);
    // No server: nobody listens in the folder.
    let _held = store::Store::open(&store::Options::new(&data), |_| {}).await.unwrap();
    let output = run(place.args("redecode", &data, true, &[]));
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(told.contains("is in use by another headwater process"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_reads_anew_at_its_start_or_when_asked() {
    let place = Place::new();
    let file = handmade::write(place.folder.path(), 400);
    let data = place.imported("data", &file, false);
    let knowing = digest(&place.imported("known", &file, true));

    let server = place.serve(&data, true).set("ingest.redecode", "off").start();
    let client = Client::new(server.url());
    assert_eq!(client.status(SLUG).await["redecode"]["state"], "outdated");
    let other = run(place.args("redecode", &data, false, &["--chain", CHAIN]));
    assert_eq!(other.status.code(), Some(1));
    let told = text(&other.stderr);
    assert!(told.contains("of another version or configuration where chain-1337"), "{told}");
    let stranger = run(place.args("redecode", &data, true, &["--chain", "polygon"]));
    assert!(text(&stranger.stderr).contains("does not decode chain 137"), "{stranger:?}");
    assert_eq!(client.status(SLUG).await["redecode"]["state"], "outdated");
    let told = place.redecode(&data, true, &[]);
    assert_eq!(told, format!("{SLUG}: 401 blocks decoded again\n"));
    let status = until_current(&client).await;
    assert_eq!((&status["blocks_done"], &status["blocks_total"]), (&401.into(), &401.into()));
    assert!(place.redecode(&data, true, &[]).contains("nothing to do"));
    let told = run_well(place.args("redecode", &data, true, &["--force"]));
    assert!(told.contains("401 blocks decoded again"), "{told}");
    let log = server.log();
    assert!(log.contains("were decoded by other decoders") && !log.contains("ERROR"), "{log}");
    assert!(server.terminate().success());
    assert_eq!(digest(&data), knowing);

    // Back, by itself.
    let server = place.serve(&data, false).start();
    until_current(&Client::new(server.url())).await;
    assert!(server.terminate().success());
    assert_ne!(digest(&data), knowing);
}

#[tokio::test(flavor = "multi_thread")]
async fn kills_on_the_way_cost_nothing_but_time() {
    let place = Place::new();
    let file = handmade::write(place.folder.path(), 4_000);
    let data = place.imported("data", &file, false);
    let knowing = digest(&place.imported("known", &file, true));
    let mut rng = StdRng::seed_from_u64(7);
    let (mut running, mut commands, mut reached) = (0, 0, 0);
    for life in 0..24 {
        let life_ms = rng.random_range(1..350);
        if life % 3 == 0 {
            let args = place.args("redecode", &data, true, &["--chain", CHAIN]);
            let ended = run_killed(args, Duration::from_millis(life_ms));
            commands += usize::from(ended.is_none());
            continue;
        }
        let server = place.serve(&data, true).start();
        let client = Client::new(server.url());
        tokio::time::sleep(Duration::from_millis(life_ms)).await;
        let status = client.status(SLUG).await["redecode"].take();
        if status["state"] == "running" {
            running += 1;
            let done = status["blocks_done"].as_u64().unwrap();
            assert!(done >= reached || done == 0, "goes on where it was: {reached} {status}");
            reached = reached.max(done);
        }
        server.kill_nine();
        if status["state"] == "current" {
            break;
        }
    }
    eprintln!("killed {running} servers and {commands} commands on the way, up to block {reached}");
    assert!(running > 1 && commands > 0, "kills must hit the work: {running} {commands}");
    let server = place.serve(&data, true).start();
    until_current(&Client::new(server.url())).await;
    assert!(server.terminate().success());
    assert_eq!(digest(&data), knowing);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_follows_its_chain_while_it_reads_anew() {
    let place = Place::new();
    let chain = shared(SimConfig { txs_per_block: 5, wallets: 30, ..SimConfig::seeded(61) });
    write(&chain).extend(400);
    let node = SimNode::start(chain.clone()).await.unwrap();
    let serve = |name: &str, knows: bool| {
        let serve = place.serve(&place.data(name), knows).rpc(CHAIN, &node.url());
        serve.set("rpc.poll_ms", "30").set("ingest.senders", "all").start()
    };
    let until_indexed = async |client: &Client| {
        let (number, hash) = head(&chain);
        client.until_indexed(SLUG, number, &hash).await;
    };
    let server = serve("data", false);
    until_indexed(&Client::new(server.url())).await;
    assert!(server.terminate().success());

    let server = serve("data", true);
    let client = Client::new(server.url());
    let data = place.data("data");
    let mut rng = StdRng::seed_from_u64(62);
    for round in 0..4 {
        // First by itself, then because it is asked, in any case.
        let args = place.args("redecode", &data, true, &["--chain", CHAIN, "--force"]);
        let asked = tokio::task::spawn_blocking(move || run_well(args));
        while !asked.is_finished() {
            let depth = rng.random_range(0..12);
            match depth {
                0..8 => drop(write(&chain).extend(1)),
                depth => drop(write(&chain).reorg(depth, depth + 1)),
            }
            let address = format!("{:#x}", testkit::read(&chain).address_of("exchange").unwrap());
            client.wallet(&address, &format!("chain={CHAIN}&limit=1")).await;
            tokio::time::sleep(Duration::from_millis(rng.random_range(5..60))).await;
        }
        let told = asked.await.unwrap();
        assert!(told.contains("blocks decoded again"), "{round}: {told}");
    }
    until_indexed(&client).await;
    until_current(&client).await;
    let log = server.log();
    assert!(!log.contains("panicked") && !log.contains("ERROR"), "{log}");
    assert!(log.contains("old blocks were replaced"), "{log}");
    assert!(server.terminate().success());

    let calm = serve("calm", true);
    until_indexed(&Client::new(calm.url())).await;
    assert!(calm.terminate().success());
    assert_eq!(digest(&data), digest(&place.data("calm")));
}
