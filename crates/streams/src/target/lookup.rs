//! Names to addresses, by the system. Looking up blocks a thread for as long as a name server pleases, so few are
//! looked up at once, one name only once at a time, and what was found counts for a moment.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::Semaphore;

const LOOKUPS_AT_ONCE: usize = 128;
/// Streams of one receiver that send at the same moment share an answer.
const FRESH: Duration = Duration::from_secs(2);
/// Names kept before old ones are cleared away.
const NAMES_MAX: usize = 1_024;

/// Who knows the addresses of a name.
pub trait Lookup: Send + Sync {
    fn lookup(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

type Found = Option<(Instant, Vec<IpAddr>)>;

pub struct SystemLookup {
    at_once: Arc<Semaphore>,
    names: Mutex<HashMap<String, Arc<tokio::sync::Mutex<Found>>>>,
}

impl Default for SystemLookup {
    fn default() -> Self {
        SystemLookup { at_once: Arc::new(Semaphore::new(LOOKUPS_AT_ONCE)), names: Mutex::default() }
    }
}

impl SystemLookup {
    fn entry(&self, name: &str) -> Arc<tokio::sync::Mutex<Found>> {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if names.len() >= NAMES_MAX && !names.contains_key(name) {
            names.retain(|_, entry| Arc::strong_count(entry) > 1);
        }
        names.entry(name.to_owned()).or_default().clone()
    }
}

impl Lookup for SystemLookup {
    fn lookup(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let (name, entry, at_once) = (name.to_owned(), self.entry(name), self.at_once.clone());
        // A task of its own: who gives up waiting does not free the thread that is still looking.
        let task = tokio::spawn(async move {
            let mut found = entry.lock_owned().await;
            if let Some((at, addresses)) = &*found
                && at.elapsed() < FRESH
            {
                return Ok(addresses.clone());
            }
            let _permit = at_once.acquire_owned().await.map_err(io::Error::other)?;
            let addresses = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let addresses: Vec<IpAddr> = addresses.map(|address| address.ip()).collect();
            *found = Some((Instant::now(), addresses.clone()));
            Ok(addresses)
        });
        async move { task.await.map_err(io::Error::other)? }.boxed()
    }
}
