//! What all handles of a store share.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use model::chain::ChainId;
use tokio::sync::watch;

use super::announce::{ALL_CHANGES, Newest};
use super::chain_row::{ALL_CHAINS, ChainRow};
use super::connection::{Lent, Pool};
use super::lease::Leases;
use super::numbers::u64_at;
use super::replicas::Replicas;
use crate::Error;
use crate::generations::Fingerprint;
use crate::write_state::WriteState;

pub struct Inner {
    pub pool: Pool,
    pub replicas: Replicas,
    /// Where this installation keeps files of its own.
    pub folder: PathBuf,
    pub journal_entries_min: u64,
    pub leases: Leases,
    pub newest: Newest,
    /// Who finds the facts that this process commits, as far as it was said.
    pub decoders: Mutex<HashMap<ChainId, Fingerprint>>,
    pub state: watch::Sender<WriteState>,
    /// As it was measured last.
    pub disk_bytes: AtomicU64,
    /// Its end tells the listener to stop.
    pub _is_open: watch::Sender<()>,
}

impl Inner {
    /// Reads where all chains stand, and tells those who wait.
    pub async fn look(&self) -> Result<(), Error> {
        let connection = self.pool.get().await?;
        for row in connection.query(ALL_CHAINS, &[]).await? {
            let (chain, state) = ChainRow::read(&row);
            self.newest.tell(chain, state.seq);
        }
        for row in connection.query(ALL_CHANGES, &[]).await? {
            self.newest.tell_changed(row.get(0), u64_at(&row, 1));
        }
        Ok(())
    }

    pub async fn measure(&self) -> Result<(), Error> {
        let connection = self.pool.get().await?;
        let size = "select pg_database_size(current_database())";
        if let Some(row) = connection.first(size, &[]).await? {
            self.disk_bytes.store(row.get::<_, i64>(0).max(0) as u64, Ordering::Relaxed);
        }
        Ok(())
    }

    pub fn decoder(&self, chain: ChainId) -> Fingerprint {
        let decoders = self.decoders.lock().unwrap_or_else(PoisonError::into_inner);
        decoders.get(&chain).copied().unwrap_or_default()
    }

    /// Says how a write went to those who watch over it.
    pub fn wrote<T>(&self, done: Result<T, Error>) -> Result<T, Error> {
        let state = match &done {
            Err(Error::Engine { retryable: true, .. } | Error::DiskFull { .. }) => {
                let reason = done.as_ref().err().map(ToString::to_string).unwrap_or_default();
                WriteState::Paused { reason, advice: "it goes on by itself".into() }
            }
            // Refusals say nothing of the server.
            _ => WriteState::Writable,
        };
        self.state.send_if_modified(|known| {
            let is_new = *known != state;
            *known = state;
            is_new
        });
        done
    }

    /// A transaction for rows that belong to no chain.
    pub async fn begin(&self) -> Result<Lent, Error> {
        let mut connection = self.pool.get().await?;
        connection.begin().await?;
        Ok(connection)
    }
}
