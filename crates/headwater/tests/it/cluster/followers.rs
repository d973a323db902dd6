//! Two processes that read one chain: one does, the other takes over when it dies or hangs, and what is stored in the end
//! is what one undisturbed process would have stored.

use std::path::Path;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use testkit::{SharedChain, SimConfig, SimNode, shared, write};

use super::members::{Cluster, leads, serve, until};
use crate::client::Client;
use crate::postgres_process::PostgresProcess;
use crate::process::{Server, run_well};
use crate::world::{CHAIN, SLUG, head};

fn rounds() -> usize {
    if std::env::var_os("HEADWATER_LONG").is_some() { 20 } else { 3 }
}

/// New blocks, and now and then another end of the chain.
fn grow(chain: &SharedChain, random: &mut StdRng) {
    let mut chain = write(chain);
    if random.random_bool(0.15) {
        let depth = random.random_range(1..6);
        chain.reorg(depth, depth + 1);
    } else {
        chain.extend(1);
    }
}

async fn grow_for(chain: &SharedChain, random: &mut StdRng, time: Duration) {
    let began = Instant::now();
    while began.elapsed() < time {
        grow(chain, random);
        tokio::time::sleep(Duration::from_millis(random.random_range(5..40))).await;
    }
}

/// Until the process that is left has the chain's head.
pub async fn until_followed(chain: &SharedChain, server: &Server) {
    let (number, hash) = head(chain);
    Client::new(server.url()).until_indexed(SLUG, number, &hash).await;
}

/// The one that reads the chain first.
async fn ordered(pair: [Server; 2]) -> [Server; 2] {
    let [one, other] = pair;
    until("one of two reads the chain", || async { leads(&one).await || leads(&other).await })
        .await;
    let is_first = leads(&one).await;
    assert_ne!(is_first, leads(&other).await, "both read the chain");
    if is_first { [one, other] } else { [other, one] }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_dies_or_hangs_is_followed_by_another_and_nothing_is_doubled() {
    let Some(postgres) = PostgresProcess::start() else { return };
    let chain = shared(SimConfig { txs_per_block: 4, wallets: 30, ..SimConfig::seeded(81) });
    write(&chain).extend(300);
    let node = SimNode::start(chain.clone()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let cluster = Cluster::new(folder.path(), &postgres.url("postgres"), &node);
    let mut random = StdRng::seed_from_u64(82);
    let mut pair = [cluster.start("ingest", "one"), cluster.start("ingest", "other")];
    for round in 0..rounds() {
        let [leader, standby] = ordered(pair).await;
        grow_for(&chain, &mut random, Duration::from_secs(1)).await;
        let name = format!("again-{round}");
        leader.kill_nine();
        let took = until("another reads the chain", || leads(&standby)).await;
        eprintln!("kill -9 of the follower: another had the chain after {} ms", took.as_millis());
        grow_for(&chain, &mut random, Duration::from_millis(500)).await;
        until_followed(&chain, &standby).await;

        let fresh = cluster.start("ingest", &name);
        assert!(!leads(&fresh).await, "{}", fresh.log());
        grow_for(&chain, &mut random, Duration::from_millis(500)).await;
        // It keeps its sessions, and its kernel answers for it.
        standby.signal("STOP");
        let took = until("another reads the chain", || leads(&fresh)).await;
        eprintln!("SIGSTOP of the follower: another had the chain after {} ms", took.as_millis());
        grow_for(&chain, &mut random, Duration::from_millis(500)).await;
        until_followed(&chain, &fresh).await;
        standby.signal("CONT");
        until("it knows that it was overtaken", || async { !leads(&standby).await }).await;
        assert!(leads(&fresh).await);
        grow_for(&chain, &mut random, Duration::from_millis(500)).await;
        until_followed(&chain, &fresh).await;
        pair = [standby, fresh];
    }
    let [leader, standby] = ordered(pair).await;
    until_followed(&chain, &leader).await;
    // One that ends in order lets go at once.
    assert!(leader.terminate().success());
    until("another reads the chain", || leads(&standby)).await;
    assert!(!standby.log().contains("panicked"), "{}", standby.log());
    assert!(standby.terminate().success());
    let digest = digest_of(folder.path(), &cluster.url);
    let calm = folder.path().join("calm");
    let server = serve(&calm, &node.url()).start();
    until_followed(&chain, &server).await;
    assert!(server.terminate().success());
    let undisturbed = run_well(["digest", "--chain", CHAIN, "--data", calm.to_str().unwrap()]);
    assert_eq!(digest, undisturbed);
}

/// Of what is in the database, of which everything must hold.
pub fn digest_of(folder: &Path, url: &str) -> String {
    let (config, data) = (folder.join("database.toml"), folder.join("files"));
    let text = format!("[store]\npath = \"{}\"\nurl = \"{url}\"\n", data.display());
    std::fs::write(&config, text).unwrap();
    let config = config.to_str().unwrap();
    let checked = run_well(["check", "--config", config]);
    assert!(checked.contains("everything holds"), "{checked}");
    run_well(["digest", "--config", config, "--chain", CHAIN])
}
