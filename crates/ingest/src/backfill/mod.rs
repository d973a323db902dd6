//! Fills history downwards from the head.
//!
//! Several requests are under way at once, but blocks are committed strictly from the top down: each
//! must be the parent of one that is stored, so everything in the store hangs by hashes on the head.
//! Where no node has older blocks, history ends; that is said, and looked at again now and then.

mod fetch_queue;
mod gap;
mod history_end;
mod junction;
mod write;

use rpc::UpstreamId;
use store::Origin;
use tokio::time::{Instant, sleep_until};

use crate::config::Config;
use crate::context::{CATCH_UP_BLOCKS, Context};
use crate::error::Error;
use crate::progress::Task;
use crate::source::{BlockRequest, TraceEffort};
use fetch_queue::{FetchQueue, Pace, ReadyBlocks};
use gap::{Gap, next_gap};
use history_end::HistoryEnd;
use write::write;

/// Ends when the nodes were let go, or with an error that does not heal by asking again.
pub(crate) async fn run(context: Context) -> Result<(), Error> {
    let mut heads = context.source.pool.heads();
    let mut upstreams = context.source.pool.changes();
    let mut written = context.written();
    context.source.settled().await;
    let mut backfill = Backfill::new(&context);
    loop {
        if upstreams.has_changed().unwrap_or(false) {
            backfill.end.look_again(Instant::now());
        }
        heads.mark_unchanged();
        written.mark_unchanged();
        upstreams.mark_unchanged();
        match backfill.fill().await {
            // Nothing to do; a new head or a commit may leave a gap below it.
            Ok(filled) => {
                backfill.failures = 0;
                let look_again = async {
                    match filled {
                        Filled::All => std::future::pending().await,
                        Filled::UpToEnd { until } => sleep_until(until).await,
                    }
                };
                let go_on = tokio::select! {
                    changed = heads.changed() => changed.is_ok(),
                    changed = written.changed() => changed.is_ok(),
                    changed = upstreams.changed() => {
                        backfill.end.look_again(Instant::now());
                        changed.is_ok()
                    }
                    () = look_again => true,
                };
                if !go_on {
                    return Ok(());
                }
            }
            Err(error) => {
                backfill.failed();
                context.wait_because(Task::Backfill, &error);
                if !error.is_retryable() {
                    return Err(error);
                }
                tokio::select! {
                    _ = upstreams.changed() => backfill.end.look_again(Instant::now()),
                    () = context.pause(backfill.failures) => {}
                }
            }
        }
    }
}

/// How far history was filled.
enum Filled {
    All,
    /// No node has older blocks; to be looked at again at this moment.
    UpToEnd {
        until: Instant,
    },
}

struct Backfill<'a> {
    context: &'a Context,
    /// Whoever gave blocks of another branch last time.
    avoid: Option<UpstreamId>,
    end: HistoryEnd,
    /// In a row.
    failures: u32,
    /// Whether anything was written since the last failure.
    wrote: bool,
}

impl<'a> Backfill<'a> {
    fn new(context: &'a Context) -> Self {
        Backfill { context, avoid: None, end: HistoryEnd::default(), failures: 0, wrote: false }
    }

    async fn fill(&mut self) -> Result<Filled, Error> {
        loop {
            let Some(gap) = self.gap().await? else {
                self.end.forget();
                self.context.progress.set_history_end(None);
                self.context.progress.set_waiting(Task::Backfill, None);
                return Ok(Filled::All);
            };
            let top = gap.top;
            match self.end.until(top) {
                Some(until) if Instant::now() < until => {
                    self.tell_end(top.saturating_add(1), false);
                    return Ok(Filled::UpToEnd { until });
                }
                // Only the block in question, not all that would follow.
                Some(_) => {
                    if let Some(until) = self.look_for(top).await? {
                        return Ok(Filled::UpToEnd { until });
                    }
                }
                None => {}
            }
            let filled = self.fill_gap(gap, self.pace()).await;
            let Err(Error::NotThere { number }) = filled else {
                filled?;
                continue;
            };
            if let Some(until) = self.reach_end(number).await? {
                return Ok(Filled::UpToEnd { until });
            }
        }
    }

    fn failed(&mut self) {
        self.failures = if std::mem::take(&mut self.wrote) { 1 } else { self.failures + 1 };
    }

    /// Fewer blocks at once after failures: a small request comes through where a large one does not.
    fn pace(&self) -> Pace {
        let Config { segment_blocks, workers, .. } = self.context.config;
        let smaller = |n: usize| (n >> self.failures.min(16)).max(1);
        Pace { segment_blocks: smaller(segment_blocks), workers: smaller(workers) }
    }

