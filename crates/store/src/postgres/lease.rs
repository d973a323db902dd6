//! Which process has a duty: the one whose session holds the duty's advisory lock, under an epoch that every write checks.
//!
//! The lock goes with its session, so a process that dies makes room at once. One that hangs keeps its session: it is known
//! by a lease that it does not renew, its sessions are ended by whoever takes over, and the epoch that the next one
//! raised refuses whatever it writes when it goes on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use model::chain::ChainId;
use tokio::sync::{Mutex, watch};
use tokio::time::{Instant, sleep, timeout};

use super::connection::{Connection, Param, Pool};
use super::inner::Inner;
use super::migrate::{add_chain, lock_key};
use super::numbers::stored;
use super::server::Server;
use crate::Error;
use crate::lease::Duty;

/// How long one waits for whoever held the chain before: a process that ends takes a moment.
const TAKEOVER_WAIT: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(20);
const RENEW_EVERY: Duration = Duration::from_secs(1);
/// A session that does not answer within this is given up, before others take its owner for hung.
const RENEW_WITHIN: Duration = Duration::from_secs(2);
/// How often one looks whether a session that was ended is gone.
const LOOKS: usize = 20;

/// Whoever gets the lock counts as alive from then on, before it has a term.
const TRY_LOCK: &str = "with lock as materialized (select pg_try_advisory_lock($1) as is_mine), \
     alive as (update leases set renewed_at = clock_timestamp() from lock where name = $2 and lock.is_mine) \
     select is_mine from lock";
const UNLOCK: &str = "select pg_advisory_unlock($1)";
const IS_HUNG: &str =
    "select from leases where name = $1 and renewed_at < clock_timestamp() - interval '3500ms'";
/// A process that waits for its client in the middle of a COPY is ended by no timeout of the server's.
const END_SESSIONS: &str = "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objsubid = 1 \
     and database = (select oid from pg_database where datname = current_database()) \
     and ((classid::bigint << 32) | objid::bigint) = any($1) and pid <> pg_backend_pid()";
const RENEW: &str = "update leases set renewed_at = clock_timestamp() where name = any($1) and holder = $2 returning name";
/// Against those who hold the row while they write under the term before.
const LOCK_LEASE: &str = "select from leases where name = $1 for update";
const BEGIN_TERM: &str = "insert into leases (name, epoch, holder, renewed_at) values ($1, 1, $2, clock_timestamp()) \
     on conflict (name) do update set epoch = leases.epoch + 1, holder = excluded.holder, \
     renewed_at = excluded.renewed_at returning epoch";
const BEGIN_CHAIN: &str = "insert into chains (chain, epoch) values ($1, 1) \
     on conflict (chain) do update set epoch = chains.epoch + 1 returning epoch";
const CHECK_TERM: &str =
    "select epoch, pg_advisory_xact_lock_shared($2) from leases where name = $1 for key share";

/// Held by every transaction that writes under a duty, so that those of a process that hangs can be found.
pub fn writers_key(duty: Duty) -> i64 {
    lock_key(&format!("writes/{}", duty.name()))
}

fn duty_key(duty: Duty) -> i64 {
    lock_key(&duty.name())
}

pub struct Leases {
    /// Names this process to the others.
    holder: String,
    /// One election at a time.
    electing: Mutex<()>,
    held: StdMutex<Held>,
}

#[derive(Default)]
struct Held {
    /// Holds the locks, and does nothing else: nothing may keep it from renewing.
    session: Option<Arc<Connection>>,
    terms: HashMap<Duty, Elected>,
}

#[derive(Clone)]
struct Elected {
    epoch: i64,
    ended: watch::Sender<bool>,
}

/// The right to a duty under one epoch. Given up when it is dropped.
pub struct Term {
    pub duty: Duty,
    pub epoch: i64,
    ended: watch::Receiver<bool>,
    inner: Weak<Inner>,
}

impl Term {
    pub async fn ended(&mut self) {
        // Nobody who could say so is left where this fails.
        let _ = self.ended.wait_for(|is_over| *is_over).await;
    }
}

impl Drop for Term {
    fn drop(&mut self) {
        let (inner, duty, epoch) = (self.inner.clone(), self.duty, self.epoch);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            if let Some(inner) = inner.upgrade() {
                inner.leases.end(duty, epoch).await;
            }
        });
    }
}

