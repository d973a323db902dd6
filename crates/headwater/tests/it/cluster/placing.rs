//! Two chains, each in a database of its own, on two PostgreSQL servers beside the main database: the same answers as from one
//! store, streams over both chains that miss nothing, and a server that is away takes only its own chain along.

use std::path::Path;

use reqwest::Method;
use serde_json::json;
use testkit::{SharedChain, SimConfig, SimNode, read, shared, write};

use super::members::{asked, serve, until};
use super::pg_server::PgServer;
use super::restore::open_to_all;
use super::senders::until_told;
use crate::client::Client;
use crate::process::{Serve, Server, run, run_well, text};
use crate::streams::receiver::{WebhookReceiver, prove};
use crate::streams::truth::{Items, Watched, expected};
use crate::two_engines::without_cursor;
use crate::world::{CHAIN, SLUG, head};

const SECOND: &str = "1338";
const SECOND_SLUG: &str = "chain-1338";
const BLOCKS: usize = 30;
const CONFIRMATIONS: u64 = 12;

struct Chains {
    chains: [SharedChain; 2],
    nodes: [SimNode; 2],
}

impl Chains {
    async fn start() -> Self {
        let config = |chain_id, seed| SimConfig {
            chain_id,
            txs_per_block: 5,
            wallets: 20,
            ..SimConfig::seeded(seed)
        };
        let chains = [shared(config(1337, 301)), shared(config(1338, 302))];
        chains.iter().for_each(|chain| drop(write(chain).extend(BLOCKS)));
        let one = SimNode::start(chains[0].clone()).await.unwrap();
        let other = SimNode::start(chains[1].clone()).await.unwrap();
        Chains { chains, nodes: [one, other] }
    }

    fn serve(&self, data: &Path) -> Serve {
        serve(data, &self.nodes[0].url()).rpc(SECOND, &self.nodes[1].url())
    }

    async fn until_followed(&self, server: &Server) {
        let client = Client::new(server.url());
        for (chain, slug) in self.chains.iter().zip([SLUG, SECOND_SLUG]) {
            let (number, hash) = head(chain);
            client.until_indexed(slug, number, &hash).await;
        }
    }
}

/// The main database and the first chain's own are on one server, the second chain's own on another.
struct Databases {
    one: PgServer,
    other: PgServer,
}

impl Databases {
    fn start(folder: &Path) -> Option<Self> {
        let mut one = PgServer::init(folder.join("one"))?;
        let other = PgServer::init(folder.join("other"))?;
        one.start();
        one.sql("create database first_chain");
        Some(Databases { one, other })
    }

    fn urls(&self) -> [String; 3] {
        let first = self.one.url().replace("/postgres", "/first_chain");
        [self.one.url(), first, self.other.url()]
    }

    fn place(&self, serve: Serve) -> Serve {
        let [main, first, second] = self.urls();
        let serve = serve.set("store.url", &main);
        serve.set("chains.1337.store", &first).set("chains.1338.store", &second)
    }

    /// A file with the same for commands.
    fn config(&self, folder: &Path) -> String {
        let ([main, first, second], file) = (self.urls(), folder.join("placed.toml"));
        let data = folder.join("files");
        let lines = format!(
            "[store]\npath = \"{}\"\nurl = \"{main}\"\n[chains.1337]\nstore = \"{first}\"\n\
             [chains.1338]\nstore = \"{second}\"\n",
            data.display()
        );
        std::fs::write(&file, lines).unwrap();
        file.display().to_string()
    }
}

async fn answers_are_alike(chains: &Chains, one: &Server, other: &Server) {
    let (one, other) = (Client::new(one.url()), Client::new(other.url()));
    for (chain, id) in chains.chains.iter().zip([CHAIN, SECOND]) {
        let (wallets, head) = (read(chain).wallets(), read(chain).head_number());
        for wallet in wallets {
            let query = "limit=50&include=internal_transactions";
            let path = format!("/api/v2.2/{wallet:#x}?chain={id}&{query}");
            let (here, there) = (one.get(&path).await, other.get(&path).await);
            assert_eq!((here.status, there.status), (200, 200), "{} {}", here.body, there.body);
            assert_eq!(without_cursor(&here.body), without_cursor(&there.body), "{path}");
        }
        for number in 0..=head {
            let number = format!("{number:#x}");
            for (method, params) in [
                ("eth_getBlockByNumber", json!([number, true])),
                ("eth_getBlockReceipts", json!([number])),
                ("eth_getLogs", json!([{ "fromBlock": number, "toBlock": number }])),
            ] {
                let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
                let here = one.rpc_text(id, body.to_string()).await.body;
                assert_eq!(here, other.rpc_text(id, body.to_string()).await.body, "{method}");
                assert!(here.contains("\"result\""), "{here}");
            }
        }
    }
}

