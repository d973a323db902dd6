//! Brings the database's schema up to this build's, one numbered step after the other, never back.
//!
//! Two processes that start at the same time wait for each other at an advisory lock; the second finds nothing to do.

use super::connection::Connection;
use super::numbers::u32_at;
use crate::Error;
use crate::options::UpgradeProgress;

/// By their number, from 1.
const STEPS: [&str; 4] = [
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
];
const NEWEST: u32 = STEPS.len() as u32;

/// Tables that are partitioned by chain.
pub const BY_CHAIN: [&str; 11] = [
    "blocks",
    "transactions",
    "logs",
    "internal_transactions",
    "wallet_transactions",
    "wallet_counts",
    "facts",
    "trades",
    "pool_states",
    "pools",
    "told_pools",
];

/// What is locked, as a number that other programs in the database will not take.
pub fn lock_key(what: &str) -> i64 {
    xxhash_rust::xxh3::xxh3_64(format!("headwater/{what}").as_bytes()) as i64
}

/// The version that was found; all later steps are done when this returns. Where `may_change` is false, a schema
/// that is older or absent is an error.
pub async fn migrate(
    connection: &Connection,
    label: &std::path::Path,
    may_change: bool,
    progress: &(dyn Fn(UpgradeProgress) + Send + Sync),
) -> Result<u32, Error> {
    let key = lock_key("migrate");
    connection.query("select pg_advisory_lock($1)", &[&key]).await?;
    let done = locked(connection, label, may_change, progress).await;
    // Where this fails, the connection is gone, and the lock with it.
    let _ = connection.query("select pg_advisory_unlock($1)", &[&key]).await;
    done
}

async fn locked(
    connection: &Connection,
    label: &std::path::Path,
    may_change: bool,
    progress: &(dyn Fn(UpgradeProgress) + Send + Sync),
) -> Result<u32, Error> {
    let found = version(connection).await?;
    if found > NEWEST {
        let path = label.to_owned();
        return Err(Error::UnknownFormat { path, found, oldest: 0, newest: NEWEST });
    }
    if found < NEWEST && !may_change {
        return Err(Error::Engine {
            action: "use the schema",
            path: label.to_owned(),
            source: format!("it is at version {found}, this build needs {NEWEST}").into(),
            advice: "run `headwater migrate`, or start the server, which does the same",
            retryable: false,
        });
    }
    for (number, step) in (1..).zip(STEPS).filter(|(number, _)| *number > found) {
        connection.run(&one_step(number, step)).await?;
        let (done, total) = (u64::from(number - found), u64::from(NEWEST - found));
        progress(UpgradeProgress { from_format: found, to_format: NEWEST, done, total });
    }
    Ok(found)
}

fn one_step(number: u32, step: &str) -> String {
    format!(
        "begin; create table if not exists schema_versions (version integer primary key, \
         applied_at timestamptz not null default now()); {step}\n\
         insert into schema_versions (version) values ({number}); commit"
    )
}

/// 0 where there is none yet.
async fn version(connection: &Connection) -> Result<u32, Error> {
    let known = "select to_regclass('schema_versions') is not null";
    let is_there = connection.first(known, &[]).await?.is_some_and(|row| row.get(0));
    if !is_there {
        return Ok(0);
    }
    let newest = "select coalesce(max(version), 0) from schema_versions";
    Ok(connection.first(newest, &[]).await?.map_or(0, |row| u32_at(&row, 0)))
}

/// Makes a chain's partitions where they are missing. Attached, not created in place: others read on meanwhile.
pub async fn add_chain(connection: &Connection, chain: u64) -> Result<(), Error> {
    let name = format!("blocks_{chain}");
    let known = "select to_regclass($1) is not null";
    if connection.first(known, &[&name]).await?.is_some_and(|row| row.get(0)) {
        return Ok(());
    }
    let mut steps = format!("begin; select pg_advisory_xact_lock({});", lock_key("partitions"));
    for table in BY_CHAIN {
        steps += &format!(
            "create table if not exists {table}_{chain} (like {table} including all); \
             alter table {table} attach partition {table}_{chain} for values in ({chain});"
        );
    }
    // Whoever was quicker made all of them.
    match connection.run(&format!("{steps} commit")).await {
        Ok(()) => Ok(()),
        Err(error) => {
            connection.run("rollback").await?;
            let is_there = connection.first(known, &[&name]).await?;
            if is_there.is_some_and(|row| row.get(0)) { Ok(()) } else { Err(error) }
        }
    }
}
