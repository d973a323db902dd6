//! How much may be under way at once: in all, and to one receiver. Who waits for a receiver's place holds nothing
//! that others wait for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use model::token_bucket::TokenBucket;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::config::DeliveryConfig;

/// Of the bytes in flight, one receiver's share.
const HOST_SHARE: u32 = 8;
/// Receivers kept before those without requests are cleared away.
const HOSTS_MAX: usize = 4_096;

pub(super) struct Limits {
    config: DeliveryConfig,
    connections: Arc<Semaphore>,
    kib: Arc<Semaphore>,
    host_kib: u32,
    hosts: Mutex<HashMap<String, Arc<Host>>>,
}

struct Host {
    connections: Arc<Semaphore>,
    kib: Arc<Semaphore>,
    bucket: Option<Mutex<TokenBucket>>,
}

/// The right to send one body; ends with it.
pub(super) struct Place {
    _permits: [OwnedSemaphorePermit; 4],
    _host: Arc<Host>,
}

impl Limits {
    pub fn new(config: &DeliveryConfig) -> Self {
        let kib = u32::try_from(config.bytes_in_flight_max.div_ceil(1024)).unwrap_or(u32::MAX);
        let kib =
            kib.min(u32::try_from(Semaphore::MAX_PERMITS).unwrap_or(u32::MAX)).max(HOST_SHARE);
        Limits {
            config: config.clone(),
            connections: Arc::new(Semaphore::new(config.connections_max)),
            kib: Arc::new(Semaphore::new(kib as usize)),
            host_kib: kib / HOST_SHARE,
            hosts: Mutex::default(),
        }
    }

    /// None only where no places are given any more.
    pub async fn place(&self, host: &str, body_bytes: u64) -> Option<Place> {
        let host = self.host(host);
        // A body that is larger than the share goes alone.
        let kib = u32::try_from(body_bytes.div_ceil(1024)).unwrap_or(u32::MAX);
        let kib = kib.clamp(1, self.host_kib);
        let connection = host.connections.clone().acquire_owned().await.ok()?;
        let bytes = host.kib.clone().acquire_many_owned(kib).await.ok()?;
        host.wait_for_rate().await;
        let all_connections = self.connections.clone().acquire_owned().await.ok()?;
        let all_bytes = self.kib.clone().acquire_many_owned(kib).await.ok()?;
        Some(Place { _permits: [connection, bytes, all_connections, all_bytes], _host: host })
    }

    fn host(&self, name: &str) -> Arc<Host> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(host) = hosts.get(name) {
            return host.clone();
        }
        if hosts.len() >= HOSTS_MAX {
            hosts.retain(|_, host| Arc::strong_count(host) > 1);
        }
        let bucket = TokenBucket::new(self.config.requests_per_second_per_host, Instant::now());
        let host = Arc::new(Host {
            connections: Arc::new(Semaphore::new(self.config.connections_per_host_max)),
            kib: Arc::new(Semaphore::new(self.host_kib as usize)),
            bucket: bucket.map(Mutex::new),
        });
        hosts.insert(name.to_owned(), host.clone());
        host
    }
}

impl Host {
    async fn wait_for_rate(&self) {
        let Some(bucket) = &self.bucket else {
            return;
        };
        loop {
            let taken = {
                let mut bucket = bucket.lock().unwrap_or_else(PoisonError::into_inner);
                bucket.try_take(1.0, Instant::now())
            };
            match taken {
                Ok(()) => return,
                Err(wait) => tokio::time::sleep(wait).await,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn limits(config: DeliveryConfig) -> Limits {
        Limits::new(&config)
    }

    #[test]
    fn one_receiver_gets_its_places_and_leaves_the_others_theirs() {
        let limits = limits(DeliveryConfig { connections_per_host_max: 2, ..Default::default() });
        let first = limits.place("a", 10).now_or_never().flatten().unwrap();
        let _second = limits.place("a", 10).now_or_never().flatten().unwrap();
        assert!(limits.place("a", 10).now_or_never().is_none());
        assert!(limits.place("b", 10).now_or_never().is_some());
        drop(first);
        assert!(limits.place("a", 10).now_or_never().is_some());
    }

    #[test]
    fn who_waits_for_a_receiver_takes_nothing_from_the_whole() {
        let config = DeliveryConfig {
            connections_max: 2,
            connections_per_host_max: 1,
            ..Default::default()
        };
        let limits = limits(config);
        let _held = limits.place("a", 10).now_or_never().flatten().unwrap();
        let mut waiting: Vec<_> = (0..5).map(|_| Box::pin(limits.place("a", 10))).collect();
        for waiting in &mut waiting {
            assert!(waiting.as_mut().now_or_never().is_none());
        }
        let held = limits.place("b", 10).now_or_never().flatten().unwrap();
        assert!(limits.place("c", 10).now_or_never().is_none(), "two in all");
        drop(held);
        assert!(limits.place("c", 10).now_or_never().is_some());
    }

    #[test]
    fn bytes_are_shared_and_a_body_larger_than_the_share_goes_alone() {
        let limits = limits(DeliveryConfig { bytes_in_flight_max: 64 << 10, ..Default::default() });
        let _large = limits.place("a", 1 << 30).now_or_never().flatten().unwrap();
        assert!(limits.place("a", 1).now_or_never().is_none(), "the receiver's share is in use");
        assert!(limits.place("b", 1).now_or_never().is_some());
    }

    #[tokio::test]
    async fn a_receiver_gets_no_more_per_second_than_configured() {
        let limits =
            limits(DeliveryConfig { requests_per_second_per_host: 1.0, ..Default::default() });
        assert!(limits.place("a", 1).now_or_never().is_some());
        assert!(limits.place("a", 1).now_or_never().is_none());
        assert!(limits.place("b", 1).now_or_never().is_some());
    }
}
