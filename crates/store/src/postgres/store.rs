//! A store in a PostgreSQL database: how it is opened, and what belongs to no chain.

use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use alloy_primitives::Address;
use model::chain::ChainId;
use model::token::Token;
use tokio::sync::watch;

use super::announce::{Newest, listen};
use super::connection::{Lent, Param, Pool};
use super::gate::{AdmitFn, DatabaseId, Gate};
use super::inner::Inner;
use super::lease::{Leases, Term, check_term, keep_renewing};
use super::numbers::{sql, text};
use super::read::View;
use super::replicas::Replicas;
use super::server::Server;
use crate::Error;
use crate::embedded::codec::Packed;
use crate::journal::Version;
use crate::lease::Duty;
use crate::options::{Options, TableSize, UpgradeProgress};
use crate::write_state::WriteState;

const PUT_TOKEN: &str = "insert into tokens (chain, address, name, symbol, decimals, packed) values ($1, $2, $3, $4, $5, $6) \
     on conflict (chain, address) do update set name = excluded.name, symbol = excluded.symbol, \
     decimals = excluded.decimals, packed = excluded.packed";
pub const PUT_META: &str =
    "insert into meta (key, value) values ($1, $2) on conflict (key) do nothing";
pub const META: &str = "select value from meta where key = $1";
const VERSION: &str = "select seq, generation from chains where chain = $1";
/// Partitions count as their table. Of one that was never looked at, rows are guessed by its size.
const SIZES: &str = "select coalesce(p.relname, c.relname)::text, sum(pg_total_relation_size(c.oid))::bigint, \
     sum(case when c.reltuples < 0 then pg_relation_size(c.oid) / 100 else c.reltuples end)::bigint from pg_class c left join pg_inherits i on i.inhrelid = c.oid \
     left join pg_class p on p.oid = i.inhparent \
     where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace group by 1";

/// Tables as `table_sizes` names them.
const TABLES: [&str; 32] = [
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
    "carried_pools",
    "tokens",
    "chains",
    "meta",
    "journal",
    "readers",
    "reader_rows",
    "api_keys",
    "streams",
    "stream_queues",
    "stream_addresses",
    "stream_settings",
    "stream_matches",
    "deliveries",
    "stream_attempts",
    "stream_failed",
    "leases",
    "stream_calls",
    "changes",
    "schema_versions",
    "other",
];

/// Cheap to clone.
#[derive(Clone)]
pub struct Store {
    pub inner: Arc<Inner>,
    /// Under which term this handle writes of streams, if under one.
    term: Option<(Duty, i64)>,
}

