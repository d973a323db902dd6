//! An api process that reads from a replica: it does while the replica keeps up, and nobody sees the chain go back when
//! it does not.

use testkit::{SimConfig, SimNode, read, shared, write};

use super::followers::until_followed;
use super::members::{Cluster, until};
use super::pg_server::PgServer;
use super::restore::open_to_all;
use crate::client::Client;
use crate::world::{CHAIN, head};

/// Transactions that the replica was asked for, as it counts them now and then.
fn transactions(replica: &PgServer) -> u64 {
    let sum = "select xact_commit + xact_rollback from pg_stat_database where datname = 'postgres'";
    replica.sql(sum).parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_is_read_from_while_it_keeps_up_and_nobody_sees_the_chain_go_back() {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    open_to_all(folder.path());
    let Some(mut primary) = PgServer::init(folder.path().join("primary")) else { return };
    primary.start();
    let mut replica = primary.copy(folder.path().join("replica"), &["-R"]);
    replica.start();
    let chain = shared(SimConfig { txs_per_block: 4, ..SimConfig::seeded(92) });
    write(&chain).extend(30);
    let node = SimNode::start(chain.clone()).await.unwrap();
    let cluster = Cluster::new(folder.path(), &primary.url(), &node);
    let _ingest = cluster.start("ingest", "ingest");
    let urls = format!("[\"{}\"]", replica.url());
    let api = cluster.member("api", "api").set("store.read_urls", &urls).start();
    until_followed(&chain, &api).await;
    let client = Client::new(api.url());
    let wallets = read(&chain).wallets();
    let path = |number: usize| {
        let wallet = wallets[number % wallets.len()];
        format!("/api/v2.2/{wallet:#x}?chain={CHAIN}&limit={}", 1 + number / wallets.len())
    };
    let before = transactions(&replica);
    for number in 0..200 {
        assert_eq!(client.get(&path(number)).await.status, 200);
    }
    until("the replica was asked", || async { transactions(&replica) >= before + 100 }).await;

    // It stands still, and answers what it knows.
    replica.sql("select pg_wal_replay_pause()");
    for _ in 0..5 {
        write(&chain).extend(3);
        until_followed(&chain, &api).await;
        let (number, _) = head(&chain);
        for _ in 0..20 {
            let told = client.rpc(CHAIN, "eth_blockNumber", serde_json::json!([])).await;
            assert_eq!(told, format!("{number:#x}"));
        }
        let block = client.get(&path(0)).await;
        assert!(block.header("x-indexed-blocks").unwrap().ends_with(&format!("-{number}")));
    }
    // It is gone, and missed by nobody.
    replica.stop("immediate");
    for number in 0..20 {
        assert_eq!(client.get(&path(number)).await.status, 200);
    }
    assert!(api.log().contains("a read replica is left alone"), "{}", api.log());
}
