//! The whole of it: two processes of every role on PostgreSQL with a synchronous standby, killed at random, PostgreSQL
//! restarted twice and failed over once, under load. Only with HEADWATER_LONG; HEADWATER_CLUSTER_SECONDS says for how long
//! (600).

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::json;
use testkit::{SharedChain, SimConfig, SimNode, read, shared, write};

use super::followers::{digest_of, until_followed};
use super::load::{Load, Question, Urls, call};
use super::members::{Cluster, serve};
use super::pg_server::PgServer;
use super::restore::open_to_all;
use super::senders::{create, grow, until_told, watched};
use crate::client::Client;
use crate::process::{Server, run_well};
use crate::streams::receiver::{WebhookReceiver, prove};
use crate::streams::truth::expected;
use crate::world::{CHAIN, head};

const ROLES: [&str; 4] = ["ingest", "api", "gateway", "streams"];
/// Blocks up to here are never reorganised.
const STABLE: u64 = 60;
const CONFIRMATIONS: u64 = 12;
const STREAMS: usize = 20;

/// Two processes of each role.
struct Members {
    cluster: Cluster,
    servers: Vec<(&'static str, Server)>,
    urls: [Urls; 4],
    started: usize,
}

impl Members {
    fn start(cluster: Cluster) -> Self {
        let mut members =
            Members { cluster, servers: Vec::new(), urls: Default::default(), started: 0 };
        for role in ROLES.into_iter().chain(ROLES) {
            let server = members.fresh(role);
            members.servers.push((role, server));
        }
        members.tell();
        members
    }

    fn fresh(&mut self, role: &'static str) -> Server {
        self.started += 1;
        self.cluster.start(role, &format!("{role}-{}", self.started))
    }

    fn tell(&self) {
        for (role, urls) in ROLES.iter().zip(&self.urls) {
            let of_role = self.servers.iter().filter(|(its, _)| its == role);
            *urls.lock().unwrap() = of_role.map(|(_, server)| server.url().to_owned()).collect();
        }
    }

    fn kill_one(&mut self, random: &mut StdRng) {
        let (role, server) = self.servers.remove(random.random_range(0..self.servers.len()));
        assert!(!server.log().contains("panicked"), "{}", server.log());
        server.kill_nine();
        self.tell();
        let server = self.fresh(role);
        self.servers.push((role, server));
        self.tell();
    }

