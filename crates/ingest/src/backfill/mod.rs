//! Fills history downwards from the head.
//!
//! Several requests are under way at once, but blocks are committed strictly from the top down: each
//! must be the parent of one that is stored, so everything in the store hangs by hashes on the head.

mod fetch_queue;
mod gap;

use rpc::UpstreamId;
use store::{Change, Coverage, Origin};

use crate::context::{Context, PAUSE};
use crate::error::Error;
use crate::progress::Task;
use crate::reorg;
use crate::source::{Child, FetchedBlock};
use fetch_queue::FetchQueue;
use gap::{Gap, next_gap};

pub(crate) async fn run(context: Context) {
    let mut heads = context.source.pool.heads();
    let mut written = context.written();
    context.source.settled().await;
    let mut avoid = None;
    loop {
        heads.mark_unchanged();
        written.mark_unchanged();
        match fill(&context, &mut avoid).await {
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
                    tracing::error!(%error, "stopped filling history");
                    return;
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// `avoid` is whoever gave blocks of another branch last time.
async fn fill(context: &Context, avoid: &mut Option<UpstreamId>) -> Result<(), Error> {
    loop {
        let Some(head) = *context.source.pool.heads().borrow() else { return Ok(()) };
        let coverage = context.coverage().await?;
        let floor = context.floor(head.number).await?;
        tell_missing(context, &coverage, floor);
        let Some(gap) = next_gap(&coverage, floor, head.number) else { return Ok(()) };
        fill_gap(context, gap, avoid).await?;
    }
}

/// Whether a newer gap has come up above this one: the head went on without us for a while.
async fn is_overtaken(context: &Context, top: u64) -> Result<bool, Error> {
    let Some(head) = *context.source.pool.heads().borrow() else { return Ok(false) };
    let floor = context.floor(head.number).await?;
    let next = next_gap(&context.coverage().await?, floor, head.number);
    Ok(next.is_some_and(|gap| gap.top > top))
}

fn tell_missing(context: &Context, coverage: &Coverage, floor: u64) {
    let head = context.source.pool.heads().borrow().map_or(0, |head| head.number);
    context.progress.set_missing(coverage.missing(floor, head));
}

async fn fill_gap(
    context: &Context,
    gap: Gap,
    avoid: &mut Option<UpstreamId>,
) -> Result<(), Error> {
    let top = gap.top;
    let mut queue = FetchQueue::new(context, gap, avoid.take());
    let mut failed = None;
    loop {
        if failed.is_none() {
            queue.submit();
        }
        // What came in before a failure is not thrown away.
        let ready = queue.take_ready(failed.is_some());
        if !ready.is_empty() {
            let writing = write(context, ready, avoid);
            fetch_while(&mut queue, &mut failed, writing).await?;
            context.progress.set_waiting(Task::Backfill, None);
            if is_overtaken(context, top).await? {
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

/// Writes blocks, falling from just below a stored one, as far down as they hang on it.
async fn write(
    context: &Context,
    blocks: Vec<FetchedBlock>,
    avoid: &mut Option<UpstreamId>,
) -> Result<(), Error> {
    let turn = context.committer.turn().await;
    let Some(first) = blocks.first() else { return Ok(()) };
    let mut child = stored_child(context, first.block.number).await?;
    let mut fitting = Vec::with_capacity(blocks.len());
    let mut misfit = None;
    for fetched in blocks {
        if fetched.block.hash != child.parent_hash {
            misfit = Some((fetched.upstream, child));
            break;
        }
        child = fetched.child();
        fitting.push(fetched);
    }
    if let Some(bottom) = fitting.last() {
        let revert = stale_below(context, bottom.upstream, child).await?;
        let apply = fitting.into_iter().map(|fetched| fetched.block).collect();
        let change = Change { origin: Origin::History, revert, apply, ..Change::default() };
        turn.commit(change).await?;
        let head = context.source.pool.heads().borrow().map_or(0, |head| head.number);
        let floor = context.floor(head).await?;
        tell_missing(context, &context.coverage().await?, floor);
    }
    drop(turn);
    match misfit {
        // The child is believed, so whoever gave this is wrong, or on another branch.
        Some((upstream, child)) => {
            *avoid = Some(upstream);
            context.source.check_parent_link(upstream, child).await?;
            Err(Error::Moved { number: child.number - 1 })
        }
        None => Ok(()),
    }
}

/// The stored block above; the head's follower may have reverted it meanwhile.
async fn stored_child(context: &Context, below: u64) -> Result<Child, Error> {
    let (view, chain) = (context.store.view().await?, context.chain_id());
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
        let (view, chain) = (context.store.view().await?, context.chain_id());
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
        chain.id = context.chain_id().0,
        first,
        last = below,
        "reverting an older range that is not on the head's chain"
    );
    Ok((first..=below).rev().collect())
}
