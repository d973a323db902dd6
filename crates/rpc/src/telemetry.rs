//! The numbers one upstream leaves behind: metrics for Prometheus, figures for /status.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use metrics::{Counter, Gauge, Histogram};

/// How many of the last latencies the estimates are made of.
const LATENCIES: usize = 256;

#[derive(Debug)]
pub struct Telemetry {
    chain: String,
    upstream: String,
    figures: Mutex<Figures>,
    meters: OnceLock<Meters>,
}

/// Asked of the recorder once and not once per request.
struct Meters {
    response_bytes: Counter,
    latency: Histogram,
    concurrency_limit: Gauge,
    /// By method and outcome.
    requests: Mutex<BTreeMap<(&'static str, &'static str), Counter>>,
}

#[derive(Clone, Debug, Default)]
pub struct Figures {
    pub requests: u64,
    /// By outcome; answers that are good are not counted here.
    pub errors: BTreeMap<&'static str, u64>,
    latencies: VecDeque<Duration>,
}

/// One request to a node that ended.
pub struct Request {
    pub method: &'static str,
    pub outcome: &'static str,
    pub latency: Duration,
    pub body_bytes: usize,
    pub limit: usize,
}

impl Telemetry {
    pub fn new(chain: String, upstream: String) -> Self {
        Self { chain, upstream, figures: Mutex::default(), meters: OnceLock::new() }
    }

    pub fn record(&self, request: &Request) {
        let labels = || [("chain", self.chain.clone()), ("upstream", self.upstream.clone())];
        let meters = self.meters.get_or_init(|| Meters::new(labels()));
        meters.response_bytes.increment(request.body_bytes as u64);
        meters.latency.record(request.latency.as_secs_f64());
        meters.concurrency_limit.set(request.limit as f64);
        let counted = (request.method, request.outcome);
        let mut requests = meters.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let counter = requests.entry(counted).or_insert_with(|| {
            let mut labels = labels().to_vec();
            labels.push(("method", request.method.to_owned()));
            labels.push(("outcome", request.outcome.to_owned()));
            metrics::counter!("headwater_upstream_requests_total", &labels)
        });
        counter.increment(1);
        drop(requests);
        self.lock().add(request);
    }

    pub fn figures(&self) -> Figures {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Figures> {
        self.figures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Meters {
    fn new(labels: [(&'static str, String); 2]) -> Self {
        Meters {
            response_bytes: metrics::counter!("headwater_upstream_response_bytes_total", &labels),
            latency: metrics::histogram!("headwater_upstream_latency_seconds", &labels),
            concurrency_limit: metrics::gauge!("headwater_upstream_concurrency_limit", &labels),
            requests: Mutex::default(),
        }
    }
}

impl std::fmt::Debug for Meters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Meters")
    }
}

impl Figures {
    fn add(&mut self, request: &Request) {
        self.requests += 1;
        if request.outcome != "ok" {
            *self.errors.entry(request.outcome).or_default() += 1;
            return;
        }
        if self.latencies.len() == LATENCIES {
            self.latencies.pop_front();
        }
        self.latencies.push_back(request.latency);
    }

    /// The latency that this share of the last good answers did not exceed.
    pub fn latency_ms(&self, share: f64) -> Option<f64> {
        let mut sorted: Vec<Duration> = self.latencies.iter().copied().collect();
        sorted.sort_unstable();
        let at = (sorted.len() as f64 * share) as usize;
        let latency = sorted.get(at.min(sorted.len().checked_sub(1)?))?;
        Some((latency.as_secs_f64() * 10_000.0).round() / 10.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_estimated_from_the_last_good_answers() {
        let mut figures = Figures::default();
        assert_eq!(figures.latency_ms(0.5), None);
        for ms in 1..=1000 {
            let latency = Duration::from_millis(ms);
            figures.add(&Request { method: "m", outcome: "ok", latency, body_bytes: 0, limit: 1 });
        }
        assert_eq!(figures.latency_ms(0.5), Some(873.0));
        assert_eq!(figures.latency_ms(1.0), Some(1000.0));
    }
}
