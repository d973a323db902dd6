//! All open connections: who may come in, who has to go, and how many each client has.
//!
//! One for all listeners of strangers, since they share the process's file descriptors. Past a limit the
//! connections that would be missed least are closed; where there are none, the new one is shed.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::activity::{Activity, Cut, Timeouts};
use crate::client_address::{AddressRange, ClientKey};
use crate::listen_config::ListenConfig;
use crate::lock::lock;

/// So many of a limit are closed at once where room is needed, so that not every new one looks through all.
const ROOM_SHARE: usize = 32;
/// After a look that found nobody to close, how long none is taken again.
const HOPELESS: Duration = Duration::from_millis(20);

/// Limits that are in force: those of the configuration, lowered where the system has less to give.
#[derive(Clone, Debug)]
pub struct Limits {
    pub connections_max: usize,
    pub per_client_max: usize,
    pub trusted_proxies: Vec<AddressRange>,
    pub timeouts: Timeouts,
}

impl Limits {
    pub fn new(config: &ListenConfig, connections_max: usize) -> Self {
        let millis = Duration::from_millis;
        let connections_max = connections_max.clamp(1, config.connections_max);
        Limits {
            connections_max,
            // Where few fit, one client must not have them all.
            per_client_max: config.connections_per_address_max.min(connections_max.div_ceil(2)),
            trusted_proxies: config.trusted_proxies.clone(),
            timeouts: Timeouts {
                header: millis(config.header_timeout_ms),
                idle: millis(config.idle_timeout_ms),
                send: millis(config.send_timeout_ms),
                send_bytes_per_second_min: config.send_bytes_per_second_min,
            },
        }
    }

    /// How often to look for connections that are overdue.
    fn sweep_every(&self) -> Duration {
        let Timeouts { header, idle, send, .. } = self.timeouts;
        (header.min(idle).min(send) / 4)
            .clamp(Duration::from_millis(10), Duration::from_millis(500))
    }
}

/// Why a connection was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shed {
    Full,
    Client,
}

impl Shed {
    pub fn name(self) -> &'static str {
        match self {
            Shed::Full => "connections_max",
            Shed::Client => "connections_per_address_max",
        }
    }
}

pub struct Connections {
    pub limits: Limits,
    open: Mutex<Open>,
    /// Requests under way that trusted proxies passed on.
    forwarded: Mutex<HashMap<ClientKey, usize>>,
}

#[derive(Default)]
struct Open {
    next_id: u64,
    all: HashMap<u64, Arc<Connection>>,
    per_client: HashMap<ClientKey, usize>,
    /// Told to go, and not gone yet.
    leaving: usize,
    hopeless_until: Option<Instant>,
}

/// One open connection.
pub struct Connection {
    id: u64,
    /// None where it is not counted: a trusted proxy, or a socket in the data folder.
    client: Option<ClientKey>,
    pub is_proxy: bool,
    activity: Mutex<Activity>,
    told_to_go: Notify,
    /// 0 while nobody told it to go.
    cut: AtomicU8,
}

impl Connection {
    /// Changes or asks what it is doing.
    pub fn activity<T>(&self, work: impl FnOnce(&mut Activity) -> T) -> T {
        work(&mut lock(&self.activity))
    }

    /// Ends when it has to go.
    pub async fn told_to_go(&self) {
        self.told_to_go.notified().await;
    }

    /// Whether it goes because its client does not read: what is still in the socket is thrown away.
    pub fn is_stalled(&self) -> bool {
        self.cut.load(Ordering::Relaxed) == Cut::Send as u8 + 1
    }

    /// False where it was told before.
    fn go(&self, why: Cut) -> bool {
        let first =
            self.cut.compare_exchange(0, why as u8 + 1, Ordering::Relaxed, Ordering::Relaxed);
        if first.is_ok() {
            metrics::counter!("headwater_connections_cut_total", "why" => why.name()).increment(1);
            self.told_to_go.notify_one();
        }
        first.is_ok()
    }

    fn is_leaving(&self) -> bool {
        self.cut.load(Ordering::Relaxed) != 0
    }
}

/// Holds a connection's place; dropping it gives the place back.
pub struct Place {
    pub connection: Arc<Connection>,
    pub connections: Arc<Connections>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.leave(&self.connection);
    }
}

/// Holds a forwarded request's place.
pub struct ForwardedPlace {
    key: ClientKey,
    connections: Arc<Connections>,
}