impl Default for Leases {
    fn default() -> Self {
        let holder = format!("{:032x}", rand::random::<u128>());
        Leases { holder, electing: Mutex::default(), held: StdMutex::default() }
    }
}

impl Leases {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The epoch under which this process may write the chain. Waits a while for whoever holds it.
    pub async fn epoch(&self, pool: &Pool, chain: ChainId) -> Result<i64, Error> {
        let until = Instant::now() + TAKEOVER_WAIT;
        loop {
            if let Some(elected) = self.try_elect(pool, Duty::Chain(chain)).await? {
                return Ok(elected.epoch);
            }
            if Instant::now() >= until {
                return Err(taken(&pool.server, Duty::Chain(chain)));
            }
            sleep(LOOK_AGAIN).await;
        }
    }

    pub async fn try_lead(&self, inner: &Arc<Inner>, duty: Duty) -> Result<Option<Term>, Error> {
        let elected = self.try_elect(&inner.pool, duty).await?;
        Ok(elected.map(|Elected { epoch, ended }| {
            let (ended, inner) = (ended.subscribe(), Arc::downgrade(inner));
            Term { duty, epoch, ended, inner }
        }))
    }

    /// Whether this process has no duty at all.
    pub fn has_none(&self) -> bool {
        self.held().terms.is_empty()
    }

    /// What is held already, as far as is known.
    fn known(&self, duty: Duty) -> Option<Elected> {
        let mut held = self.held();
        if held.session.as_ref().is_none_or(|session| session.is_closed()) {
            // The locks went with it.
            held.end_all();
        }
        held.terms.get(&duty).cloned()
    }

    async fn session(&self, server: &Arc<Server>) -> Result<Arc<Connection>, Error> {
        let known = self.held().session.clone();
        if let Some(known) = known.filter(|session| !session.is_closed()) {
            return Ok(known);
        }
        let fresh = Arc::new(Connection::open(server).await?);
        let mut held = self.held();
        held.end_all();
        held.session = Some(fresh.clone());
        Ok(fresh)
    }

    async fn try_elect(&self, pool: &Pool, duty: Duty) -> Result<Option<Elected>, Error> {
        if let Some(known) = self.known(duty) {
            return Ok(Some(known));
        }
        let _one_at_a_time = self.electing.lock().await;
        if let Some(known) = self.known(duty) {
            return Ok(Some(known));
        }
        pool.ready().await?;
        let session = self.session(&pool.server).await?;
        if !try_lock(&session, duty).await? && !take_from_hung(&session, duty).await? {
            return Ok(None);
        }
        match self.begin_term(pool, duty).await {
            Ok(epoch) => {
                tracing::info!(duty = duty.name(), epoch, "this process has the duty now");
                let elected = Elected { epoch, ended: watch::Sender::new(false) };
                self.held().terms.insert(duty, elected.clone());
                Ok(Some(elected))
            }
            Err(error) => {
                session.query(UNLOCK, &[&duty_key(duty)]).await?;
                // Who had the duty before may be in the middle of a write that does not end.
                session.query(END_SESSIONS, &[&vec![writers_key(duty)]]).await?;
                if error.is_retryable() { Ok(None) } else { Err(error) }
            }
        }
    }

    /// Waits for writes under the term before to end, for a moment.
    async fn begin_term(&self, pool: &Pool, duty: Duty) -> Result<i64, Error> {
        let mut connection = pool.get().await?;
        if let Duty::Chain(chain) = duty {
            add_chain(&connection, chain.0).await?;
        }
        connection.begin().await?;
        connection.run("set local lock_timeout = '1s'").await?;
        let name = duty.name();
        connection.query(LOCK_LEASE, &[&name]).await?;
        let params: [Param; 2] = [&name, &self.holder];
        let mut row = connection.first(BEGIN_TERM, &params).await?;
        if let Duty::Chain(chain) = duty {
            row = connection.first(BEGIN_CHAIN, &[&stored("chain", chain.0)?]).await?;
        }
        let epoch = row.map(|row| row.get(0)).ok_or(Error::Broken { what: "epoch of a duty" })?;
        connection.commit().await?;
        Ok(epoch)
    }

    /// Somebody else took the chain over.
    pub async fn lose(&self, server: &Server, duty: Duty, epoch: i64) -> Error {
        self.end(duty, epoch).await;
        taken(server, duty)
    }

