//! One connection with its prepared statements, and the pool that lends connections out.
//!
//! Statements are prepared once for each connection and known by their text. A connection that comes back in the
//! middle of a transaction is told to roll it back at once, so that nothing is held on the server.

use std::collections::HashMap;
use std::future::Future;
use std::ops::Deref;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Waker};
use std::time::Duration;

use futures_util::{Stream, TryStreamExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, CopyInSink, Row, Statement};

use super::gate::{DatabaseId, Gate};
use super::server::Server;
use crate::Error;
use crate::options::UpgradeProgress;

/// Whoever finds no free connection in this time gets an error.
const WAIT: Duration = Duration::from_secs(10);

pub type Param<'a> = &'a (dyn ToSql + Sync);

/// Rows that come one by one.
pub type Rows<'a> = Pin<Box<dyn Stream<Item = Result<Row, Error>> + Send + 'a>>;

pub struct Connection {
    client: Client,
    server: Arc<Server>,
    statements: Mutex<HashMap<&'static str, Statement>>,
}

impl Connection {
    pub async fn open(server: &Arc<Server>) -> Result<Self, Error> {
        let client = server.connect().await?;
        Ok(Connection::of(client, server))
    }

    pub fn of(client: Client, server: &Arc<Server>) -> Self {
        Connection { client, server: server.clone(), statements: Mutex::default() }
    }

    pub fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    pub async fn prepared(&self, sql: &'static str) -> Result<Statement, Error> {
        let known =
            self.statements.lock().unwrap_or_else(PoisonError::into_inner).get(sql).cloned();
        if let Some(statement) = known {
            return Ok(statement);
        }
        let statement = self.client.prepare(sql).await.map_err(|e| self.failed("read", e))?;
        let mut statements = self.statements.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(statements.entry(sql).or_insert(statement).clone())
    }

    pub async fn query(&self, sql: &'static str, params: &[Param<'_>]) -> Result<Vec<Row>, Error> {
        let statement = self.prepared(sql).await?;
        self.client.query(&statement, params).await.map_err(|e| self.failed("read", e))
    }

    /// The first row, if there is one.
    pub async fn first(
        &self,
        sql: &'static str,
        params: &[Param<'_>],
    ) -> Result<Option<Row>, Error> {
        Ok(self.query(sql, params).await?.into_iter().next())
    }

    /// Rows as they come: for those that may be very many.
    pub async fn stream<'a>(
        &'a self,
        sql: &'static str,
        params: &[Param<'_>],
    ) -> Result<Rows<'a>, Error> {
        let statement = self.prepared(sql).await?;
        let params = params.iter().copied();
        let rows = self.client.query_raw(&statement, params).await;
        let rows = rows.map_err(|error| self.failed("read", error))?;
        Ok(Box::pin(rows.map_err(|error| self.failed("read", error))))
    }

    /// Says how many rows it was.
    pub async fn execute(&self, sql: &'static str, params: &[Param<'_>]) -> Result<u64, Error> {
        let statement = self.prepared(sql).await?;
        self.client.execute(&statement, params).await.map_err(|e| self.failed("write", e))
    }

    /// Statements without parameters, each in its turn.
    pub async fn run(&self, sql: &str) -> Result<(), Error> {
        self.client.batch_execute(sql).await.map_err(|e| self.failed("write", e))
    }

    pub async fn copy_in(&self, sql: &str) -> Result<CopyInSink<bytes::Bytes>, Error> {
        self.client.copy_in(sql).await.map_err(|e| self.failed("write", e))
    }

    /// Begins a transaction and asks its first question in the same breath: the snapshot is of now.
    pub async fn begin_with(
        &self,
        begin: &str,
        sql: &'static str,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, Error> {
        let statement = self.prepared(sql).await?;
        let begun = self.client.batch_execute(begin);
        let asked = self.client.query(&statement, params);
        let (begun, rows) = tokio::join!(begun, asked);
        begun.map_err(|e| self.failed("read", e))?;
        rows.map_err(|e| self.failed("read", e))
    }

    pub fn failed(&self, action: &'static str, error: tokio_postgres::Error) -> Error {
        self.server.failed(action, error)
    }
}

/// Connections that nobody uses.
type Idle = Arc<Mutex<Vec<Arc<Connection>>>>;

pub struct Pool {
    pub server: Arc<Server>,
    gate: Gate,
    idle: Idle,
    free: Arc<Semaphore>,
}

impl Pool {
    pub fn new(server: Arc<Server>, gate: Gate, connections_max: usize) -> Self {
        let free = Arc::new(Semaphore::new(connections_max.max(2)));
        Pool { server, gate, idle: Arc::default(), free }
    }

    /// Waits for the database to be usable; tells how far an upgrade of it is.
    pub async fn open(
        &self,
        progress: &(dyn Fn(UpgradeProgress) + Send + Sync),
    ) -> Result<DatabaseId, Error> {
        self.gate.pass_with(&self.server, progress).await
    }

    /// The same for whoever does not care which database it is.
    pub async fn ready(&self) -> Result<DatabaseId, Error> {
        self.gate.pass(&self.server).await
    }

    pub async fn get(&self) -> Result<Lent, Error> {
        self.ready().await?;
        let waited = tokio::time::timeout(WAIT, self.free.clone().acquire_owned()).await;
        let Ok(Ok(permit)) = waited else {
            return Err(Error::Engine {
                action: "get a free connection",
                path: self.server.label().clone(),
                source: format!("all were in use for {} s", WAIT.as_secs()).into(),
                advice: "raise store.connections_max, or ask for less at once",
                retryable: true,
            });
        };
        loop {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            match idle {
                Some(known) if known.is_closed() => {}
                Some(known) => return Ok(self.lent(known, permit)),
                None => {
                    let fresh = Connection::open(&self.server).await?;
                    return Ok(self.lent(Arc::new(fresh), permit));
                }
            }
        }
    }

    fn lent(&self, connection: Arc<Connection>, permit: OwnedSemaphorePermit) -> Lent {
        Lent { connection, idle: self.idle.clone(), in_transaction: false, _permit: permit }
    }
}

/// A connection that goes back into the pool when it is dropped.
pub struct Lent {
    connection: Arc<Connection>,
    idle: Idle,
    /// Whether a transaction is to be rolled back then.
    pub in_transaction: bool,
    _permit: OwnedSemaphorePermit,
}

impl Lent {
    pub async fn begin(&mut self) -> Result<(), Error> {
        self.in_transaction = true;
        self.run("begin").await
    }

    pub async fn commit(&mut self) -> Result<(), Error> {
        self.run("commit").await?;
        self.in_transaction = false;
        Ok(())
    }
}

impl Deref for Lent {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if self.connection.is_closed() {
            return;
        }
        if self.in_transaction {
            // The first look at it sends the message; its answer is for nobody.
            let rollback = pin!(self.connection.client.batch_execute("rollback"));
            let _ = rollback.poll(&mut Context::from_waker(Waker::noop()));
        }
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(self.connection.clone());
    }
}

/// Types of the columns of a COPY.
pub type Columns = &'static [Type];
