//! The Citus migration, without Citus: every statement of the engine is read from its source and must say which shard it means of
//! every distributed table, or stand in the list of those that ask all shards, with a reason; and every key of the schema
//! contains the distribution column, which Citus demands.

mod scan;
mod source;

use std::collections::{BTreeMap, BTreeSet};

use store::{Options, Store};

use crate::chain::*;
use crate::engine::Engine;
use crate::home::{Home, scratch};
use crate::postgres_server::server;

const MIGRATION: &str = include_str!("../../../src/postgres/schema/citus.sql");

/// What asks every shard of a table: the table, what the statement holds or its whole file, and why that is.
const ASKS_ALL: &[(&str, &str, &str)] = &[
    ("blocks", "check.rs", READS_ALL),
    ("transactions", "check.rs", READS_ALL),
    ("logs", "check.rs", READS_ALL),
    ("internal_transactions", "check.rs", READS_ALL),
    ("wallet_transactions", "check.rs", READS_ALL),
    ("wallet_counts", "check.rs", READS_ALL),
    ("facts", "check.rs", READS_ALL),
    ("trades", "check.rs", READS_ALL),
    ("pool_states", "check.rs", READS_ALL),
    ("pools", "check.rs", READS_ALL),
    ("told_pools", "check.rs", READS_ALL),
    ("tokens", "select address, packed", "`copy` reads everything"),
    ("blocks", "digest.rs", READS_ALL),
    ("wallet_transactions", "digest.rs", READS_ALL),
    ("facts", "digest.rs", READS_ALL),
    ("trades", "digest.rs", READS_ALL),
    ("pool_states", "digest.rs", READS_ALL),
    ("blocks", "and hash = $2", BY_HASH),
    ("transactions", "and hash = $2", BY_HASH),
    ("blocks", "and timestamp >= $2", BY_TIME),
    ("blocks", "and timestamp <= $2", BY_TIME),
    (
        "blocks",
        "not has_traces",
        "once in a while, by who completes traces; a partial index that is all but empty",
    ),
    ("blocks", "receipt_count < tx_count", "a partial index that is all but empty"),
    (
        "logs",
        "l.number between $2 and $3",
        "a range of blocks is on all shards: each looks into its own index",
    ),
    ("pools", "token0 = $3", BY_TOKEN),
    ("pools", "p.token0 = w.one", BY_TOKEN),
    ("pool_states", "number = $3", BY_BLOCK),
    ("pool_states", "number = any($3)", BY_BLOCK),
    ("told_pools", "number = any($3)", BY_BLOCK),
    ("trades", "number = any($3)", BY_BLOCK),
    ("facts", "write/generation.rs", SWEEPS),
    ("trades", "write/generation.rs", SWEEPS),
    ("pools", "write/generation.rs", SWEEPS),
    ("told_pools", "write/generation.rs", SWEEPS),
    ("pool_states", "write/generation.rs", SWEEPS),
];
const READS_ALL: &str = "`check` and `digest` read everything";
const BY_HASH: &str = "a hash says nothing of the number: one look into each shard's index";
const BY_TIME: &str = "a date says nothing of the number: one look into each shard's index";
const BY_TOKEN: &str = "which pools a token has: one look into each shard's index";
const BY_BLOCK: &str =
    "what a block wrote by pool or collection, when it is reverted, pruned or copied";
const SWEEPS: &str =
    "chooses rows of generations that nobody reads; the delete itself names its shards";

/// A table's column, and the table that it is beside.
fn distributed() -> BTreeMap<&'static str, (&'static str, &'static str)> {
    let calls = MIGRATION.lines().filter_map(|line| {
        let call = line.strip_prefix("select create_distributed_table(")?;
        let words: Vec<&str> = call.split('\'').skip(1).step_by(2).collect();
        let [table, column, beside] = words[..] else { panic!("{line}") };
        Some((table, (column, beside)))
    });
    calls.collect()
}

#[test]
fn every_statement_says_which_shard_it_means() {
    let tables = distributed();
    let statements = source::statements();
    assert!(statements.len() > 150, "only {} statements were found", statements.len());
    let (mut routed, mut lacking) = (0, Vec::new());
    let mut used = BTreeSet::new();
    for statement in &statements {
        for touch in scan::touches(&statement.sql, |table| tables.get(table).map(|it| it.0)) {
            assert!(
                !statement.sql.contains("ctid"),
                "shards have ctids of their own: {statement:?}"
            );
            if touch.is_routed {
                routed += 1;
                continue;
            }
            let known = ASKS_ALL.iter().position(|(table, part, _)| {
                *table == touch.table && (statement.sql.contains(part) || statement.file == *part)
            });
            match known {
                Some(place) => drop(used.insert(place)),
                None => {
                    lacking.push(format!("{} {}: {}", touch.table, statement.file, statement.sql))
                }
            }
        }
    }
    assert_eq!(lacking, Vec::<String>::new(), "without their distribution column");
    let unused: Vec<_> = (0..ASKS_ALL.len()).filter(|place| !used.contains(place)).collect();
    assert_eq!(unused.iter().map(|it| ASKS_ALL[*it]).collect::<Vec<_>>(), [], "no longer there");
    assert!(routed > 60, "only {routed} touches of distributed tables were found");
}

