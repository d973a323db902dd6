//! Fills history downwards from the head.
//!
//! Several requests are under way at once, but blocks are committed strictly from the top down: each
//! must be the parent of one that is stored, so everything in the store hangs by hashes on the head.

use std::collections::BTreeMap;

use store::{Change, Coverage, Prepared};
use tokio::task::JoinSet;

use crate::chain::{Context, PAUSE};
use crate::error::{Error, evidence};
use crate::verify::Lie;

/// Blocks written in one commit: enough to make waiting for the disk cheap.
const COMMIT_BLOCKS: usize = 96;
/// Memory that fetched blocks may hold while they wait for the ones above them.
const WAITING_BYTES_MAX: usize = 192 << 20;
/// A block that does not fit below its child is fetched again this often before the store's own
/// lower range is doubted.
const REFETCHES: u32 = 3;

pub(crate) async fn run(context: Context) {
    let mut heads = context.source.pool.heads();
    let mut misfits = 0;
    loop {
        match fill(&context, &mut misfits).await {
            // Everything is there; a new head may leave a gap behind it.
            Ok(()) => {
                if heads.changed().await.is_err() {
                    return;
                }
                tokio::time::sleep(PAUSE).await;
            }
            Err(error) => {
                context.wait_because(&error);
                if !error.is_retryable() {
                    tracing::error!(%error, "filling history ended");
                    return;
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// A stretch of blocks to fill: from `top` down to `bottom`, below a stored block.
struct Gap {
    top: u64,
    bottom: u64,
}

/// The gap right under the newest range that touches the head.
fn next_gap(coverage: &Coverage, floor: u64) -> Option<Gap> {
    let (lowest, _) = *coverage.ranges().last()?;
    let top = coverage.gap_below(lowest, floor)?;
    let below = coverage.ranges().iter().rev().map(|(_, to)| *to).find(|to| *to < top);
    Some(Gap { top, bottom: below.map_or(floor, |to| (to + 1).max(floor)) })
}

fn missing(coverage: &Coverage, floor: u64) -> u64 {
    let Some(newest) = coverage.newest() else { return 0 };
    let have: u64 = coverage
        .ranges()
        .iter()
        .filter(|(_, to)| *to >= floor)
        .map(|(from, to)| to - from.max(&floor) + 1)
        .sum();
    (newest + 1).saturating_sub(floor).saturating_sub(have)
}

async fn fill(context: &Context, misfits: &mut u32) -> Result<(), Error> {
    let chain = context.source.chain_id();
    loop {
        let coverage = context.store.view().coverage(chain)?;
        context.progress.set_missing(missing(&coverage, context.from_block));
        let Some(gap) = next_gap(&coverage, context.from_block) else { return Ok(()) };
        let outcome = fill_gap(context, gap).await;
        match outcome {
            Ok(()) => *misfits = 0,
            Err(Error::Store(store::Error::Detached { number, neighbour, expected, got })) => {
                *misfits += 1;
                misfit(context, *misfits, Misfit { number, neighbour, expected, got }).await?;
            }
            Err(error) => return Err(error),
        }
    }
}

struct Misfit {
    number: u64,
    neighbour: u64,
    expected: alloy_primitives::B256,
    got: alloy_primitives::B256,
}

/// Either what was fetched is not on the chain of the head, or an older range in the store is not.
async fn misfit(context: &Context, times: u32, m: Misfit) -> Result<(), Error> {
    let Misfit { number, neighbour, expected, got } = m;
    if neighbour < number && times > REFETCHES {
        // All above hangs on the head; the range below is from another branch.
        tracing::warn!(block.number = neighbour, "an older range is not on the chain of the head");
        context.commit(Change { revert: vec![neighbour], apply: Vec::new() }).await?;
        return Ok(());
    }
    let lie = Lie {
        block: number,
        check: "parent link",
        expected: expected.to_string(),
        got: got.to_string(),
    };
    if times > 1 && neighbour > number {
        // Verified by itself, yet not the parent of a block that hangs on the head.
        let (hash, _) = context.source.link(number).await?;
        if hash == got
            && let Some(head) = *context.source.pool.heads().borrow()
        {
            context.source.pool.report_lie(head.upstream, evidence(&lie));
        }
    }
    tokio::time::sleep(PAUSE).await;
    Ok(())
}

async fn fill_gap(context: &Context, gap: Gap) -> Result<(), Error> {
    let mut flight = Flight::new(context, gap);
    flight.launch();
    while let Some((top, blocks)) = flight.land().await? {
        flight.waiting.insert(top, blocks);
        flight.launch();
        let ready = flight.take_ready();
        if !ready.is_empty() {
            let committed = context.commit(Change { revert: Vec::new(), apply: ready }).await?;
            context.progress.set_missing(missing(&committed.coverage, context.from_block));
            context.progress.set_waiting(None);
        }
        flight.launch();
    }
    Ok(())
}

type Landed = (u64, Result<Vec<Prepared>, Error>);

/// Requests under way and blocks that wait for their turn, by their highest number.
struct Flight<'a> {
    context: &'a Context,
    gap: Gap,
    /// The highest block not yet asked for; none when all are.
    next: Option<u64>,
    /// The highest block not yet committed.
    due: u64,
    requests: JoinSet<Landed>,
    waiting: BTreeMap<u64, Vec<Prepared>>,
}

impl<'a> Flight<'a> {
    fn new(context: &'a Context, gap: Gap) -> Self {
        let (next, due) = (Some(gap.top), gap.top);
        Flight { context, gap, next, due, requests: JoinSet::new(), waiting: BTreeMap::new() }
    }

    fn waiting_bytes(&self) -> usize {
        self.waiting.values().flatten().map(Prepared::bytes).sum()
    }

    fn launch(&mut self) {
        let config = &self.context.config;
        while self.requests.len() < config.workers.max(1)
            && (self.waiting_bytes() < WAITING_BYTES_MAX || self.requests.is_empty())
            && let Some(top) = self.next
        {
            let length = config.segment_blocks.max(1) as u64;
            let bottom = top.saturating_sub(length - 1).max(self.gap.bottom);
            self.next = (bottom > self.gap.bottom).then(|| bottom - 1);
            let source = self.context.source.clone();
            let senders = config.senders.into();
            self.requests.spawn(async move {
                let numbers: Vec<u64> = (bottom..=top).rev().collect();
                (top, source.blocks(&numbers, senders).await)
            });
        }
    }

    /// The next answer, in whatever order they come.
    async fn land(&mut self) -> Result<Option<(u64, Vec<Prepared>)>, Error> {
        match self.requests.join_next().await {
            Some(Ok((top, blocks))) => Ok(Some((top, blocks?))),
            Some(Err(_)) => Err(Error::Stopped),
            None => Ok(None),
        }
    }

    /// The blocks whose turn has come, highest first. Small groups wait for more while requests
    /// are under way, so that a commit is worth its disk write.
    fn take_ready(&mut self) -> Vec<Prepared> {
        let mut due = self.due;
        let mut tops = Vec::new();
        let mut count = 0;
        while let Some(blocks) = self.waiting.get(&due) {
            tops.push(due);
            count += blocks.len();
            let Some(below) = due.checked_sub(blocks.len() as u64) else { break };
            due = below;
        }
        let last = self.requests.is_empty() && self.next.is_none();
        if count < COMMIT_BLOCKS && !last {
            return Vec::new();
        }
        self.due = due;
        tops.iter().filter_map(|top| self.waiting.remove(top)).flatten().collect()
    }
}
