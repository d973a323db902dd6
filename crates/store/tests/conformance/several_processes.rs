//! What only a database server can show: two processes on one store, who may write, and a server that goes away.

use std::time::Duration;

use store::{Change, Error, Options, Origin, Store};
use tokio::time::timeout;

use crate::chain::*;
use crate::engine::{Choices, Engine};
use crate::home::{Home, scratch};
use crate::postgres_server::{Server, server};

async fn database(server: &Server, home: &Home) -> String {
    server.database(home.folder()).await
}

async fn apply(store: &Store, number: u64) -> Result<(), Error> {
    let block = store.prepare(CHAIN, empty_block(number, 0));
    store.commit(CHAIN, Change::apply(Origin::Head, vec![block])).await.map(|_| ())
}

#[tokio::test]
async fn who_was_overtaken_cannot_write_and_what_it_wrote_stays() {
    let Some(server) = server() else { return };
    let home = Home::new(Engine::Postgres).await;
    apply(home.store(), 1).await.unwrap();
    // As another process would, while this one sleeps.
    let other = server.client(&database(server, &home).await).await;
    other.batch_execute("update chains set epoch = epoch + 1").await.unwrap();
    let refused = apply(home.store(), 2).await.unwrap_err();
    assert!(refused.is_retryable(), "{refused}");
    assert!(refused.to_string().contains("another process writes chain 1337"), "{refused}");
    assert_eq!(home.view().await.coverage(CHAIN).await.unwrap().ranges(), [(1, 1)]);
    // Nobody holds the lock: it is elected again, under an epoch of its own.
    apply(home.store(), 2).await.unwrap();
    assert_eq!(home.view().await.coverage(CHAIN).await.unwrap().ranges(), [(1, 2)]);
}

#[tokio::test]
async fn another_process_reads_hears_of_commits_and_takes_over_when_the_first_ends() {
    let Some(server) = server() else { return };
    let home = Home::new(Engine::Postgres).await;
    apply(home.store(), 1).await.unwrap();
    let second = Engine::Postgres.open(home.folder(), Choices::default()).await.unwrap();
    let mut told = second.subscribe(CHAIN);
    assert_eq!(*told.borrow_and_update(), 1);
    apply(home.store(), 2).await.unwrap();
    timeout(Duration::from_secs(20), told.changed()).await.unwrap().unwrap();
    assert_eq!(*told.borrow_and_update(), 2);
    let coverage = second.view().await.unwrap().coverage(CHAIN).await.unwrap();
    assert_eq!(coverage.ranges(), [(1, 2)]);
    // All sessions of the first end, as with its process.
    let before = second.version(CHAIN).await.unwrap();
    let name = database(server, &home).await;
    server.disconnect(&name).await;
    let mut tries = 0;
    while let Err(error) = apply(&second, 3).await {
        assert!(error.is_retryable() && tries < 5, "{error}");
        tries += 1;
    }
    assert_eq!(second.version(CHAIN).await.unwrap().seq, before.seq + 1);
}

#[tokio::test]
async fn a_server_that_goes_away_is_found_again() {
    let Some(server) = server() else { return };
    let home = Home::new(Engine::Postgres).await;
    apply(home.store(), 1).await.unwrap();
    let held = home.view().await;
    server.disconnect(&database(server, &home).await).await;
    let lost = held.block_summary(CHAIN, 1).await.unwrap_err();
    assert!(lost.is_retryable(), "{lost}");
    drop(held);
    let mut tries = 0;
    while let Err(error) = apply(home.store(), 2).await {
        assert!(error.is_retryable() && tries < 5, "{error}");
        tries += 1;
    }
    assert_eq!(home.view().await.coverage(CHAIN).await.unwrap().ranges(), [(1, 2)]);
    assert!(home.store().write_state().is_writable());
}

#[tokio::test]
async fn two_that_start_at_once_make_one_schema_and_a_newer_one_is_refused() {
    let Some(server) = server() else { return };
    let (admin, name) = (server.client("postgres").await, "migrated_twice");
    admin.batch_execute(&format!("create database {name}")).await.unwrap();
    let folder = scratch();
    let options = Options { url: server.url(name), ..Options::new(folder.path()) };
    let looks_only = Options { create: false, ..options.clone() };
    let Err(error) = Store::open(&looks_only, |_| ()).await else { panic!("it has no schema") };
    assert!(error.to_string().contains("headwater migrate"), "{error}");
    let (one, other) = tokio::join!(Store::open(&options, |_| ()), Store::open(&options, |_| ()));
    let (one, other) = (one.unwrap(), other.unwrap());
    assert_eq!(one.view().await.unwrap().chains().await.unwrap(), []);
    assert_eq!(other.api_keys().await.unwrap(), []);
    let client = server.client(name).await;
    let steps = client.query("select version from schema_versions", &[]).await.unwrap();
    assert_eq!(steps.len(), 4);
    client.batch_execute("insert into schema_versions (version) values (99)").await.unwrap();
    let Err(error) = Store::open(&options, |_| ()).await else { panic!("it is newer") };
    assert!(matches!(error, Error::UnknownFormat { found: 99, .. }), "{error}");
}

#[tokio::test]
async fn what_the_server_does_itself_is_refused_by_name() {
    if server().is_none() {
        return;
    }
    let home = Home::new(Engine::Postgres).await;
    let folder = scratch().path().join("backup");
    let request = store::BackupRequest { folder, taken_at: "now".into() };
    let error = home.store().backup(request, Default::default()).await.unwrap_err().to_string();
    assert!(error.contains("take a backup") && error.contains("pg_dump"), "{error}");
}

#[tokio::test]
async fn of_several_hosts_the_one_that_can_be_written_to_is_taken() {
    let Some(server) = server() else { return };
    let home = Home::new(Engine::Postgres).await;
    let name = database(server, &home).await;
    // A folder stands for a host where its slashes are written so.
    let socket = server.folder().display().to_string().replace('/', "%2F");
    let hosts = format!("headwater@%2Fnowhere,{socket}");
    let url = format!("postgres://{hosts}/{name}?target_session_attrs=read-write");
    let folder = scratch();
    let store = Store::open(&Options { url, ..Options::new(folder.path()) }, |_| ()).await.unwrap();
    apply(&store, 1).await.unwrap();
    assert_eq!(home.view().await.coverage(CHAIN).await.unwrap().ranges(), [(1, 1)]);
    let nobody = "postgres://me@%2Fnowhere,%2Fnor%2Fhere/x".to_owned();
    let options = Options { url: nobody, ..Options::new(folder.path()) };
    let Err(error) = Store::open(&options, |_| ()).await else { panic!("nobody is there") };
    assert!(error.is_retryable() && error.to_string().contains("/nowhere,/nor/here"), "{error}");
}
