//! Who writes a chain: the process that holds the chain's advisory lock, under an epoch that every commit checks.
//!
//! The lock goes with its connection, so a process that dies makes room at once. One that was only paused finds another
//! epoch in the chain's row when it goes on, and cannot write.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use model::chain::ChainId;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

use super::connection::Connection;
use super::migrate::{add_chain, lock_key};
use super::numbers::stored;
use super::server::Server;
use crate::Error;

/// How long one waits for whoever held the chain before: a process that ends takes a moment.
const TAKEOVER_WAIT: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

#[derive(Default)]
pub struct Leases(Mutex<Held>);

#[derive(Default)]
struct Held {
    /// Holds the locks.
    connection: Option<Connection>,
    epochs: HashMap<ChainId, i64>,
}

impl Leases {
    /// The epoch under which this process may write the chain. Waits a while for whoever holds it.
    pub async fn epoch(&self, server: &Arc<Server>, chain: ChainId) -> Result<i64, Error> {
        let until = Instant::now() + TAKEOVER_WAIT;
        loop {
            if let Some(epoch) = self.try_epoch(server, chain).await? {
                return Ok(epoch);
            }
            if Instant::now() >= until {
                return Err(taken(server, chain));
            }
            // Without the lock of the others: they may be about other chains.
            sleep(LOOK_AGAIN).await;
        }
    }

    async fn try_epoch(&self, server: &Arc<Server>, chain: ChainId) -> Result<Option<i64>, Error> {
        let mut held = self.0.lock().await;
        if held.connection.as_ref().is_none_or(Connection::is_closed) {
            // The locks went with it.
            held.epochs.clear();
            held.connection = Some(Connection::open(server).await?);
        }
        let Held { connection: Some(connection), epochs } = &mut *held else { return Ok(None) };
        if let Some(epoch) = epochs.get(&chain) {
            return Ok(Some(*epoch));
        }
        let elected = elect(connection, chain).await?;
        epochs.extend(elected.map(|epoch| (chain, epoch)));
        Ok(elected)
    }

    /// Somebody else took the chain over.
    pub async fn lose(&self, server: &Server, chain: ChainId) -> Error {
        let mut held = self.0.lock().await;
        held.epochs.remove(&chain);
        if let Some(connection) = &held.connection {
            let key = lock_key(&format!("chain/{}", chain.0));
            // If it fails, the connection is gone, and the lock with it.
            let _ = connection.query("select pg_advisory_unlock($1)", &[&key]).await;
        }
        taken(server, chain)
    }
}

fn taken(server: &Server, chain: ChainId) -> Error {
    Error::Paused {
        path: server.label().clone(),
        reason: format!("another process writes chain {}", chain.0),
        advice: "this one takes over when that one ends".into(),
    }
}

/// None while another process holds the chain.
async fn elect(connection: &Connection, chain: ChainId) -> Result<Option<i64>, Error> {
    let (number, key) = (stored("chain", chain.0)?, lock_key(&format!("chain/{}", chain.0)));
    let row = connection.first("select pg_try_advisory_lock($1)", &[&key]).await?;
    if !row.is_some_and(|row| row.get(0)) {
        return Ok(None);
    }
    add_chain(connection, chain.0).await?;
    let begin = "insert into chains (chain, epoch) values ($1, 1) \
         on conflict (chain) do update set epoch = chains.epoch + 1 returning epoch";
    let row = connection.first(begin, &[&number]).await?;
    row.map(|row| Some(row.get(0))).ok_or(Error::Broken { what: "epoch of a chain" })
}
