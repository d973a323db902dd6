//! Counts the blocks that are stored without traces, and says so in the progress, the metrics and the log.
//!
//! Beside the work on them: a node that takes long for one block must not leave the count behind.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::context::Context;
use crate::error::Error;
use crate::progress::TraceFailure;

/// How far they are counted, and how often at most.
const COUNT_MAX: usize = 1_000;
const COUNT_EVERY: Duration = Duration::from_secs(1);
/// Blocks that stay untraced for so long are worth a line in the log, and another one each so often.
const TELL_AFTER: Duration = Duration::from_secs(60);
const TELL_EVERY: Duration = Duration::from_secs(3600);

/// Never ends.
pub async fn watch(context: &Context) {
    let mut upstreams = context.source.pool.changes();
    let mut written = context.written();
    let mut notice = Notice::default();
    loop {
        upstreams.mark_unchanged();
        written.mark_unchanged();
        match count(context).await {
            Ok(blocks) => {
                if notice.is_due(blocks > 0, Instant::now()) {
                    tell(context, blocks);
                }
            }
            Err(error) => tracing::debug!(%error, "untraced blocks could not be counted"),
        }
        sleep(COUNT_EVERY).await;
        tokio::select! {
            Ok(()) = upstreams.changed() => {}
            Ok(()) = written.changed() => {}
            () = sleep(TELL_AFTER) => {}
        }
    }
}

async fn count(context: &Context) -> Result<u64, Error> {
    let (view, chain) = (context.store.view().await?, context.chain_id());
    let untraced = view.untraced_blocks(chain, u64::MAX, COUNT_MAX).await?;
    drop(view);
    let (pool, progress) = (&context.source.pool, &context.progress);
    progress.set_untraced(untraced.len() as u64);
    match untraced.first() {
        None => progress.set_trace_failure(None),
        Some(block) if pool.traceable_from().is_none() => {
            let reason = nobody_traces(context);
            progress.set_trace_failure(Some(TraceFailure { block: *block, reason }));
        }
        Some(_) => {}
    }
    let slug = context.source.chain.slug.clone();
    metrics::gauge!("headwater_blocks_untraced", "chain" => slug).set(untraced.len() as f64);
    Ok(untraced.len() as u64)
}

/// Each node in its own words.
fn nobody_traces(context: &Context) -> String {
    let mut reason = "no node in use traces".to_owned();
    for upstream in context.source.pool.status().upstreams {
        if let Some(why) = upstream.trace_failure {
            reason += &format!("; {}: {why}", upstream.name);
        }
    }
    reason
}

fn tell(context: &Context, blocks: u64) {
    let failure = context.progress.snapshot().trace_failure;
    let reason = failure.map_or("not asked for yet".to_owned(), |failure| failure.reason);
    tracing::warn!(
        chain.id = context.chain_id().0,
        blocks,
        %reason,
        "blocks stay without traces; they are asked for again"
    );
}

/// When to tell of blocks that stay untraced. Pure.
#[derive(Default)]
struct Notice {
    since: Option<Instant>,
    told: Option<Instant>,
}

impl Notice {
    fn is_due(&mut self, has_untraced: bool, now: Instant) -> bool {
        if !has_untraced {
            self.since = None;
            return false;
        }
        let since = *self.since.get_or_insert(now);
        let is_due =
            now >= since + TELL_AFTER && self.told.is_none_or(|told| now >= told + TELL_EVERY);
        if is_due {
            self.told = Some(now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_stay_untraced_are_told_of_after_a_minute_and_once_an_hour() {
        let (mut notice, began) = (Notice::default(), Instant::now());
        let at = |seconds| began + Duration::from_secs(seconds);
        let told: Vec<u64> = (0..2 * 3600).filter(|s| notice.is_due(true, at(*s))).collect();
        assert_eq!(told, [60, 3660]);
        assert!(!notice.is_due(false, at(7300)));
        let again: Vec<u64> = (7301..9000).filter(|s| notice.is_due(true, at(*s))).collect();
        assert_eq!(again, [7361], "not at once, since all were traced meanwhile");
    }
}