    fn one(&self, role: &str) -> &Server {
        &self.servers.iter().find(|(its, _)| *its == role).unwrap().1
    }
}

async fn questions(server: &Server, chain: &SharedChain) -> (Vec<Question>, Vec<Question>) {
    let client = Client::new(server.url());
    let wallets: Vec<_> = read(chain).wallets().into_iter().take(10).collect();
    let mut pages = Vec::new();
    for wallet in wallets {
        let path = format!("/api/v2.2/{wallet:#x}?chain={CHAIN}&limit=20&to_block={STABLE}");
        let result = client.get(&path).await.json()["result"].take();
        assert!(result.is_array());
        pages.push(Question::Get { path, result });
    }
    let mut calls = Vec::new();
    for number in 1..=10u64 {
        let params = json!([format!("{:#x}", number * 5), true]);
        let result = client.rpc(CHAIN, "eth_getBlockByNumber", params.clone()).await;
        calls.push(call("eth_getBlockByNumber", params, result));
    }
    (pages, calls)
}

/// A synchronous standby of it.
fn standby_of(primary: &PgServer, folder: &Path) -> PgServer {
    let mut standby = primary.copy(folder.join("standby"), &["-R"]);
    standby.start();
    primary.sql("alter system set synchronous_standby_names = '*'");
    primary.sql("select pg_reload_conf()");
    while primary.sql("select count(*) from pg_stat_replication where sync_state = 'sync'") != "1" {
        std::thread::sleep(Duration::from_millis(50));
    }
    standby
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cluster_that_is_killed_restarted_and_failed_over_gives_no_wrong_answer() {
    if std::env::var_os("HEADWATER_LONG").is_none() {
        println!("SKIPPED: the whole cluster: set HEADWATER_LONG");
        return;
    }
    let seconds = std::env::var("HEADWATER_CLUSTER_SECONDS").ok().and_then(|it| it.parse().ok());
    let time = Duration::from_secs(seconds.unwrap_or(600));
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    open_to_all(folder.path());
    let Some(mut primary) = PgServer::init(folder.path().join("primary")) else { return };
    primary.start();
    let standby = standby_of(&primary, folder.path());
    let url = format!(
        "postgres://headwater@{},{}/postgres?target_session_attrs=read-write",
        primary.host(),
        standby.host()
    );
    let chain = shared(SimConfig { txs_per_block: 4, wallets: 40, ..SimConfig::seeded(89) });
    write(&chain).extend(80);
    let node = SimNode::start(chain.clone()).await.unwrap();
    let mut members = Members::start(Cluster::new(folder.path(), &url, &node));
    until_followed(&chain, members.one("api")).await;
    let (first, _) = head(&chain);
    let receiver = WebhookReceiver::start(90).await;
    let all = watched(&chain, STREAMS);
    for one in &all {
        create(members.one("api"), &receiver, one).await;
    }
    let (pages, calls) = questions(members.one("api"), &chain).await;
    let [_, api, gateway, _] = members.urls.clone();
    let load = Load::start(vec![(api, pages), (gateway, calls)]);
    receiver.fail(0.05);

    let random = Arc::new(Mutex::new(StdRng::seed_from_u64(91)));
    let (growing, dice) = (chain.clone(), random.clone());
    let grower = tokio::spawn(async move {
        loop {
            let pause = {
                let mut dice = dice.lock().unwrap();
                grow(&growing, &mut dice);
                dice.random_range(20..250)
            };
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
    });
    let (began, mut done) = (Instant::now(), 0);
    while began.elapsed() < time {
        let pause = random.lock().unwrap().random_range(1_000..4_000);
        tokio::time::sleep(Duration::from_millis(pause)).await;
        // A quarter, half and three quarters of the way the database has its turn.
        let quarter = began.elapsed().as_secs_f64() * 4.0 / time.as_secs_f64();
        if quarter >= f64::from(done + 1) && done < 3 {
            done += 1;
            if done < 3 {
                primary.stop("fast");
                tokio::time::sleep(Duration::from_secs(3)).await;
                primary.start();
                println!("PostgreSQL was restarted after {} s", began.elapsed().as_secs());
            } else {
                primary.stop("immediate");
                tokio::time::sleep(Duration::from_secs(1)).await;
                standby.promote();
                println!("the standby took over after {} s", began.elapsed().as_secs());
            }
            continue;
        }
        let mut dice = StdRng::seed_from_u64(random.lock().unwrap().random());
        tokio::task::block_in_place(|| members.kill_one(&mut dice));
    }
    grower.abort();
    let _ = grower.await;
    assert_eq!(done, 3, "the database had its turns");
    let counts = load.stop().await;
    let last = read(&chain).head_number();
    write(&chain).extend(CONFIRMATIONS as usize + 1);
    receiver.fail(0.0);
    until_followed(&chain, members.one("api")).await;
    let (number, _) = head(&chain);
    let blocks = first + 1..=number - CONFIRMATIONS;
    assert!(*blocks.end() > last);
    let mut deliveries = 0;
    for one in &all {
        let wanted = expected(&chain, one, blocks.clone());
        let taken = until_told(members.one("api"), &receiver, &one.name, &wanted).await;
        prove(&taken);
        deliveries += taken.len();
    }
    assert_eq!(receiver.contradictions(), Vec::<String>::new());
    println!(
        "{} kills; {} right answers, {} put off, {} to processes that were gone; {deliveries} deliveries",
        members.started - 8,
        counts.right.load(Ordering::Relaxed),
        counts.put_off.load(Ordering::Relaxed),
        counts.gone.load(Ordering::Relaxed)
    );
    assert_eq!(*counts.wrong.lock().unwrap(), Vec::<String>::new());
    drop(members);
    let calm = folder.path().join("calm");
    let server = serve(&calm, &node.url()).start();
    until_followed(&chain, &server).await;
    assert!(server.terminate().success());
    let undisturbed = run_well(["digest", "--chain", CHAIN, "--data", calm.to_str().unwrap()]);
    assert_eq!(digest_of(folder.path(), &url), undisturbed);
}
