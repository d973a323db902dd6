//! kill -9 at any moment loses nothing and leaves nothing half done: after fifty of them, the store is
//! the one of a run that nobody disturbed.

use std::path::Path;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use testkit::{Fault, Rule, SharedChain, SimConfig, SimNode, read, shared, write};

use crate::client::Client;
use crate::process::{Serve, Server, run_well};
use crate::world::{CHAIN, SLUG, head};

const KILLS: usize = 50;
const HISTORY: usize = 600;

#[tokio::test(flavor = "multi_thread")]
async fn fifty_kills_leave_the_store_of_an_undisturbed_run() {
    let chain = shared(SimConfig { txs_per_block: 4, wallets: 30, ..SimConfig::seeded(51) });
    write(&chain).extend(HISTORY);
    let node = SimNode::start(chain.clone()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (disturbed, calm) = (folder.path().join("disturbed"), folder.path().join("calm"));

    // Slow enough that history lasts over many lives; later it is complete, and only the head moves.
    let slow = node.faults.add(Rule::new(Fault::Delay(Duration::from_millis(25))));
    let mut rng = StdRng::seed_from_u64(52);
    let mut seen = Seen::default();
    for life in 0..KILLS {
        if life == KILLS / 2 {
            node.faults.remove(slow);
        }
        if life % 5 == 4 {
            // In the middle of opening the store, or of putting it right after the kill before.
            serve(&disturbed, &node).killed_after(Duration::from_millis(rng.random_range(0..60)));
            continue;
        }
        let server = serve(&disturbed, &node).start();
        let live_ms = rng.random_range(0..650);
        let began = std::time::Instant::now();
        while began.elapsed() < Duration::from_millis(live_ms) {
            grow(&chain, &mut rng);
            tokio::time::sleep(Duration::from_millis(rng.random_range(5..90))).await;
        }
        seen.look(&server).await;
        server.kill_nine();
    }
    eprintln!("lives ended {seen:?}");
    assert!(seen.filling > 5 && seen.complete > 0, "kills must hit both kinds of work: {seen:?}");
    assert!(seen.reorgs > 0, "and reorgs must be among it: {seen:?}");

    let digest = finish(&disturbed, &node, &chain).await;
    assert_eq!(digest, finish(&calm, &node, &chain).await);
    let (head, _) = head(&chain);
    assert!(digest.trim_end().ends_with(&format!(" 0-{head}")), "{digest}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_start_that_is_cut_off_is_made_up_for_by_the_next() {
    let chain = shared(SimConfig::seeded(53));
    let node = SimNode::start(chain).await.unwrap();
    for life_ms in (10..250).step_by(20) {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        serve(&data, &node).killed_after(Duration::from_millis(life_ms));
        serve(&data, &node).start().kill_nine();
    }
}

/// Where the lives ended.
#[derive(Debug, Default)]
struct Seen {
    empty: usize,
    filling: usize,
    complete: usize,
    reorgs: usize,
}

impl Seen {
    async fn look(&mut self, server: &Server) {
        let status = Client::new(server.url()).status(SLUG).await;
        let coverage = status["coverage"].as_str().unwrap();
        match coverage {
            "" => self.empty += 1,
            _ if coverage.starts_with("0-") && !coverage.contains(',') => self.complete += 1,
            _ => self.filling += 1,
        }
        self.reorgs += usize::from(!status["ingest"]["last_reorg"].is_null());
    }
}

fn serve(data: &Path, node: &SimNode) -> Serve {
    // Every sender is recovered, so that a block's proof does not tell which way it came in.
    Serve::of(data)
        .rpc(CHAIN, &node.url())
        .set("rpc.poll_ms", "30")
        .set("ingest.senders", "all")
        .set("ingest.workers", "2")
        .set("ingest.segment_blocks", "3")
        .set("log.filter", "error")
}

/// A new block now and then, and one in eight times another end of the chain.
fn grow(chain: &SharedChain, rng: &mut StdRng) {
    let mut chain = write(chain);
    match rng.random_range(0..8) {
        0 => {
            let depth = rng.random_range(1..6);
            chain.reorg(depth, depth + 1);
        }
        1..=3 => {
            chain.extend(1);
        }
        _ => {}
    }
}

async fn finish(data: &Path, node: &SimNode, chain: &SharedChain) -> String {
    let server = serve(data, node).start();
    let (number, hash) = head(chain);
    Client::new(server.url()).until_indexed(SLUG, number, &hash).await;
    let log = server.log();
    assert!(!log.contains("panicked") && !log.contains("ERROR"), "{log}");
    assert!(server.terminate().success());
    assert_eq!(read(chain).head_number(), number);
    run_well(["digest", "--chain", CHAIN, "--data", data.to_str().unwrap()])
}