impl Store {
    pub async fn open(
        options: &Options,
        progress: &(dyn Fn(UpgradeProgress) + Send + Sync),
    ) -> Result<Self, Error> {
        if options.create {
            let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&options.path);
            made.map_err(|source| Error::Folder { path: options.path.clone(), source })?;
        }
        let (store, closed) = Store::new(options, None)?;
        let inner = &store.inner;
        inner.pool.open(progress).await?;
        inner.look().await?;
        inner.measure().await?;
        store.watch(closed);
        Ok(store)
    }

    /// One that need not be reachable yet: what is asked of it waits for its first connection, or fails.
    pub fn open_late(options: &Options, admit: AdmitFn) -> Result<Self, Error> {
        let (store, closed) = Store::new(options, Some(admit))?;
        store.watch(closed);
        Ok(store)
    }

    fn new(
        options: &Options,
        admit: Option<AdmitFn>,
    ) -> Result<(Self, watch::Receiver<()>), Error> {
        let server = Arc::new(Server::new(&options.url, options.durable)?);
        let (is_open, closed) = watch::channel(());
        let gate = Gate::new(options.create, admit);
        let inner = Arc::new(Inner {
            pool: Pool::new(server, gate, options.connections_max),
            replicas: Replicas::new(options)?,
            folder: options.path.clone(),
            journal_entries_min: options.journal_entries_min,
            leases: Leases::default(),
            newest: Newest::default(),
            decoders: Default::default(),
            state: watch::Sender::new(WriteState::Writable),
            disk_bytes: Default::default(),
            _is_open: is_open,
        });
        Ok((Store { inner, term: None }, closed))
    }

    /// Until the last handle is gone.
    fn watch(&self, closed: watch::Receiver<()>) {
        keep_renewing(&self.inner, closed.clone());
        listen(&self.inner, closed);
    }

    /// Which database it is, once it can be used.
    pub async fn ready(&self) -> Result<DatabaseId, Error> {
        self.inner.pool.ready().await
    }

    /// The same, and whoever subscribes knows where chains stand.
    pub async fn look(&self) -> Result<(), Error> {
        self.inner.look().await?;
        self.inner.measure().await
    }

    pub async fn try_lead(&self, duty: Duty) -> Result<Option<Term>, Error> {
        self.inner.leases.try_lead(&self.inner, duty).await
    }

    /// The same store, for whoever has a duty.
    pub fn under(&self, term: &Term) -> Self {
        Store { inner: self.inner.clone(), term: Some((term.duty, term.epoch)) }
    }

    /// 0 where this handle is under no term.
    pub fn epoch(&self) -> i64 {
        self.term.map_or(0, |(_, epoch)| epoch)
    }

    /// A transaction for rows of streams, refused where another process has them by now.
    pub async fn begin(&self) -> Result<Lent, Error> {
        let connection = self.inner.begin().await?;
        if let Some(term) = self.term {
            check_term(&connection, &self.inner.pool.server, term).await?;
        }
        Ok(connection)
    }

    pub async fn view(&self) -> Result<View, Error> {
        View::new(&self.inner).await
    }

    pub async fn version(&self, chain: ChainId) -> Result<Version, Error> {
        let connection = self.inner.pool.get().await?;
        let row = connection.first(VERSION, &[&sql(chain.0)]).await?;
        let version = |row: tokio_postgres::Row| Version {
            seq: row.get::<_, i64>(0) as u64,
            generation: row.get::<_, i16>(1) as u8,
        };
        Ok(row.map(version).unwrap_or_default())
    }

    pub fn subscribe(&self, chain: ChainId) -> watch::Receiver<u64> {
        self.inner.newest.subscribe(chain)
    }

    pub async fn put_token(
        &self,
        chain: ChainId,
        address: Address,
        token: &Token,
    ) -> Result<(), Error> {
        let mut packed = Vec::with_capacity(64);
        token.pack(&mut packed);
        let (name, symbol) = (token.name.as_deref().map(text), token.symbol.as_deref().map(text));
        let decimals = token.decimals.map(i16::from);
        let (id, address) = (sql(chain.0), address.as_slice());
        let params: [Param; 6] = [&id, &address, &name, &symbol, &decimals, &packed];
        let connection = self.inner.pool.get().await?;
        let put = connection.execute(PUT_TOKEN, &params).await.map(|_| ());
        // Who asked for it has it already.
        put.or_else(|error| if error.is_retryable() { Ok(()) } else { Err(error) })
    }

    pub async fn known_secret(&self, name: &str) -> Result<Option<[u8; 32]>, Error> {
        let connection = self.inner.pool.get().await?;
        let found = connection.first(META, &[&format!("secret/{name}")]).await?;
        let secret = found.map(|row| row.get::<_, &[u8]>(0).try_into());
        secret.transpose().map_err(|_| Error::Broken { what: "secret" })
    }

    /// Of two processes that make one at the same time, both get the first.
    pub async fn put_secret(&self, name: &str, secret: [u8; 32]) -> Result<[u8; 32], Error> {
        let connection = self.inner.pool.get().await?;
        let key = format!("secret/{name}");
        connection.execute(PUT_META, &[&key, &secret.as_slice()]).await?;
        drop(connection);
        self.known_secret(name).await?.ok_or(Error::Broken { what: "secret" })
    }

    pub async fn secrets(&self) -> Result<Vec<(String, [u8; 32])>, Error> {
        let all = "select substr(key, 8), value from meta where key like 'secret/%' order by key";
        let rows = self.inner.pool.get().await?.query(all, &[]).await?;
        let secret = |row: &tokio_postgres::Row| {
            let secret = row.get::<_, &[u8]>(1).try_into();
            Ok((row.get(0), secret.map_err(|_| Error::Broken { what: "secret" })?))
        };
        rows.iter().map(secret).collect()
    }

    pub async fn table_sizes(&self) -> Result<Vec<TableSize>, Error> {
        let rows = self.inner.pool.get().await?.query(SIZES, &[]).await?;
        let size = |row: &tokio_postgres::Row| {
            let name: &str = row.get(0);
            let name = TABLES.into_iter().find(|table| *table == name).unwrap_or("other");
            let (bytes, rows): (i64, i64) = (row.get(1), row.get(2));
            TableSize { name, disk_bytes: bytes.max(0) as u64, rows: rows.max(0) as u64 }
        };
        Ok(rows.iter().map(size).collect())
    }

    pub fn disk_bytes(&self) -> u64 {
        self.inner.disk_bytes.load(Ordering::Relaxed)
    }

    /// A write that waits for the disk takes all before it along, also those that did not wait.
    pub async fn flush(&self) -> Result<(), Error> {
        let flush = "begin; set local synchronous_commit = on; \
             insert into meta (key, value) values ('flushed', '') on conflict (key) do update set value = ''; commit";
        self.inner.pool.get().await?.run(flush).await?;
        self.inner.measure().await
    }

    /// Brings the server's statistics up to date and makes room of removed rows usable again.
    pub async fn compact(&self) -> Result<(), Error> {
        let known = TABLES.into_iter().filter(|table| *table != "other");
        let tables: Vec<&str> = known.collect();
        let connection = self.inner.pool.get().await?;
        connection.run(&format!("vacuum (analyze) {}", tables.join(", "))).await?;
        self.inner.measure().await
    }

    pub fn write_state(&self) -> WriteState {
        self.inner.state.borrow().clone()
    }

    pub fn watch_write_state(&self) -> watch::Receiver<WriteState> {
        self.inner.state.subscribe()
    }

    pub fn folder(&self) -> &Path {
        &self.inner.folder
    }
}

/// What this engine does not offer, by the name of the call.
pub fn not_offered(call: &'static str, advice: &'static str) -> Error {
    Error::Engine {
        action: call,
        path: "store.url".into(),
        source: "the postgres engine does not offer this".into(),
        advice,
        retryable: false,
    }
}