impl Drop for ForwardedPlace {
    fn drop(&mut self) {
        release(&mut lock(&self.connections.forwarded), self.key);
    }
}

fn release(counts: &mut HashMap<ClientKey, usize>, key: ClientKey) {
    if let Some(count) = counts.get_mut(&key) {
        *count = count.saturating_sub(1);
        if *count == 0 {
            counts.remove(&key);
        }
    }
}

impl Connections {
    pub fn new(limits: Limits) -> Arc<Self> {
        for shed in [Shed::Full, Shed::Client] {
            // Watched for its first time: a counter that begins with 1 has not risen.
            metrics::counter!("headwater_connections_shed_total", "why" => shed.name())
                .increment(0);
        }
        Arc::new(Connections { limits, open: Mutex::default(), forwarded: Mutex::default() })
    }

    /// A place for a connection from that address; none is a socket that only the owner can open.
    pub fn admit(self: &Arc<Self>, peer: Option<IpAddr>) -> Result<Place, Shed> {
        let now = Instant::now();
        let is_proxy = peer.is_some_and(|peer| self.is_trusted(peer));
        let client = peer.filter(|_| !is_proxy).map(ClientKey::of);
        let mut open = lock(&self.open);
        if let Some(client) = client {
            let has = open.per_client.get(&client).copied().unwrap_or(0);
            if has >= self.limits.per_client_max
                && !open.make_room(Some(client), self.limits.per_client_max, now)
            {
                return Err(Shed::Client);
            }
        }
        let limit = self.limits.connections_max;
        if open.all.len().saturating_sub(open.leaving) >= limit && !open.make_room(None, limit, now)
        {
            return Err(Shed::Full);
        }
        let connection = open.add(client, is_proxy, now);
        metrics::gauge!("headwater_connections").set(open.all.len() as f64);
        Ok(Place { connection, connections: self.clone() })
    }

    fn is_trusted(&self, peer: IpAddr) -> bool {
        self.limits.trusted_proxies.iter().any(|range| range.contains(peer))
    }

    /// A place for a request that a trusted proxy passed on for that client. None where it has too many.
    pub fn admit_forwarded(self: &Arc<Self>, key: ClientKey) -> Option<ForwardedPlace> {
        let mut forwarded = lock(&self.forwarded);
        let count = forwarded.entry(key).or_default();
        if *count >= self.limits.per_client_max {
            return None;
        }
        *count += 1;
        Some(ForwardedPlace { key, connections: self.clone() })
    }

    fn leave(&self, connection: &Connection) {
        let mut open = lock(&self.open);
        if open.all.remove(&connection.id).is_none() {
            return;
        }
        if connection.is_leaving() {
            open.leaving = open.leaving.saturating_sub(1);
        } else if let Some(client) = connection.client {
            release(&mut open.per_client, client);
        }
        metrics::gauge!("headwater_connections").set(open.all.len() as f64);
    }

    /// Descriptors ran out: closes those that would be missed least.
    pub fn make_room(&self) {
        let limit = self.limits.connections_max;
        lock(&self.open).make_room(None, limit, Instant::now());
    }

    /// Closes what is overdue, for as long as it is polled.
    pub async fn sweep(self: Arc<Self>) {
        let mut tick = tokio::time::interval(self.limits.sweep_every());
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            self.cut_overdue(Instant::now());
        }
    }

    fn cut_overdue(&self, now: Instant) {
        let all: Vec<_> = lock(&self.open).all.values().cloned().collect();
        for connection in all {
            let overdue =
                connection.activity(|activity| activity.overdue(now, &self.limits.timeouts));
            if let Some(why) = overdue {
                lock(&self.open).dismiss(&connection, why);
            }
        }
    }
}

impl Open {
    fn add(&mut self, client: Option<ClientKey>, is_proxy: bool, now: Instant) -> Arc<Connection> {
        self.next_id += 1;
        let connection = Arc::new(Connection {
            id: self.next_id,
            client,
            is_proxy,
            activity: Mutex::new(Activity::new(now)),
            told_to_go: Notify::new(),
            cut: AtomicU8::new(0),
        });
        self.all.insert(connection.id, connection.clone());
        if let Some(client) = client {
            *self.per_client.entry(client).or_default() += 1;
        }
        connection
    }

    /// Its place counts as free from now on: it is gone as soon as its task runs.
    fn dismiss(&mut self, connection: &Connection, why: Cut) {
        if self.all.contains_key(&connection.id) && connection.go(why) {
            self.leaving += 1;
            if let Some(client) = connection.client {
                release(&mut self.per_client, client);
            }
        }
    }

