//! What a simulated node does wrong, changeable while it runs.
//!
//! Tests add rules and take them away; the node asks for the faults that hit a request. Also counts the
//! requests, so a test can say how often a method was called.

use super::{
    rule::{Fault, Rule},
    tamper::Tamper,
};
use rand::{Rng, SeedableRng, rngs::StdRng};
use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Names a rule that was added, to take it away again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleId(u64);

pub struct Faults {
    inner: Mutex<Inner>,
}

struct Inner {
    rules: Vec<(RuleId, Rule)>,
    next_id: u64,
    rng: StdRng,
    requests: BTreeMap<String, u64>,
    http_requests: u64,
    hits: u64,
}

impl Default for Faults {
    fn default() -> Self {
        let inner = Inner {
            rules: Vec::new(),
            next_id: 0,
            rng: StdRng::seed_from_u64(7),
            requests: BTreeMap::new(),
            http_requests: 0,
            hits: 0,
        };
        Self { inner: Mutex::new(inner) }
    }
}

impl Faults {
    pub fn add(&self, rule: impl Into<Rule>) -> RuleId {
        let mut inner = self.lock();
        let id = RuleId(inner.next_id);
        inner.next_id += 1;
        inner.rules.push((id, rule.into()));
        id
    }

    pub fn remove(&self, id: RuleId) {
        self.lock().rules.retain(|(known, _)| *known != id);
    }

    /// An honest, healthy node again.
    pub fn clear(&self) {
        self.lock().rules.clear();
    }

    /// Requests of that method so far, also those that were answered wrongly or not at all.
    pub fn requests(&self, method: &str) -> u64 {
        self.lock().requests.get(method).copied().unwrap_or_default()
    }

    /// Requests per method so far.
    pub fn all_requests(&self) -> BTreeMap<String, u64> {
        self.lock().requests.clone()
    }

    /// HTTP requests so far; a batch counts once.
    pub fn http_requests(&self) -> u64 {
        self.lock().http_requests
    }

    /// How often any rule struck.
    pub fn hits(&self) -> u64 {
        self.lock().hits
    }

    pub(super) fn count_http(&self) {
        self.lock().http_requests += 1;
    }

    pub(super) fn count(&self, method: &str) {
        let mut inner = self.lock();
        match inner.requests.get_mut(method) {
            Some(count) => *count += 1,
            None => {
                inner.requests.insert(method.to_owned(), 1);
            }
        }
    }

    /// The faults that hit one call about that block (if it is about one).
    pub(super) fn on_call(&self, method: &str, block: Option<u64>) -> Vec<Fault> {
        self.strike(|rule| !rule.fault.is_about_batches() && rule.fits(method, block))
    }

    /// The faults that hit a batch as such.
    pub(super) fn on_batch(&self) -> Vec<Fault> {
        self.strike(|rule| rule.fault.is_about_batches())
    }

    /// Whether such a lie is told at all at the moment.
    pub(super) fn tells(&self, tamper: Tamper) -> bool {
        self.lock().rules.iter().any(|(_, rule)| rule.fault == Fault::Tamper(tamper))
    }

    fn strike(&self, fits: impl Fn(&Rule) -> bool) -> Vec<Fault> {
        let Inner { rules, rng, hits, .. } = &mut *self.lock();
        let mut struck = Vec::new();
        for (_, rule) in rules.iter_mut().filter(|(_, rule)| fits(rule)) {
            if rule.probability < 1.0 && !rng.random_bool(rule.probability.clamp(0.0, 1.0)) {
                continue;
            }
            if !rule.use_up() {
                continue;
            }
            *hits += 1;
            struck.push(rule.fault.clone());
        }
        struck
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
