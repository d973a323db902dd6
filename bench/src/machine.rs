//! What the machine itself did during a measurement: on shared hardware a virtual processor stands still at times,
//! and a latency that contains such a pause says nothing of the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Result, anyhow};

const NAP: Duration = Duration::from_millis(1);
/// A thread that only sleeps wakes up this late at most on a machine that is there, however busy.
const PAUSE: Duration = Duration::from_millis(10);

/// A thread that sleeps and looks how late it wakes up.
pub struct Witness {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Pause>>,
    steal: Option<(u64, u64)>,
}

#[derive(Clone, Copy)]
pub struct Pause {
    from_us: u64,
    to_us: u64,
}

pub struct Testimony {
    pauses: Vec<Pause>,
    /// Of all processor time, what the host gave to others.
    pub steal_percent: Option<f64>,
}

impl Witness {
    pub fn start() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = stop.clone();
        let thread = std::thread::spawn(move || {
            let mut pauses = Vec::new();
            while !seen.load(Ordering::Relaxed) {
                let (from_us, began) = (now_us(), Instant::now());
                std::thread::sleep(NAP);
                if began.elapsed() > NAP + PAUSE {
                    pauses.push(Pause { from_us, to_us: now_us() });
                }
            }
            pauses
        });
        Witness { stop, thread, steal: steal() }
    }

    pub fn stop(self) -> Result<Testimony> {
        self.stop.store(true, Ordering::Relaxed);
        let pauses = self.thread.join().map_err(|_| anyhow!("the witness panicked"))?;
        let steal_percent = self.steal.zip(steal()).map(|(before, after)| {
            100.0 * (after.0 - before.0) as f64 / (after.1 - before.1).max(1) as f64
        });
        Ok(Testimony { pauses, steal_percent })
    }
}

impl Testimony {
    pub fn stood_still(&self, from_us: u64, to_us: u64) -> bool {
        self.pauses.iter().any(|pause| pause.from_us < to_us && from_us < pause.to_us)
    }

    pub fn longest_ms(&self) -> f64 {
        let length = |pause: &Pause| pause.to_us.saturating_sub(pause.from_us);
        self.pauses.iter().map(length).max().unwrap_or(0) as f64 / 1e3
    }
}

/// Microseconds since 1970, the same in every process of the machine.
pub fn now_us() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64)
}

/// Stolen ticks and all ticks since the machine started, where the system counts them.
fn steal() -> Option<(u64, u64)> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    let ticks: Vec<u64> =
        text.lines().next()?.split_whitespace().skip(1).filter_map(|n| n.parse().ok()).collect();
    Some((*ticks.get(7)?, ticks.iter().take(8).sum()))
}
