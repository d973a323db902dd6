//! Warns while there is still time: how much of `store.disk_budget_bytes` the store takes, how fast it
//! grows, and what to do. It never stops anything.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use store::Store;
use tasks::{TaskBoard, endless};
use tokio::task::JoinHandle;

const LOOK_EVERY: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(86_400);
/// Growth over less than this says nothing.
const GROWTH_AFTER: Duration = Duration::from_secs(600);
const HIGH_PERCENT: u64 = 80;
const CRITICAL_PERCENT: u64 = 95;
const WHAT_TO_DO: &str =
    "give it a larger disk, or keep fewer blocks with [chains.NAME] retain_blocks";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    #[default]
    Fine,
    High,
    Critical,
}

/// As /status shows it.
#[derive(Clone, Debug, Serialize)]
pub struct BudgetStatus {
    pub budget_bytes: u64,
    pub used_bytes: u64,
    pub used_percent: u64,
    pub level: Level,
    /// Over the last day, or since the start; not known in the first minutes.
    pub growth_bytes_per_day: Option<i64>,
    /// At this growth.
    pub full_in_days: Option<f64>,
    pub advice: Option<&'static str>,
}

pub struct DiskBudget {
    budget_bytes: u64,
    state: Mutex<BudgetState>,
}

#[derive(Default)]
struct BudgetState {
    /// Sizes of the last day, oldest first.
    samples: VecDeque<(Instant, u64)>,
    level: Level,
}

impl DiskBudget {
    pub fn new(budget_bytes: u64) -> Self {
        DiskBudget { budget_bytes, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, BudgetState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says the level if it is another than the last time.
    fn look(&self, now: Instant, used_bytes: u64) -> Option<Level> {
        let mut state = self.state();
        state.samples.push_back((now, used_bytes));
        while state.samples.front().is_some_and(|(at, _)| now.duration_since(*at) > DAY) {
            state.samples.pop_front();
        }
        let level = match self.percent(used_bytes) {
            CRITICAL_PERCENT.. => Level::Critical,
            HIGH_PERCENT.. => Level::High,
            _ => Level::Fine,
        };
        let is_news = level != state.level;
        state.level = level;
        is_news.then_some(level)
    }

    fn percent(&self, used_bytes: u64) -> u64 {
        (u128::from(used_bytes) * 100 / u128::from(self.budget_bytes.max(1))) as u64
    }

    pub fn status(&self) -> BudgetStatus {
        let state = self.state();
        let newest = state.samples.back().copied();
        let used_bytes = newest.map_or(0, |(_, used)| used);
        let growth = state.samples.front().zip(newest).and_then(|((first, then), (last, now))| {
            let time = last.duration_since(*first);
            let grown = now as f64 - *then as f64;
            (time >= GROWTH_AFTER).then(|| grown * DAY.as_secs_f64() / time.as_secs_f64())
        });
        let left = self.budget_bytes.saturating_sub(used_bytes) as f64;
        BudgetStatus {
            budget_bytes: self.budget_bytes,
            used_bytes,
            used_percent: self.percent(used_bytes),
            level: state.level,
            growth_bytes_per_day: growth.map(|growth| growth as i64),
            full_in_days: growth.filter(|growth| *growth > 0.0).map(|growth| left / growth),
            advice: (state.level > Level::Fine).then_some(WHAT_TO_DO),
        }
    }

    fn measure(&self, store: &Store) {
        let used_bytes = store.disk_bytes();
        let news = self.look(Instant::now(), used_bytes);
        let ratio = used_bytes as f64 / self.budget_bytes.max(1) as f64;
        metrics::gauge!("headwater_store_budget_bytes").set(self.budget_bytes as f64);
        metrics::gauge!("headwater_store_budget_used_ratio").set(ratio);
        let Some(level) = news else { return };
        let BudgetStatus { budget_bytes, used_percent, growth_bytes_per_day, .. } = self.status();
        if level == Level::Fine {
            tracing::info!(used_bytes, budget_bytes, "the store is well within its budget again");
            return;
        }
        tracing::warn!(
            used_bytes,
            budget_bytes,
            ?growth_bytes_per_day,
            "the store takes {used_percent} % of store.disk_budget_bytes; {WHAT_TO_DO}"
        );
    }
}

/// Ends when it is aborted.
pub fn watch(budget: Arc<DiskBudget>, store: Store, tasks: TaskBoard) -> JoinHandle<()> {
    tokio::spawn(async move {
        let start = || endless(measure_again_and_again(&budget, &store));
        tasks.keep_running("measuring of the disk budget", || false, start).await;
    })
}

async fn measure_again_and_again(budget: &DiskBudget, store: &Store) {
    loop {
        budget.measure(store);
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_is_told_once_and_growth_is_that_of_a_day() {
        let budget = DiskBudget::new(1_000);
        let start = Instant::now();
        let look =
            |minutes: u64, used| budget.look(start + Duration::from_secs(minutes * 60), used);
        assert_eq!(look(0, 790), None);
        assert_eq!(budget.status().growth_bytes_per_day, None, "too early");
        assert_eq!(look(1, 800), Some(Level::High));
        assert_eq!(look(2, 850), None, "told already");
        assert_eq!(look(3, 950), Some(Level::Critical));
        assert_eq!(look(4, 2_000), None);
        assert_eq!(look(5, 810), Some(Level::High), "some went");
        assert_eq!(look(720, 840), None);
        let status = budget.status();
        assert_eq!((status.used_percent, status.growth_bytes_per_day), (84, Some(100)));
        assert_eq!(status.full_in_days, Some(1.6));
        assert!(status.advice.unwrap().contains("retain_blocks"));
        assert_eq!(look(721, 10), Some(Level::Fine));
        let status = budget.status();
        assert!(status.growth_bytes_per_day.unwrap() < 0 && status.full_in_days.is_none());
        assert_eq!(status.advice, None);
        // What is older than a day does not count.
        look(721 + 1_440, 20);
        assert_eq!(budget.status().growth_bytes_per_day, Some(10));
    }
}
