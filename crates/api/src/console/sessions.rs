//! Who is logged in: random ids in memory, each standing for a key. Only hashes are kept, of the id and of the key.
//!
//! A restart logs everybody out; a key that is revoked does so for its sessions, since the key is looked up with
//! every request.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use rand::RngCore;
use tokio::sync::Semaphore;

use super::config::ConsoleConfig;
use crate::keys::hash;
use crate::lock;

/// Of one key: a crowd that shares a key must not end everybody else's sessions.
const PER_KEY_MAX: usize = 50;
/// Pages of one session that are told of new blocks.
const EVENTS_PER_SESSION: usize = 16;

pub struct Sessions {
    lasts_s: u64,
    sessions_max: usize,
    known: Mutex<HashMap<[u8; 32], Entry>>,
    /// Pages that are told of new blocks, over all sessions.
    pub events: Arc<Semaphore>,
}

struct Entry {
    key_hash: [u8; 32],
    used_at_s: u64,
    events: Arc<Semaphore>,
}

/// A session that is good now.
#[derive(Clone)]
pub struct Session {
    pub id_hash: [u8; 32],
    pub key_hash: [u8; 32],
    /// Places for pages that are told of new blocks.
    pub events: Arc<Semaphore>,
}

impl Sessions {
    pub fn new(config: &ConsoleConfig) -> Self {
        Sessions {
            lasts_s: config.session_s,
            sessions_max: config.sessions_max,
            known: Mutex::default(),
            events: Arc::new(Semaphore::new(config.events_max.min(Semaphore::MAX_PERMITS))),
        }
    }

    pub fn lasts_s(&self) -> u64 {
        self.lasts_s
    }

    /// A new one for this key. Where there are too many, the one that was used longest ago ends.
    pub fn begin(&self, key_hash: [u8; 32], now_s: u64) -> String {
        let mut bytes = [0u8; 32];
        rand::rng().fill_bytes(&mut bytes);
        let id = alloy_primitives::hex::encode(bytes);
        let mut known = lock::lock(&self.known);
        known.retain(|_, entry| !self.is_over(entry, now_s));
        while known.values().filter(|entry| entry.key_hash == key_hash).count() >= PER_KEY_MAX {
            remove_oldest(&mut known, |entry| entry.key_hash == key_hash);
        }
        while known.len() >= self.sessions_max {
            remove_oldest(&mut known, |_| true);
        }
        let events = Arc::new(Semaphore::new(EVENTS_PER_SESSION));
        known.insert(hash(&id), Entry { key_hash, used_at_s: now_s, events });
        id
    }

    /// The session of an id, used now.
    pub fn find(&self, id: &str, now_s: u64) -> Option<Session> {
        let id_hash = hash(id);
        let mut known = lock::lock(&self.known);
        let entry = known.get_mut(&id_hash).filter(|entry| !self.is_over(entry, now_s))?;
        entry.used_at_s = now_s;
        Some(Session { id_hash, key_hash: entry.key_hash, events: entry.events.clone() })
    }

    /// Whether it still is one, without using it: a page that only listens does not keep it alive.
    pub fn is_good(&self, session: &Session, now_s: u64) -> bool {
        let known = lock::lock(&self.known);
        known.get(&session.id_hash).is_some_and(|entry| !self.is_over(entry, now_s))
    }

    pub fn end(&self, id: &str) {
        lock::lock(&self.known).remove(&hash(id));
    }

    fn is_over(&self, entry: &Entry, now_s: u64) -> bool {
        now_s.saturating_sub(entry.used_at_s) >= self.lasts_s
    }
}

fn remove_oldest(known: &mut HashMap<[u8; 32], Entry>, of: impl Fn(&Entry) -> bool) {
    let candidates = known.iter().filter(|(_, entry)| of(entry));
    let oldest = candidates.min_by_key(|(_, entry)| entry.used_at_s).map(|(id, _)| *id);
    if let Some(oldest) = oldest {
        known.remove(&oldest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions(sessions_max: usize) -> Sessions {
        Sessions::new(&ConsoleConfig { session_s: 100, sessions_max, ..ConsoleConfig::default() })
    }

    #[test]
    fn a_session_lasts_as_long_as_it_is_used() {
        let all = sessions(10);
        let id = all.begin([1; 32], 1_000);
        assert_eq!(all.find(&id, 1_099).unwrap().key_hash, [1; 32]);
        let session = all.find(&id, 1_190).unwrap();
        assert!(all.is_good(&session, 1_289));
        assert!(!all.is_good(&session, 1_290), "listening does not use it");
        assert!(all.find(&id, 1_290).is_none());
        assert!(all.find("", 1_290).is_none());
    }

    #[test]
    fn one_that_ended_is_gone_and_ids_are_never_the_same() {
        let all = sessions(10);
        let (one, other) = (all.begin([1; 32], 0), all.begin([1; 32], 0));
        assert_ne!(one, other);
        assert_eq!(one.len(), 64);
        all.end(&one);
        assert!(all.find(&one, 1).is_none());
        assert!(all.find(&other, 1).is_some());
    }

    #[test]
    fn where_there_are_too_many_the_longest_unused_ends() {
        let all = sessions(2);
        let (first, second) = (all.begin([1; 32], 0), all.begin([2; 32], 1));
        assert!(all.find(&first, 2).is_some());
        let third = all.begin([3; 32], 3);
        assert!(all.find(&second, 4).is_none());
        assert!(all.find(&first, 4).is_some() && all.find(&third, 4).is_some());
    }

    #[test]
    fn one_key_cannot_end_the_sessions_of_others() {
        let all = sessions(PER_KEY_MAX + 1);
        let other = all.begin([2; 32], 0);
        (0..3 * PER_KEY_MAX as u64).for_each(|n| drop(all.begin([1; 32], n.min(50))));
        assert!(all.find(&other, 60).is_some());
    }
}
