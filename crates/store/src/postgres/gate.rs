//! What comes before the first use of a database: its schema is this build's, and whoever opened it takes it for the right one.
//!
//! A database that is away when the process starts is looked at when it is first asked for something.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::OnceCell;

use super::connection::Connection;
use super::migrate::migrate;
use super::server::Server;
use crate::Error;
use crate::options::UpgradeProgress;

/// A database that could not be reached is not asked again at once.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
const NAME: &str =
    "insert into meta (key, value) values ('database', $1) on conflict (key) do nothing";
const NAMED: &str = "select value from meta where key = 'database'";

/// Tells a database from all others; none where it was never opened for writing since it has one.
pub type DatabaseId = Option<[u8; 16]>;
pub type Admitted = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;
/// Says whether a database is the one that was meant.
pub type AdmitFn = Arc<dyn Fn(DatabaseId) -> Admitted + Send + Sync>;

pub struct Gate {
    /// Whether a schema that is older or absent is brought up to this build's.
    may_change: bool,
    admit: Option<AdmitFn>,
    passed: OnceCell<DatabaseId>,
    /// When the last look failed, and why.
    failed: Mutex<Option<(Instant, String)>>,
}

impl Gate {
    pub fn new(may_change: bool, admit: Option<AdmitFn>) -> Self {
        Gate { may_change, admit, passed: OnceCell::new(), failed: Mutex::default() }
    }

    /// For a copy of a database, which has what that one has.
    pub fn passed() -> Self {
        let passed = OnceCell::new_with(Some(None));
        Gate { may_change: false, admit: None, passed, failed: Mutex::default() }
    }

    pub async fn pass(&self, server: &Arc<Server>) -> Result<DatabaseId, Error> {
        match self.passed.get() {
            Some(id) => Ok(*id),
            None => self.pass_with(server, &|_| ()).await,
        }
    }

    pub async fn pass_with(
        &self,
        server: &Arc<Server>,
        progress: &(dyn Fn(UpgradeProgress) + Send + Sync),
    ) -> Result<DatabaseId, Error> {
        let look = Box::pin(self.passed.get_or_try_init(|| self.look(server, progress)));
        look.await.copied()
    }

    /// Looks are one after the other: whoever waited while one failed is not made to wait for the next.
    async fn look(
        &self,
        server: &Arc<Server>,
        progress: &(dyn Fn(UpgradeProgress) + Send + Sync),
    ) -> Result<DatabaseId, Error> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, why)) = failed.filter(|(at, _)| at.elapsed() < LOOK_AGAIN) {
            return Err(server.unreachable(why.into()));
        }
        let looked = self.look_now(server, progress).await;
        if let Err(error) = &looked {
            let failed = error.is_retryable().then(|| (Instant::now(), error.to_string()));
            *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = failed;
        }
        looked
    }

    async fn look_now(
        &self,
        server: &Arc<Server>,
        progress: &(dyn Fn(UpgradeProgress) + Send + Sync),
    ) -> Result<DatabaseId, Error> {
        let connection = Connection::open(server).await?;
        migrate(&connection, server.label(), self.may_change, progress).await?;
        if self.may_change {
            let fresh = rand::random::<[u8; 16]>();
            connection.execute(NAME, &[&fresh.as_slice()]).await?;
        }
        let row = connection.first(NAMED, &[]).await?;
        let id = row.and_then(|row| row.get::<_, &[u8]>(0).try_into().ok());
        if let Some(admit) = &self.admit {
            admit(id).await?;
        }
        Ok(id)
    }
}
