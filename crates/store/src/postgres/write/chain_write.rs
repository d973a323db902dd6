//! One transaction that writes a chain.

use model::chain::ChainId;

use crate::Error;
use crate::journal::Version;
use crate::lease::Duty;
use crate::postgres::announce::{NOTIFY, note};
use crate::postgres::chain_row::{ChainRow, LOCK_CHAIN};
use crate::postgres::connection::Lent;
use crate::postgres::lease::writers_key;
use crate::postgres::numbers::sql;
use crate::postgres::store::Store;

/// A process that is paused in the middle of a commit is cut off, so that another can take the chain over; whoever does
/// finds the session by the lock.
fn begin(chain: ChainId) -> String {
    let key = writers_key(Duty::Chain(chain));
    format!(
        "begin; set local idle_in_transaction_session_timeout = '10s'; select pg_advisory_xact_lock_shared({key})"
    )
}

pub struct ChainWrite<'a> {
    store: &'a Store,
    pub connection: Lent,
    pub chain: ChainId,
    /// As it was, and as it will be.
    pub row: ChainRow,
}

impl<'a> ChainWrite<'a> {
    /// Waits for whoever writes the chain now.
    pub async fn begin(store: &'a Store, chain: ChainId) -> Result<Self, Error> {
        let inner = &store.inner;
        let epoch = inner.leases.epoch(&inner.pool, chain).await?;
        let mut connection = inner.pool.get().await?;
        connection.in_transaction = true;
        let rows = connection.begin_with(&begin(chain), LOCK_CHAIN, &[&sql(chain.0)]).await?;
        let row = rows.first().map(|row| ChainRow::read(row).1);
        match row.filter(|row| row.epoch == epoch) {
            Some(row) => Ok(ChainWrite { store, connection, chain, row }),
            None => {
                drop(connection);
                let duty = Duty::Chain(chain);
                Err(inner.leases.lose(&inner.pool.server, duty, epoch).await)
            }
        }
    }

    /// As a parameter.
    pub fn id(&self) -> i64 {
        sql(self.chain.0)
    }

    pub fn store(&self) -> &Store {
        self.store
    }

    /// Writes the chain's row and ends the transaction; those who wait are told.
    pub async fn finish(mut self) -> Result<Version, Error> {
        let version = self.row.version();
        self.row.write(&self.connection, self.chain).await?;
        self.connection.query(NOTIFY, &[&note(self.chain, version.seq)]).await?;
        self.connection.commit().await?;
        self.store.inner.newest.tell(self.chain, version.seq);
        Ok(version)
    }
}