/// On both chains at once: its deliveries are numbered over both.
async fn create(server: &Server, receiver: &WebhookReceiver, one: &Watched) {
    let body = json!({
        "webhookUrl": receiver.url(&one.name), "description": one.name, "tag": one.name,
        "chainIds": ["0x539", "0x53a"], "includeNativeTxs": true, "includeContractLogs": true,
    });
    let stream = asked(server, Method::PUT, "/streams/evm", &body).await;
    let path = format!("/streams/evm/{}/address", stream["id"].as_str().unwrap());
    asked(server, Method::POST, &path, &json!({ "address": one.addresses })).await;
}

fn watched(chains: &Chains) -> Vec<Watched> {
    let wallets = chains.chains.each_ref().map(|chain| read(chain).wallets());
    let one = |number: usize| Watched {
        name: format!("stream-{number}"),
        addresses: wallets.iter().map(|all| format!("{:#x}", all[number])).collect(),
        logs: true,
        internals: false,
        retractions: false,
    };
    (0..4).map(one).collect()
}

/// Where everything is.
struct World {
    folder: tempfile::TempDir,
    databases: Databases,
    chains: Chains,
    wallets: [String; 2],
}

impl World {
    async fn start() -> Option<Self> {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        open_to_all(folder.path());
        let databases = Databases::start(folder.path())?;
        let chains = Chains::start().await;
        let wallets = |chain: &SharedChain| format!("{:#x}", read(chain).wallets()[0]);
        let wallets = chains.chains.each_ref().map(wallets);
        Some(World { folder, databases, chains, wallets })
    }

    /// A process with files of its own.
    fn serve(&self, name: &str) -> Server {
        self.databases.place(self.chains.serve(&self.folder.path().join(name))).start()
    }

    /// What a wallet of each chain is answered with, and whether that says when to ask again.
    async fn asked(&self, server: &Server) -> [(u16, bool); 2] {
        let mut answers = [(0, false); 2];
        for ((chain, wallet), answer) in
            [CHAIN, SECOND].into_iter().zip(&self.wallets).zip(&mut answers)
        {
            let path = format!("/api/v2.2/{wallet}?chain={chain}&limit=1");
            let got = Client::new(server.url()).get(&path).await;
            *answer = (got.status, got.header("retry-after").is_some());
        }
        answers
    }

    async fn first_chain_goes_on(&self, server: &Server) {
        write(&self.chains.chains[0]).extend(3);
        let (number, hash) = head(&self.chains.chains[0]);
        Client::new(server.url()).until_indexed(SLUG, number, &hash).await;
        assert_eq!(self.asked(server).await, [(200, false), (503, true)]);
    }

    /// One server goes away: its chain does, the other goes on, also in a process that starts meanwhile.
    async fn without_the_second(&mut self, server: Server) -> Server {
        self.databases.other.stop("fast");
        until("the second chain is not answered", || async {
            self.asked(&server).await[1] == (503, true)
        })
        .await;
        self.first_chain_goes_on(&server).await;
        let status = Client::new(server.url()).status(SECOND_SLUG).await;
        assert!(status["error"].as_str().unwrap().contains("the store could not"), "{status}");
        let metrics = Client::new(server.url()).get("/metrics").await.body;
        assert!(metrics.contains("headwater_chain_readable{chain=\"chain-1338\"} 0"), "{metrics}");
        assert!(metrics.contains("headwater_chain_readable{chain=\"chain-1337\"} 1"), "{metrics}");
        server.terminate();
        let refused = run(["migrate", "--config", &self.databases.config(self.folder.path())]);
        assert!(!refused.status.success(), "a database is away");
        let server = self.serve("without-the-second");
        self.first_chain_goes_on(&server).await;
        self.databases.other.start();
        server
    }