    /// Whether there is room now: of that client, or of all.
    fn make_room(&mut self, client: Option<ClientKey>, limit: usize, now: Instant) -> bool {
        // Each one holds a descriptor until it is gone, so that few may be on their way at a time.
        let batch = (limit / ROOM_SHARE).max(1);
        if self.leaving >= batch * 2 || self.hopeless_until.is_some_and(|until| now < until) {
            return false;
        }
        let mut candidates: Vec<_> = self
            .all
            .values()
            .filter(|one| !one.is_leaving() && (client.is_none() || one.client == client))
            .filter_map(|one| Some((one.activity(|a| a.dispensable(now))?, one.clone())))
            .collect();
        if candidates.is_empty() {
            self.hopeless_until = Some(now + HOPELESS);
            return false;
        }
        candidates.sort_by_key(|(rank, one)| (*rank, one.id));
        for (_, connection) in candidates.iter().take(batch) {
            self.dismiss(connection, Cut::Room);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connections(max: usize, per_client: usize, trusted: &[&str]) -> Arc<Connections> {
        let config = ListenConfig {
            connections_max: max,
            connections_per_address_max: per_client,
            trusted_proxies: trusted.iter().map(|text| text.parse().unwrap()).collect(),
            ..ListenConfig::default()
        };
        Connections::new(Limits::new(&config, usize::MAX))
    }

    fn ip(last: u8) -> Option<IpAddr> {
        Some(IpAddr::from([203, 0, 113, last]))
    }

    /// A connection with a request under way.
    fn busy(connections: &Arc<Connections>, peer: Option<IpAddr>) -> Result<Place, Shed> {
        let place = connections.admit(peer)?;
        place.connection.activity(|activity| activity.request_began(false));
        Ok(place)
    }

    #[test]
    fn past_a_limit_the_new_one_is_shed_and_places_come_back() {
        let connections = connections(4, 2, &[]);
        let one = busy(&connections, ip(1)).unwrap();
        let two = busy(&connections, ip(1)).unwrap();
        assert_eq!(busy(&connections, ip(1)).err(), Some(Shed::Client));
        let _others = [busy(&connections, ip(2)).unwrap(), busy(&connections, ip(3)).unwrap()];
        assert_eq!(busy(&connections, ip(4)).err(), Some(Shed::Full));
        drop((one, two));
        assert!(busy(&connections, ip(1)).is_ok());
        assert!(lock(&connections.open).per_client.len() <= 3, "no client is remembered");
    }

    #[test]
    fn one_client_cannot_have_all_that_fit() {
        let config = ListenConfig::default();
        assert_eq!(Limits::new(&config, usize::MAX).connections_max, 10_000);
        assert_eq!(Limits::new(&config, usize::MAX).per_client_max, 512);
        assert_eq!(Limits::new(&config, 100).per_client_max, 50);
    }

    #[test]
    fn a_trusted_proxy_is_not_one_client_and_whom_it_asks_for_is() {
        let connections = connections(100, 2, &["203.0.113.0/24"]);
        let places: Vec<_> = (0..9).map(|_| busy(&connections, ip(1)).unwrap()).collect();
        assert!(places.iter().all(|place| place.connection.is_proxy));
        let key = ClientKey::of("198.51.100.1".parse().unwrap());
        let one = connections.admit_forwarded(key).unwrap();
        let _two = connections.admit_forwarded(key).unwrap();
        assert!(connections.admit_forwarded(key).is_none());
        drop(one);
        assert!(connections.admit_forwarded(key).is_some());
    }

    #[tokio::test]
    async fn the_idle_make_room_and_the_busy_stay() {
        let connections = connections(2, 2, &[]);
        let working = busy(&connections, ip(1)).unwrap();
        let idle = connections.admit(ip(2)).unwrap();
        assert_eq!(busy(&connections, ip(3)).err(), Some(Shed::Full), "a fresh one is left alone");
        tokio::time::sleep(Duration::from_millis(150)).await;
        let third = busy(&connections, ip(3)).unwrap();
        idle.connection.told_to_go().await;
        assert!(!working.connection.is_leaving());
        drop((idle, third));
        assert_eq!(lock(&connections.open).leaving, 0);
        assert_eq!(lock(&connections.open).all.len(), 1);
    }
}
