//! Counts and times requests by route and status.
//!
//! Every answer passes here, so the recorder is asked for a meter once and not once per request.

use std::sync::RwLock;
use std::time::Duration;

use alloy_primitives::map::HashMap;
use metrics::{Counter, Histogram};

use crate::lock;

/// By route, then by status. Routes are patterns, so there are few.
#[derive(Default)]
pub struct Meters(RwLock<HashMap<Box<str>, HashMap<u16, Meter>>>);

struct Meter {
    answered: Counter,
    seconds: Histogram,
}

impl Meters {
    pub fn record(&self, route: &str, status: u16, elapsed: Duration) {
        if !self.recorded(route, status, elapsed) {
            self.add(route, status);
            self.recorded(route, status, elapsed);
        }
    }

    /// False where there is no such meter yet.
    fn recorded(&self, route: &str, status: u16, elapsed: Duration) -> bool {
        let known = lock::read(&self.0);
        let Some(meter) = known.get(route).and_then(|it| it.get(&status)) else { return false };
        meter.answered.increment(1);
        meter.seconds.record(elapsed.as_secs_f64());
        true
    }

    fn add(&self, route: &str, status: u16) {
        let label = route.to_owned();
        let meter = Meter {
            answered: metrics::counter!("headwater_http_requests_total", "route" => label.clone(), "status" => status.to_string()),
            seconds: metrics::histogram!("headwater_http_request_seconds", "route" => label),
        };
        let mut known = lock::write(&self.0);
        known.entry(route.into()).or_default().insert(status, meter);
    }
}
