//! The whole of it: two processes of every role on PostgreSQL with a synchronous standby, killed at random, PostgreSQL
//! restarted twice and failed over once, under load. Only with HEADWATER_LONG; HEADWATER_CLUSTER_SECONDS says for how long
//! (600).

use std::path::Path;
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
use super::senders::{create, until_told, watched};
use crate::client::Client;
use crate::process::{Server, run_well};
use crate::streams::receiver::{WebhookReceiver, prove};
use crate::streams::truth::expected;
use crate::world::{CHAIN, grow, head};

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

/// The servers of the database, and what was done to them.
struct Database {
    primary: PgServer,
    standby: PgServer,
    turns: u32,
}

impl Database {
    fn start(folder: &Path) -> Option<Self> {
        let mut primary = PgServer::init(folder.join("primary"))?;
        primary.start();
        let standby = standby_of(&primary, folder);
        Some(Database { primary, standby, turns: 0 })
    }

    fn url(&self) -> String {
        let (one, other) = (self.primary.host(), self.standby.host());
        format!("postgres://headwater@{one},{other}/postgres?target_session_attrs=read-write")
    }

    /// A quarter, half and three quarters of the way the database has its turn; says whether it had.
    async fn disturb(&mut self, way: f64) -> bool {
        if self.turns == 3 || way * 4.0 < f64::from(self.turns + 1) {
            return false;
        }
        self.turns += 1;
        if self.turns < 3 {
            self.primary.stop("fast");
            tokio::time::sleep(Duration::from_secs(3)).await;
            self.primary.start();
            eprintln!("PostgreSQL was restarted");
        } else {
            self.primary.stop("immediate");
            tokio::time::sleep(Duration::from_secs(1)).await;
            self.standby.promote();
            eprintln!("the standby took over");
        }
        true
    }
}

/// Kills, restarts and a failover, while the chain grows.
async fn disturb(
    members: &mut Members,
    database: &mut Database,
    chain: &SharedChain,
    time: Duration,
) {
    let growing = chain.clone();
    let grower = tokio::spawn(async move {
        let mut random = StdRng::seed_from_u64(91);
        loop {
            grow(&growing, &mut random);
            tokio::time::sleep(Duration::from_millis(random.random_range(20..250))).await;
        }
    });
    let (began, mut random) = (Instant::now(), StdRng::seed_from_u64(93));
    while began.elapsed() < time {
        tokio::time::sleep(Duration::from_millis(random.random_range(1_000..4_000))).await;
        let way = began.elapsed().as_secs_f64() / time.as_secs_f64();
        if !database.disturb(way).await {
            tokio::task::block_in_place(|| members.kill_one(&mut random));
        }
    }
    grower.abort();
    let _ = grower.await;
    assert_eq!(database.turns, 3, "the database had its turns");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_cluster_that_is_killed_restarted_and_failed_over_gives_no_wrong_answer() {
    if std::env::var_os("HEADWATER_LONG").is_none() {
        eprintln!("SKIPPED: the whole cluster: set HEADWATER_LONG");
        return;
    }
    let seconds = std::env::var("HEADWATER_CLUSTER_SECONDS").ok().and_then(|it| it.parse().ok());
    let time = Duration::from_secs(seconds.unwrap_or(600));
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    open_to_all(folder.path());
    let Some(mut database) = Database::start(folder.path()) else { return };
    let chain = shared(SimConfig { txs_per_block: 4, wallets: 40, ..SimConfig::seeded(89) });
    write(&chain).extend(80);
    let node = SimNode::start(chain.clone()).await.unwrap();
    let url = database.url();
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
    disturb(&mut members, &mut database, &chain, time).await;
    eprintln!("{} kills; {}", members.started - 2 * ROLES.len(), load.stop().await);

    write(&chain).extend(CONFIRMATIONS as usize + 1);
    receiver.fail(0.0);
    until_followed(&chain, members.one("api")).await;
    let blocks = first + 1..=head(&chain).0 - CONFIRMATIONS;
    let mut deliveries = 0;
    for one in &all {
        let wanted = expected(&chain, one, blocks.clone());
        let taken = until_told(members.one("api"), &receiver, &one.name, &wanted).await;
        prove(&taken);
        deliveries += taken.len();
    }
    eprintln!("{deliveries} deliveries");
    assert_eq!(receiver.contradictions(), Vec::<String>::new());
    drop(members);
    let calm = folder.path().join("calm");
    let server = serve(&calm, &node.url()).start();
    until_followed(&chain, &server).await;
    assert!(server.terminate().success());
    let undisturbed = run_well(["digest", "--chain", CHAIN, "--data", calm.to_str().unwrap()]);
    assert_eq!(digest_of(folder.path(), &url), undisturbed);
}
