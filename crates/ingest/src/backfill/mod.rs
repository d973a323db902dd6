//! Fills history downwards from the head.
//!
//! Several requests are under way at once, but blocks are committed strictly from the top down: each
//! must be the parent of one that is stored, so everything in the store hangs by hashes on the head.

mod flight;

use rpc::UpstreamId;
use store::{Change, Coverage, Origin};

use crate::chain::{Context, PAUSE};
use crate::error::Error;
use crate::progress::Task;
use crate::reorg;
use crate::source::{Child, Sourced};
use flight::{Flight, Gap};

pub(crate) async fn run(context: Context) {
    let mut heads = context.source.pool.heads();
    let mut written = context.written();
    context.source.settled().await;
    let mut rather_not = None;
    loop {
        heads.mark_unchanged();
        written.mark_unchanged();
        match fill(&context, &mut rather_not).await {
            // Everything is there; a new head or a commit may leave a gap below it.
            Ok(()) => {
                context.progress.set_waiting(Task::Backfill, None);
                let go_on = tokio::select! {
                    changed = heads.changed() => changed.is_ok(),
                    changed = written.changed() => changed.is_ok(),
                };
                if !go_on {
                    return;
                }
            }
            Err(error) => {
                context.wait_because(Task::Backfill, &error);
                if !error.is_retryable() {
                    tracing::error!(%error, "filling history ended");
                    return;
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// `rather_not` is whoever gave blocks of another branch last time.
async fn fill(context: &Context, rather_not: &mut Option<UpstreamId>) -> Result<(), Error> {
    loop {
        let Some(head) = *context.source.pool.heads().borrow() else { return Ok(()) };
        let coverage = context.coverage().await?;
        tell_missing(context, &coverage);
        let Some(gap) = next_gap(&coverage, context.from_block, head.number) else { return Ok(()) };
        fill_gap(context, gap, rather_not).await?;
    }
}

/// The gap right under the range that holds the head. Ranges above the node's head, as files may
/// bring them, are none of its business.
fn next_gap(coverage: &Coverage, floor: u64, head: u64) -> Option<Gap> {
    let (lowest, _) = *coverage.ranges().iter().rfind(|(from, _)| *from <= head)?;
    let top = coverage.gap_below(lowest, floor)?;
    let below = coverage.ranges().iter().rev().map(|(_, to)| *to).find(|to| *to < top);
    Some(Gap { top, bottom: below.map_or(floor, |to| (to + 1).max(floor)) })
}

fn tell_missing(context: &Context, coverage: &Coverage) {
    let head = context.source.pool.heads().borrow().map_or(0, |head| head.number);
    context.progress.set_missing(coverage.missing(context.from_block, head));
}

async fn fill_gap(
    context: &Context,
    gap: Gap,
    rather_not: &mut Option<UpstreamId>,
) -> Result<(), Error> {
    let mut flight = Flight::new(context, gap, rather_not.take());
    let mut failed = None;
    loop {
        if failed.is_none() {
            flight.launch();
        }
        // What came in before a failure is not thrown away.
        let ready = flight.take_ready(failed.is_some());
        if !ready.is_empty() {
            let writing = write(context, ready, rather_not);
            beside(&mut flight, &mut failed, writing).await?;
            context.progress.set_waiting(Task::Backfill, None);
        } else if failed.is_some() {
            break;
        } else {
            match flight.land().await {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => failed = Some(error),
            }
        }
    }
    failed.map_or(Ok(()), Err)
}

/// Goes on fetching while blocks are written: the disk and the processors have different work.
async fn beside(
    flight: &mut Flight<'_>,
    failed: &mut Option<Error>,
    writing: impl Future<Output = Result<(), Error>>,
) -> Result<(), Error> {
    tokio::pin!(writing);
    loop {
        tokio::select! {
            written = &mut writing => return written,
            landed = flight.land(), if failed.is_none() && flight.is_under_way() => {
                match landed {
                    Ok(_) => flight.launch(),
                    Err(error) => *failed = Some(error),
                }
            }
        }
    }
}

/// Writes blocks, falling from just below a stored one, as far down as they hang on it.
async fn write(
    context: &Context,
    blocks: Vec<Sourced>,
    rather_not: &mut Option<UpstreamId>,
) -> Result<(), Error> {
    let turn = context.turn.lock().await;
    let Some(first) = blocks.first() else { return Ok(()) };
    let mut child = stored_child(context, first.block.number).await?;
    let mut fitting = Vec::with_capacity(blocks.len());
    let mut misfit = None;
    for sourced in blocks {
        if sourced.block.hash != child.parent_hash {
            misfit = Some((sourced.upstream, child));
            break;
        }
        child = crate::follow::child_of(&sourced);
        fitting.push(sourced);
    }
    if let Some(bottom) = fitting.last() {
        let stale = stale_below(context, bottom.upstream, child).await?;
        let apply = fitting.into_iter().map(|sourced| sourced.block).collect();
        let change = Change { origin: Origin::History, revert: stale, apply, ..Change::default() };
        reorg::take_back(context, change).await?;
        tell_missing(context, &context.coverage().await?);
    }
    drop(turn);
    match misfit {
        // The child is believed, so whoever gave this is wrong, or on another branch.
        Some((upstream, child)) => {
            *rather_not = Some(upstream);
            context.source.hold(upstream, child).await?;
            Err(Error::Moved { number: child.number - 1 })
        }
        None => Ok(()),
    }
}

/// The stored block above; the head's follower may have taken it back meanwhile.
async fn stored_child(context: &Context, below: u64) -> Result<Child, Error> {
    let (view, chain) = (context.store.view().await?, context.source.chain_id());
    let moved = || Error::Moved { number: below };
    let number = below.checked_add(1).ok_or_else(moved)?;
    let stored = view.block_summary(chain, number).await?.ok_or_else(moved)?;
    let parent_hash = view.parent_hash(chain, number).await?.ok_or_else(moved)?;
    Ok(Child { number, hash: stored.hash, parent_hash })
}

/// Blocks of the next older range that are not on the chain that reaches it from above: it was
/// stored before a reorganisation that nobody saw.
async fn stale_below(
    context: &Context,
    upstream: UpstreamId,
    child: Child,
) -> Result<Vec<u64>, Error> {
    let (coverage, below) = {
        let (view, chain) = (context.store.view().await?, context.source.chain_id());
        let Some(number) = child.number.checked_sub(1) else { return Ok(Vec::new()) };
        let stored = view.block_summary(chain, number).await?;
        if stored.is_none_or(|stored| stored.hash == child.parent_hash) {
            return Ok(Vec::new());
        }
        (view.coverage(chain).await?, number)
    };
    let Some((oldest, _)) = coverage.range_of(below) else { return Ok(Vec::new()) };
    let ancestor = reorg::ancestor(context, upstream, oldest, below).await?;
    let first = ancestor.map_or(oldest, |ancestor| ancestor + 1);
    tracing::info!(
        chain.id = context.source.chain_id().0,
        first,
        last = below,
        "an older range is not on the chain of the head and is taken back"
    );
    Ok((first..=below).rev().collect())
}