    /// Every stream was told what was confirmed of both chains, once, in numbers without a hole.
    async fn all_is_told(
        &self,
        server: &Server,
        receiver: &WebhookReceiver,
        (all, first): (&[Watched], [u64; 2]),
    ) {
        for one in all {
            let mut wanted = Items::new();
            for (chain, first) in self.chains.chains.iter().zip(first) {
                let last = read(chain).head_number() - CONFIRMATIONS;
                wanted.append(&mut expected(chain, one, first..=last));
            }
            assert!(!wanted.is_empty());
            let taken = until_told(server, receiver, &one.name, &wanted).await;
            prove(&taken);
        }
        assert_eq!(receiver.contradictions(), Vec::<String>::new());
    }

    fn commands_find_every_chain(&self) {
        let config = self.databases.config(self.folder.path());
        let data = self.folder.path().join("plain").display().to_string();
        let digest = |place: [&str; 2], chain: &str| {
            run_well(["digest", place[0], place[1], "--chain", chain])
        };
        for chain in [CHAIN, SECOND] {
            assert_eq!(digest(["--config", &config], chain), digest(["--data", &data], chain));
        }
        let checked = run_well(["check", "--config", &config]);
        assert!(checked.contains("everything holds"), "{checked}");
        assert!(checked.contains("first_chain: chain 1337"), "{checked}");
        run_well(["migrate", "--config", &config]);
        // Whoever forgets where a chain is gets no empty answers.
        let [main, ..] = self.databases.urls();
        let forgetful = self.folder.path().join("forgetful.toml");
        std::fs::write(&forgetful, format!("[store]\nurl = \"{main}\"\n")).unwrap();
        let refused = run(["digest", "--config", forgetful.to_str().unwrap(), "--chain", CHAIN]);
        assert!(text(&refused.stderr).contains("has a database of its own"), "{refused:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn chains_in_databases_of_their_own_answer_alike_and_fail_alone() {
    let Some(mut world) = World::start().await else { return };
    // The second server is not there yet.
    let mut server = world.serve("placed");
    assert_eq!(world.asked(&server).await[1], (503, true));
    world.databases.other.start();
    let plain = world.chains.serve(&world.folder.path().join("plain")).start();
    world.chains.until_followed(&server).await;
    world.chains.until_followed(&plain).await;
    answers_are_alike(&world.chains, &plain, &server).await;
    let blocks = "select coalesce(sum(covered_to[1] - covered_from[1] + 1), 0) from chains";
    assert_eq!(world.databases.one.sql(blocks), "0", "no block is in the main database");
    assert_eq!(world.databases.other.sql(blocks), (BLOCKS + 1).to_string());

    let receiver = WebhookReceiver::start(303).await;
    let all = watched(&world.chains);
    for one in &all {
        create(&server, &receiver, one).await;
    }
    let first = world.chains.chains.each_ref().map(|chain| read(chain).head_number() + 1);
    // No reorg goes below where the streams began.
    grow(&world.chains, 1);
    grow(&world.chains, 6);
    world.chains.until_followed(&server).await;
    // Killed in the middle of whatever it does, and again.
    for round in 0..3 {
        grow(&world.chains, 2);
        server.kill_nine();
        grow(&world.chains, 1);
        server = world.serve(&format!("again-{round}"));
    }
    world.chains.until_followed(&server).await;
    let server = world.without_the_second(server).await;
    grow(&world.chains, CONFIRMATIONS as usize + 1);
    world.chains.until_followed(&server).await;
    assert_eq!(world.asked(&server).await, [(200, false), (200, false)]);
    world.all_is_told(&server, &receiver, (&all, first)).await;
    world.chains.until_followed(&plain).await;
    answers_are_alike(&world.chains, &plain, &server).await;
    assert!(server.terminate().success() && plain.terminate().success());
    world.commands_find_every_chain();
}

fn grow(chains: &Chains, blocks: usize) {
    for chain in &chains.chains {
        let mut chain = write(chain);
        // Another end of the chain now and then.
        if blocks > 1 {
            chain.reorg(1, 2);
        }
        chain.extend(blocks);
    }
}