/// Stands in for Citus: notes what it is asked for, and refuses what Citus refuses.
const STAND_IN: &str = "create table asked (place regclass, part text, beside text);
    create function create_distributed_table(place regclass, part text, colocate_with text) returns void
    language plpgsql as $$
    begin
        if exists (select from pg_index i where i.indrelid = place and i.indisunique and not exists (
            select from unnest(i.indkey) as k (number) join pg_attribute a
            on a.attrelid = i.indrelid and a.attnum = k.number where a.attname = part)) then
            raise exception 'a key of % does not contain %', place, part;
        end if;
        if colocate_with <> 'none' and (select a.atttypid from pg_attribute a where a.attrelid = place
            and a.attname = part) is distinct from (select a.atttypid from asked x join pg_attribute a
            on a.attrelid = x.place and a.attname = x.part where x.place = colocate_with::regclass) then
            raise exception '% cannot be beside %', place, colocate_with;
        end if;
        insert into asked values (place, part, colocate_with);
    end $$";

#[tokio::test]
async fn the_migration_asks_for_what_citus_grants_and_all_goes_on() {
    let Some(server) = server() else { return };
    let folder = scratch();
    let options = |name: &str| Options { url: server.url(name), ..Options::new(folder.path()) };
    let name = server.database(&folder.path().join("spread")).await;
    let store = Store::open(&options(&name), |_| ()).await.unwrap();
    let chain = made(testkit::SimConfig::seeded(77), 30);
    let blocks = |store: &Store, numbers: std::ops::RangeInclusive<u64>| {
        let block = |number| {
            let mut block = verified(&chain, chain.block(number).unwrap().hash);
            block.facts = crate::made_facts::facts(block.block.hash, block.block.txs.len());
            store.prepare(CHAIN, block)
        };
        store::Change::apply(store::Origin::Import, numbers.map(block).collect())
    };
    store.commit(CHAIN, blocks(&store, 0..=15)).await.unwrap();
    assert_eq!(store.distribute().await.unwrap(), 0, "there is no Citus");
    let client = server.client(&name).await;
    client.batch_execute(STAND_IN).await.unwrap();
    for _ in 0..2 {
        assert_eq!(store.distribute().await.unwrap(), 1);
        let asked =
            client.query("select place::text, part from asked order by 1", &[]).await.unwrap();
        let asked: Vec<(String, String)> =
            asked.iter().map(|row| (row.get(0), row.get(1))).collect();
        let wanted = distributed().into_iter();
        let wanted: Vec<_> = wanted.map(|(table, (part, _))| (table.into(), part.into())).collect();
        assert_eq!(asked, wanted, "each once");
    }
    // What was partitioned is partitioned still, and writes as it did.
    store.commit(CHAIN, blocks(&store, 16..=30)).await.unwrap();
    store.commit(CHAIN, store::Change::revert(store::Origin::Head, vec![30])).await.unwrap();
    let plain = Home::new(Engine::Embedded).await;
    plain.commit(blocks(plain.store(), 0..=29)).await.unwrap();
    let view = store.view().await.unwrap();
    assert_eq!(view.digest(CHAIN).await.unwrap(), plain.digest().await);
    assert!(store.check(|_| ()).await.unwrap().holds());
}

#[tokio::test]
async fn what_is_not_distributed_is_said_to_be() {
    let Some(server) = server() else { return };
    let folder = scratch();
    let name = server.database(&folder.path().join("tables")).await;
    let tables = "select relname::text from pg_class where relkind in ('r', 'p') \
         and relnamespace = current_schema()::regnamespace and not relispartition";
    let rows = server.client(&name).await.query(tables, &[]).await.unwrap();
    let all: BTreeSet<String> = rows.iter().map(|row| row.get(0)).collect();
    let known: BTreeSet<String> = distributed()
        .keys()
        .copied()
        .chain(ON_THE_COORDINATOR.iter().map(|it| it.0))
        .map(str::to_owned)
        .collect();
    assert_eq!(all, known);
}

/// Tables that stay where they are, and why.
const ON_THE_COORDINATOR: &[(&str, &str)] = &[
    ("meta", "a few rows"),
    ("chains", "one row a chain, which every commit locks"),
    (
        "journal",
        "pruned to journal_entries_min; read by ranges of its sequence, in the transaction that locks the chain",
    ),
    ("readers", "a few rows, locked with the chain"),
    ("reader_rows", "written with readers"),
    ("api_keys", "a few rows, read as a whole"),
    ("leases", "locked by name; clocks and sessions are the coordinator's"),
    ("changes", "a few rows"),
    ("schema_versions", "a few rows"),
    ("streams", "read as a whole; with a chain in a database of its own they are in the main one"),
    (
        "stream_queues",
        "claimed with skip locked over all streams, which Citus does not do over shards",
    ),
    ("stream_addresses", "written with stream_queues"),
    ("stream_settings", "a row a tenant"),
    ("stream_matches", "written with stream_queues"),
    ("stream_calls", "rows live for moments"),
    ("deliveries", "written with stream_queues; pruned"),
    ("stream_attempts", "listed by tenant over all streams; pruned"),
    ("stream_failed", "written with stream_attempts"),
];
