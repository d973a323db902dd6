//! What only a chain with a database of its own can show: where it is, who keeps its journal, and that it can be away alone.

use model::chain::ChainId;
use store::{Change, Duty, Error, Options, Origin, Reader, Start, Store, StreamChange};

use crate::chain::*;
use crate::engine::{Choices, Engine, databases};
use crate::home::{Home, scratch};
use crate::postgres_server::{Server, server};

const OTHER: ChainId = ChainId(5);
const NAME: &str = "reader";

async fn apply(store: &Store, chain: ChainId, number: u64) -> Result<(), Error> {
    let block = store.prepare(chain, empty_block(number, 0));
    store.commit(chain, Change::apply(Origin::Head, vec![block])).await.map(|_| ())
}

/// One number out of one of a home's two databases.
async fn counted(server: &Server, home: &Home, database: usize, what: &str) -> i64 {
    let name = server.database(&databases(home.folder())[database]).await;
    let (client, count) = (server.client(&name).await, format!("select count(*) from {what}"));
    client.query_one(&count, &[]).await.unwrap().get(0)
}

async fn urls(server: &Server, home: &Home) -> [String; 2] {
    let [main, own] = databases(home.folder());
    [server.url(&server.database(&main).await), server.url(&server.database(&own).await)]
}

async fn refused(options: &Options) -> String {
    match Store::open(options, |_| ()).await {
        Ok(_) => panic!("it was opened"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn blocks_are_in_the_chains_own_database_and_all_else_is_in_the_main_one() {
    let Some(server) = server() else { return };
    let home = Home::new(Engine::Placed).await;
    let store = home.store();
    apply(store, CHAIN, 1).await.unwrap();
    apply(store, OTHER, 7).await.unwrap();
    let mut reader = Reader::open(store, NAME, CHAIN, Start::Block(1)).await.unwrap();
    let event = reader.next().await.unwrap().unwrap();
    reader.commit_streams(event.cursor, StreamChange::default()).await.unwrap();
    assert_eq!(store.view().await.unwrap().chains().await.unwrap(), [OTHER, CHAIN]);
    for (database, blocks) in [(0, "blocks where chain = 5"), (1, "blocks where chain = 1337")] {
        assert_eq!(counted(server, &home, database, blocks).await, 1);
        assert_eq!(counted(server, &home, database, "blocks").await, 1);
    }
    // The cursor, and what holds the chain's journal for it.
    let at = "readers where seq = 1 and next = 2";
    assert_eq!(counted(server, &home, 0, &format!("{at} and name = '{NAME}'")).await, 1);
    assert_eq!(counted(server, &home, 1, &format!("{at} and name like '%/{NAME}'")).await, 1);
    assert!(store.remove_reader(CHAIN, NAME).await.unwrap());
    for database in 0..2 {
        assert_eq!(counted(server, &home, database, "readers").await, 0);
    }
}

#[tokio::test]
async fn a_chain_is_not_looked_for_where_it_is_not() {
    let Some(server) = server() else { return };
    let home = Home::new(Engine::Placed).await;
    apply(home.store(), CHAIN, 1).await.unwrap();
    apply(home.store(), OTHER, 1).await.unwrap();
    let [main, own] = urls(server, &home).await;
    let folder = scratch();
    let options = |placed: &[(ChainId, &String)]| Options {
        url: main.clone(),
        placed: placed.iter().map(|(chain, url)| (*chain, (*url).clone())).collect(),
        ..Options::new(folder.path())
    };
    let told = refused(&options(&[])).await;
    assert!(told.contains("chain 1337 has a database of its own"), "{told}");
    let told = refused(&options(&[(CHAIN, &main)])).await;
    assert!(told.contains("chain 1337 has a database of its own"), "{told}");
    let told = refused(&options(&[(CHAIN, &own), (OTHER, &own)])).await;
    assert!(told.contains("chain 5 is in the database of store.url already"), "{told}");
    let elsewhere = server.url(&server.database(&folder.path().join("other")).await);
    let told = refused(&options(&[(CHAIN, &elsewhere)])).await;
    assert!(told.contains("chain 1337 was in another database"), "{told}");
    let odd = "postgres://me:geheim@db/x?sslmode=odd".to_owned();
    let told = refused(&options(&[(CHAIN, &odd)])).await;
    assert!(told.contains("[chains.NAME] store") && told.contains("1337"), "{told}");
    assert!(!told.contains("geheim"), "{told}");
    let embedded = Options { url: String::new(), ..options(&[(CHAIN, &own)]) };
    assert!(refused(&embedded).await.contains("store.url"));
    // The right one under another spelling is the same.
    let spelled = format!("{own}&application_name=other");
    let store = Store::open(&options(&[(CHAIN, &spelled)]), |_| ()).await.unwrap();
    assert_eq!(store.view().await.unwrap().coverage(CHAIN).await.unwrap().ranges(), [(1, 1)]);
}

#[tokio::test]
async fn the_journal_and_blocks_are_kept_for_a_reader_whose_cursor_is_elsewhere() {
    let Some(server) = server() else { return };
    let choices = Choices { journal_entries_min: 0, ..Choices::default() };
    let home = Home::with(Engine::Placed, choices).await;
    let store = home.store();
    for number in 1..=5 {
        home.apply_empty(number, 0).await;
    }
    let mut reader = Reader::open(store, NAME, CHAIN, Start::Block(1)).await.unwrap();
    for _ in 0..3 {
        step(&mut reader).await;
    }
    let pruned = store.prune_oldest(CHAIN, 5, 10).await.unwrap();
    let held = pruned.held_by.unwrap();
    assert_eq!((pruned.blocks, held.next_block), (3, 4));
    assert_eq!(held.reader, NAME);
    assert_eq!([step(&mut reader).await, step(&mut reader).await], [4, 5]);
    // It goes back with reverts, and the mark with it.
    home.revert(vec![5, 4]).await.unwrap();
    home.apply_empty(4, 1).await;
    assert_eq!(step(&mut reader).await, 5);
    let mark = "readers where next = 5 and name like '%/reader'";
    assert_eq!(counted(server, &home, 1, mark).await, 1);
    home.prune().await;
    // What it has not seen yet is there still.
    assert_eq!([step(&mut reader).await, step(&mut reader).await], [4, 4]);
    assert_eq!(step(&mut reader).await, 5);
    assert!(reader.next().await.unwrap().is_none());
}

/// The number of the block.
async fn step(reader: &mut Reader) -> u64 {
    let event = reader.next().await.unwrap().unwrap();
    reader.commit_streams(event.cursor, StreamChange::default()).await.unwrap();
    event.number
}

#[tokio::test]
async fn marks_that_a_crash_left_are_dropped_by_whoever_matches_streams_next() {
    let Some(server) = server() else { return };
    let mut home = Home::new(Engine::Placed).await;
    apply(home.store(), CHAIN, 1).await.unwrap();
    let kept = Reader::open(home.store(), "kept", CHAIN, Start::Block(1)).await.unwrap();
    drop(Reader::open(home.store(), "gone", CHAIN, Start::Block(1)).await.unwrap());
    drop(kept);
    let main = server.database(&databases(home.folder())[0]).await;
    let forget = "delete from readers where name = 'gone'";
    server.client(&main).await.batch_execute(forget).await.unwrap();
    // Another installation's is none of ours.
    let own = server.database(&databases(home.folder())[1]).await;
    let foreign = "insert into readers values (1337, '00000000/theirs', 1, 1, 1)";
    server.client(&own).await.batch_execute(foreign).await.unwrap();
    assert_eq!(counted(server, &home, 1, "readers").await, 3);
    home.reopen().await;
    let _leading = home.store().try_lead(Duty::Streams).await.unwrap().unwrap();
    assert_eq!(counted(server, &home, 1, "readers where name like '%/gone'").await, 0);
    assert_eq!(counted(server, &home, 1, "readers").await, 2);
}

#[tokio::test]
async fn a_chain_that_was_set_back_behind_its_reader_is_told() {
    let Some(server) = server() else { return };
    let home = Home::new(Engine::Placed).await;
    apply(home.store(), CHAIN, 1).await.unwrap();
    let mut reader = Reader::open(home.store(), NAME, CHAIN, Start::Block(1)).await.unwrap();
    let event = reader.next().await.unwrap().unwrap();
    reader.commit_streams(event.cursor, StreamChange::default()).await.unwrap();
    let own = server.database(&databases(home.folder())[1]).await;
    let back = "update chains set seq = 0; delete from journal; delete from blocks";
    server.client(&own).await.batch_execute(back).await.unwrap();
    let error = reader.next().await.unwrap_err();
    assert!(matches!(error, Error::ReaderAhead { seq: 1, newest: 0, .. }), "{error}");
}

#[tokio::test]
async fn a_database_that_is_away_keeps_only_its_own_chain_waiting() {
    let Some(server) = server() else { return };
    let mut home = Home::new(Engine::Placed).await;
    apply(home.store(), CHAIN, 1).await.unwrap();
    apply(home.store(), OTHER, 1).await.unwrap();
    let own = server.database(&databases(home.folder())[1]).await;
    let admin = server.client("postgres").await;
    let lock = |is_let_in| format!("alter database {own} with allow_connections {is_let_in}");
    for is_started_anew in [false, true] {
        admin.batch_execute(&lock(false)).await.unwrap();
        server.disconnect(&own).await;
        if is_started_anew {
            home.reopen().await;
        }
        let store = home.store();
        let view = store.view().await.unwrap();
        let error = view.coverage(CHAIN).await.unwrap_err();
        assert!(error.is_retryable(), "{error}");
        assert!(store.all_ready().await.is_err() || !is_started_anew);
        assert_eq!(view.coverage(OTHER).await.unwrap().blocks(), 1);
        assert_eq!(view.chains().await.unwrap(), [OTHER, CHAIN]);
        assert!(apply(store, CHAIN, 2).await.is_err());
        let mut written = store.subscribe(CHAIN);
        written.borrow_and_update();
        admin.batch_execute(&lock(true)).await.unwrap();
        let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while let Err(error) = home.store().view().await.unwrap().head(CHAIN).await {
            assert!(error.is_retryable() && std::time::Instant::now() < until, "{error}");
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }
    home.store().all_ready().await.unwrap();
    assert_eq!(home.view().await.coverage(CHAIN).await.unwrap().ranges(), [(1, 1)]);
}