    /// Gives a duty up, unless it is held under another epoch by now.
    async fn end(&self, duty: Duty, epoch: i64) {
        let session = {
            let mut held = self.held();
            if held.terms.get(&duty).is_none_or(|known| known.epoch != epoch) {
                return;
            }
            if let Some(elected) = held.terms.remove(&duty) {
                elected.ended.send_replace(true);
            }
            held.session.clone()
        };
        if let Some(session) = session {
            // If it fails, the session is gone, and the lock with it.
            let _ = session.query(UNLOCK, &[&duty_key(duty)]).await;
        }
    }

    /// Says that this process is alive; what it lost meanwhile ends.
    async fn renew(&self) {
        let (session, names) = {
            let held = self.held();
            let names: Vec<String> = held.terms.keys().map(|duty| duty.name()).collect();
            (held.session.clone(), names)
        };
        let Some(session) = session.filter(|_| !names.is_empty()) else { return };
        let params: [Param; 2] = [&names, &self.holder];
        let renewed = timeout(RENEW_WITHIN, session.query(RENEW, &params)).await;
        let mut held = self.held();
        let Ok(Ok(rows)) = renewed else {
            let reason = match renewed {
                Ok(Err(error)) => error.to_string(),
                _ => "the server does not answer".to_owned(),
            };
            tracing::warn!(%reason, duties = ?names, "duties are given up: they could not be renewed");
            if held.session.as_ref().is_some_and(|known| Arc::ptr_eq(known, &session)) {
                held.end_all();
            }
            return;
        };
        let alive: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        let lost = names.into_iter().filter(|name| !alive.contains(name));
        lost.for_each(|name| held.end_named(&name));
    }
}

async fn try_lock(session: &Connection, duty: Duty) -> Result<bool, Error> {
    let row = session.first(TRY_LOCK, &[&duty_key(duty), &duty.name()]).await?;
    Ok(row.is_some_and(|row| row.get(0)))
}

/// The lock of a process that does not renew its lease: its sessions are ended, which takes a moment.
async fn take_from_hung(session: &Connection, duty: Duty) -> Result<bool, Error> {
    let name = duty.name();
    if session.first(IS_HUNG, &[&name]).await?.is_none() {
        return Ok(false);
    }
    tracing::warn!(duty = name, "whoever had a duty hangs; its sessions are ended");
    session.query(END_SESSIONS, &[&vec![duty_key(duty), writers_key(duty)]]).await?;
    for _ in 0..LOOKS {
        if try_lock(session, duty).await? {
            return Ok(true);
        }
        sleep(LOOK_AGAIN).await;
    }
    Ok(false)
}

impl Held {
    /// The session ends, and so does all that hangs on it.
    fn end_all(&mut self) {
        self.session = None;
        for (_, elected) in self.terms.drain() {
            elected.ended.send_replace(true);
        }
    }

    fn end_named(&mut self, name: &str) {
        tracing::warn!(duty = name, "another process has the duty now");
        self.terms.retain(|duty, elected| {
            let stays = duty.name() != name;
            if !stays {
                elected.ended.send_replace(true);
            }
            stays
        });
    }
}

fn taken(server: &Server, duty: Duty) -> Error {
    let reason = match duty {
        Duty::Chain(chain) => format!("another process writes chain {}", chain.0),
        Duty::Streams => "another process matches streams".to_owned(),
    };
    Error::Paused {
        path: server.label().clone(),
        reason,
        advice: "this one takes over when that one ends".into(),
    }
}

/// Whether the duty is still held under this epoch; it stays so until the transaction ends.
pub async fn check_term(
    connection: &Connection,
    server: &Server,
    (duty, epoch): (Duty, i64),
) -> Result<(), Error> {
    let row = connection.first(CHECK_TERM, &[&duty.name(), &writers_key(duty)]).await?;
    let is_held = row.is_some_and(|row| row.get::<_, i64>(0) == epoch);
    if is_held { Ok(()) } else { Err(taken(server, duty)) }
}

/// Goes on until the last handle of the store is gone.
pub fn keep_renewing(inner: &Arc<Inner>, mut is_open: watch::Receiver<()>) {
    let inner = Arc::downgrade(inner);
    tokio::spawn(async move {
        loop {
            tokio::select! {
                ended = is_open.changed() => if ended.is_err() { return },
                () = sleep(RENEW_EVERY) => {
                    let Some(inner) = inner.upgrade() else { return };
                    inner.leases.renew().await;
                }
            }
        }
    });
}
