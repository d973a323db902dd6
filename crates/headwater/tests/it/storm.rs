//! Strangers by the thousand under a low limit of open files, while history fills and a client asks: ingest
//! goes on, answers go on, and when they are gone everything is as before.
//!
//! `HEADWATER_LONG=1` makes it 5,000 of them for ten minutes, with the soft limit low and again with the hard one.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::Value;
use testkit::{SharedChain, SimConfig, SimNode, Strangers, shared, write};

use crate::client::Client;
use crate::process::{KEY, Serve, Server};
use crate::raw::{Request, send};
use crate::world::{CHAIN, SLUG, head};

struct Storm {
    /// As the shell's `ulimit` takes it.
    file_limit: &'static str,
    strangers: usize,
    lasts: Duration,
    /// The server's own timeouts where none.
    timeouts_ms: Option<&'static str>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn strangers_by_the_thousand_stop_neither_ingest_nor_answers() {
    let is_long = std::env::var_os("HEADWATER_LONG").is_some();
    let storms = if is_long {
        let lasts = Duration::from_secs(600);
        ["-Sn 1024", "-n 1024"].map(|file_limit| Storm {
            file_limit,
            strangers: 5_000,
            lasts,
            timeouts_ms: None,
        })
    } else {
        let lasts = Duration::from_secs(6);
        ["-n 1024", "-Sn 1024"].map(|file_limit| Storm {
            file_limit,
            strangers: 1_500,
            lasts,
            timeouts_ms: Some("2000"),
        })
    };
    // The soft limit is raised at start, so the short form shows the hard one alone.
    for storm in storms.into_iter().take(if is_long { 2 } else { 1 }) {
        if !may_open(storm.strangers as u64 + 500) {
            eprintln!(
                "SKIPPED: {} connections: the limit of open files is too low",
                storm.strangers
            );
            return;
        }
        storm.run().await;
    }
}

/// This process needs as many as the strangers have.
fn may_open(files: u64) -> bool {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    maximum.is_none_or(|maximum| maximum >= files)
}

impl Storm {
    async fn run(&self) {
        let chain = shared(SimConfig { txs_per_block: 20, ..SimConfig::seeded(43) });
        write(&chain).extend(200);
        let node = SimNode::start(chain.clone()).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut serve = Serve::of(&folder.path().join("data"))
            .rpc(CHAIN, &node.url())
            .set("rpc.poll_ms", "100");
        for timeout in ["header", "idle", "send"] {
            if let Some(millis) = self.timeouts_ms {
                serve = serve.set(&format!("listen.{timeout}_timeout_ms"), millis);
            }
        }
        let server = serve.under_file_limit(self.file_limit).start();
        let address: SocketAddr = server.address().parse().unwrap();
        let files_before = open_files(&server);

        let strangers = Strangers::start(address, self.strangers, 100);
        let grown = self.ask_while_it_grows(&server, &chain).await;
        let (number, hash) = head(&chain);
        assert!(grown > 0, "the chain did not grow");
        until_indexed(&server, number, &hash).await;
        let tally = strangers.tally();
        assert!(tally.connected as usize > self.strangers / 2, "{tally:?}");
        assert!(tally.ended > 0, "nobody was shed or cut off: {tally:?}");
        let log = server.log();
        assert!(!log.contains("panicked") && !log.contains("poison"), "{log}");
        assert!(!log.contains("Too many open files"), "the store was short of files: {log}");

        // They leave, and everything is as it was.
        drop(strangers);
        let left = Instant::now();
        while open_files(&server) > files_before + 64 {
            assert!(left.elapsed() < Duration::from_secs(60), "{} files", open_files(&server));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        write(&chain).extend(3);
        let (number, hash) = head(&chain);
        let client = Client::new(server.url());
        client.until_indexed(SLUG, number, &hash).await;
        assert_eq!(client.get("/health/ready").await.status, 200);
        let ended = tokio::task::spawn_blocking(|| server.terminate()).await.unwrap();
        assert_eq!(ended.code(), Some(0));
    }

    /// Asks on a new connection each time, as a stranger would have to, while blocks come. Every question is
    /// answered, if not at the first attempt.
    async fn ask_while_it_grows(&self, server: &Server, chain: &SharedChain) -> u64 {
        let (began, mut grown, mut attempts, mut answers) = (Instant::now(), 0, 0u64, 0u64);
        while began.elapsed() < self.lasts {
            let asked = Instant::now();
            while get(server, "/health/live").await != Some(200) {
                attempts += 1;
                assert!(asked.elapsed() < Duration::from_secs(60), "no answer: {}", server.log());
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            answers += 1;
            if answers % 5 == 0 {
                write(chain).extend(1);
                grown += 1;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        eprintln!("{answers} answers, {attempts} attempts more, {grown} blocks");
        grown
    }
}

/// The status of an answer on a connection of its own, if there is one.
async fn get(server: &Server, target: &'static str) -> Option<u16> {
    let address = server.address().to_owned();
    let asked = tokio::task::spawn_blocking(move || {
        let headers = vec![("x-api-key", KEY)];
        let request = Request { method: "GET", target, headers, body: b"" };
        std::panic::catch_unwind(|| send(&address, &request).status).ok()
    });
    asked.await.unwrap()
}

/// Like the client's, on connections that may be shed.
async fn until_indexed(server: &Server, number: u64, hash: &str) {
    let started = Instant::now();
    let http = reqwest::Client::new();
    loop {
        let asked = http.get(format!("{}/status", server.url())).send().await;
        let status = match asked {
            Ok(answer) => answer.text().await.unwrap_or_default(),
            Err(_) => String::new(),
        };
        let status: Value = serde_json::from_str(&status).unwrap_or_default();
        let chain = &status["chains"][SLUG];
        if chain["coverage"] == format!("0-{number}") && chain["head"]["hash"] == hash {
            return;
        }
        assert!(
            started.elapsed() < Duration::from_secs(120),
            "not indexed: {status} {}",
            server.log()
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn open_files(server: &Server) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", server.pid())).unwrap().count()
}