    /// The next gap to fill; also counts what is missing.
    async fn gap(&self) -> Result<Option<Gap>, Error> {
        let Some(head) = *self.context.source.pool.heads().borrow() else { return Ok(None) };
        let coverage = self.context.coverage().await?;
        let floor = self.context.floor(head.number).await?;
        self.context.progress.set_missing(coverage.missing(floor, head.number));
        Ok(next_gap(&coverage, floor, head.number))
    }

    /// Some block of the next ones could not be had. Takes those above it, one by one, and then finds out
    /// whether anybody has it.
    async fn reach_end(&mut self, number: u64) -> Result<Option<Instant>, Error> {
        let not_there = Error::NotThere { number };
        let head = self.context.source.pool.heads().borrow().map_or(0, |head| head.number);
        if number.saturating_add(CATCH_UP_BLOCKS) >= head {
            // That new, it is on its way.
            return Err(not_there);
        }
        let Some(Gap { top, bottom }) = self.gap().await? else { return Ok(None) };
        let some = self.context.config.segment_blocks.max(1) as u64;
        let bottom = bottom.max(top.saturating_sub(some - 1));
        match self.fill_gap(Gap { top, bottom }, Pace::ONE_BY_ONE).await {
            Err(Error::NotThere { number }) => {
                let is_next = self.gap().await?.is_some_and(|gap| gap.top == number);
                if is_next { self.look_for(number).await } else { Err(not_there) }
            }
            filled => filled.map(|()| None),
        }
    }

    /// Asks every node for the block. Some moment to look again where nobody has it, and that is
    /// believed; none where somebody has it.
    async fn look_for(&mut self, number: u64) -> Result<Option<Instant>, Error> {
        let context = self.context;
        let (origin, senders) = (Origin::History, context.config.senders.into());
        let mut denied = false;
        for upstream in context.source.pool.upstreams() {
            let (traces, only) = (TraceEffort::Retrace, Some(upstream));
            let request = BlockRequest { origin, senders, traces, only, avoid: None };
            match context.source.blocks(&[number], request).await {
                Ok(_) => {
                    self.end.forget();
                    context.progress.set_history_end(None);
                    return Ok(None);
                }
                Err(Error::NotThere { .. }) => denied = true,
                // It is not in use.
                Err(Error::Upstream(rpc::Error::NoUpstream { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        let was_believed = self.end.until(number).is_some();
        let until = if denied { self.end.nobody_has(number, Instant::now()) } else { None };
        let Some(until) = until else { return Err(Error::NotThere { number }) };
        self.tell_end(number.saturating_add(1), !was_believed);
        Ok(Some(until))
    }

    /// `oldest` is the last block of history that any node has.
    fn tell_end(&self, oldest: u64, is_news: bool) {
        let progress = &self.context.progress;
        let why = format!("history ends at block {oldest}: no node has older ones");
        // It works: there is just nothing more to be had.
        progress.set_waiting(Task::Backfill, None);
        progress.set_waiting(Task::Backfill, Some(why));
        progress.set_history_end(Some(oldest));
        if is_news {
            tracing::warn!(
                chain.id = self.context.chain_id().0,
                block.number = oldest,
                "history ends here: no node has older blocks; they are asked for again after growing \
                 pauses, and when another node comes into use"
            );
        }
    }

    async fn fill_gap(&mut self, gap: Gap, pace: Pace) -> Result<(), Error> {
        let (context, top) = (self.context, gap.top);
        let mut queue = FetchQueue::new(context, gap, pace, self.avoid.take());
        let mut failed = None;
        loop {
            if failed.is_none() {
                queue.submit();
            }
            // What came in before a failure is not thrown away.
            let ReadyBlocks { blocks, held } = queue.take_ready(failed.is_some());
            if !blocks.is_empty() {
                let writing = write(context, blocks, &mut self.avoid);
                fetch_while(&mut queue, &mut failed, writing).await?;
                drop(held);
                self.wrote = true;
                let was_slower = self.failures > 0;
                self.failures = self.failures.saturating_sub(1);
                context.progress.set_waiting(Task::Backfill, None);
                // Faster again; or a newer gap above this one: the head went on without us for a while.
                if was_slower || self.gap().await?.is_some_and(|gap| gap.top > top) {
                    break;
                }
            } else if failed.is_some() {
                break;
            } else {
                match queue.next().await {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(error) => failed = Some(error),
                }
            }
        }
        failed.map_or(Ok(()), Err)
    }
}

/// Goes on fetching while blocks are written: the disk and the processors have different work.
async fn fetch_while(
    queue: &mut FetchQueue<'_>,
    failed: &mut Option<Error>,
    writing: impl Future<Output = Result<(), Error>>,
) -> Result<(), Error> {
    tokio::pin!(writing);
    loop {
        tokio::select! {
            written = &mut writing => return written,
            response = queue.next(), if failed.is_none() && queue.is_under_way() => {
                match response {
                    Ok(_) => queue.submit(),
                    Err(error) => *failed = Some(error),
                }
            }
        }
    }
}
