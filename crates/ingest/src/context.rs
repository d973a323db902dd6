//! What the tasks of a chain's ingest share.

use std::sync::Arc;
use std::time::Duration;

use model::chain::ChainId;
use store::{Coverage, Store, WriteState};
use tokio::sync::watch;

use crate::audit::Auditor;
use crate::commit::Committer;
use crate::config::Config;
use crate::error::Error;
use crate::flights::Flights;
use crate::progress::{Progress, Task};
use crate::second_word::SecondWords;
use crate::source::NodeSource;

/// How long to wait after a failure before trying again: first and longest. A head or an upstream that
/// comes up meanwhile ends the wait.
const PAUSE_MIN: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// Now and then a request fails at any node; only what goes on is worth longer waits.
const FAILURES_UNTIL_LONGER: u32 = 3;

/// The wait after so many failures in a row; doubled each time after the first few.
pub(crate) fn pause_after(failures: u32) -> Duration {
    let doubled = 2u32.saturating_pow(failures.saturating_sub(FAILURES_UNTIL_LONGER).min(16));
    PAUSE_MIN.saturating_mul(doubled).min(PAUSE_MAX)
}

/// A head further above what is stored than this starts a range of its own, and the gap is
/// history: the newest blocks come first.
pub(crate) const CATCH_UP_BLOCKS: u64 = 64;

#[derive(Clone)]
pub(crate) struct Context {
    pub source: NodeSource,
    pub store: Store,
    pub committer: Arc<Committer>,
    pub second_words: Arc<SecondWords>,
    pub config: Config,
    pub flights: Arc<Flights>,
    pub from_block: u64,
    pub retain_blocks: Option<u64>,
    pub progress: Arc<Progress>,
    pub auditor: Auditor,
}

impl Context {
    pub fn chain_id(&self) -> ChainId {
        self.source.chain.id
    }

    pub async fn coverage(&self) -> Result<Coverage, Error> {
        Ok(self.store.view().await?.coverage(self.chain_id()).await?)
    }

    /// The oldest block to fill down to while the head is this. What would soon be dropped is not asked for,
    /// unless a journal reader waits for it: it must see every block.
    pub async fn floor(&self, head: u64) -> Result<u64, Error> {
        let Some(keep) = self.retain_blocks else { return Ok(self.from_block) };
        let readers = self.store.view().await?.readers(self.chain_id()).await?;
        let slowest = readers.iter().map(|reader| reader.cursor.next).min();
        let kept = head.saturating_add(1).saturating_sub(keep);
        Ok(self.from_block.max(kept.min(slowest.unwrap_or(kept))))
    }

    /// The pause after so many failures; a store that takes writes again ends it.
    pub async fn pause(&self, failures: u32) {
        let mut state = self.store.watch_writes_of(self.chain_id());
        let goes_on = async {
            let _ = state.wait_for(|state| *state != WriteState::Writable).await;
            let _ = state.wait_for(|state| *state == WriteState::Writable).await;
        };
        let _ = tokio::time::timeout(pause_after(failures), goes_on).await;
    }

    /// Changes after every commit.
    pub fn written(&self) -> watch::Receiver<u64> {
        self.store.subscribe(self.chain_id())
    }

    /// Says why a task stands still, once per reason.
    pub fn wait_because(&self, task: Task, error: &Error) {
        let why = error.to_string();
        if self.progress.set_waiting(task, Some(why.clone())) {
            tracing::warn!(chain.id = self.chain_id().0, ?task, error = %why, "ingest is waiting");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_after_failures_grow_within_limits() {
        let pauses: Vec<u128> = (1..=10).map(|n| pause_after(n).as_millis()).collect();
        let expected = [500, 500, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000];
        assert_eq!(pauses, expected);
        assert_eq!((pause_after(0), pause_after(u32::MAX)), (PAUSE_MIN, PAUSE_MAX));
    }
}
