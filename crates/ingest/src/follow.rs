//! Follows the head: every new head is fetched, verified, attached, and committed at once.

use rpc::UpstreamId;
use store::{Coverage, Origin};

use crate::chain::{Context, PAUSE};
use crate::error::Error;
use crate::progress::Task;
use crate::reorg;
use crate::source::{Ask, Child, Sourced};
use crate::verify::Senders;

/// A head further above what is stored than this starts a range of its own, and the gap is
/// history: the newest blocks come first.
const CATCH_UP_BLOCKS: u64 = 64;
/// A chain that moves while it is read is nothing to speak of, unless it never stops.
const MOVES_UNTOLD: u32 = 5;

pub(crate) async fn run(context: Context) {
    let mut heads = context.source.pool.heads();
    // A head may be known already.
    heads.mark_changed();
    context.source.settled().await;
    let mut failures = 0;
    loop {
        if failures > 0 {
            // A new head or a little time, whatever comes first.
            let _ = tokio::time::timeout(PAUSE, heads.changed()).await;
        } else if heads.changed().await.is_err() {
            return;
        }
        let Some(head) = *heads.borrow_and_update() else { continue };
        context.progress.set_node_head(head.number);
        match reach(&context, head).await {
            Ok(()) => {
                failures = 0;
                context.progress.set_waiting(Task::Follow, None);
            }
            Err(error) => {
                failures += 1;
                if failures > MOVES_UNTOLD || !matches!(error, Error::Moved { .. }) {
                    context.wait_because(Task::Follow, &error);
                }
                if !error.is_retryable() {
                    tracing::error!(%error, "following the head ended");
                    return;
                }
            }
        }
    }
}

/// Brings the store to this head, or finds out that it is there already.
async fn reach(context: &Context, head: rpc::Head) -> Result<(), Error> {
    let chain = context.source.chain_id();
    loop {
        let (coverage, stored) = {
            let view = context.store.view().await?;
            (view.coverage(chain).await?, view.block_summary(chain, head.number).await?)
        };
        let from = match (stored, highest_below(&coverage, head.number)) {
            // Known, and so is all below: a node that stepped back, or came late.
            (Some(block), _) if block.hash == head.hash => return Ok(()),
            (None, Some(below)) if head.number - below <= CATCH_UP_BLOCKS => below + 1,
            _ => head.number,
        };
        let blocks = fetch_head(context, from, head).await?;
        let reached = blocks.last().map(|last| (last.block.number, last.block.hash));
        if stored.is_some_and(|block| reached == Some((block.number, block.hash))) {
            // Whoever was asked still has the block that is stored.
            return Err(Error::Moved { number: head.number });
        }
        match attach(context, blocks, head.number).await? {
            Attached::AtHead => return Ok(()),
            Attached::Below => {}
        }
    }
}

/// How far a commit brought the store.
enum Attached {
    AtHead,
    /// A long branch is written in parts.
    Below,
}

/// Writes linked blocks, and takes back what they displace.
async fn attach(context: &Context, blocks: Vec<Sourced>, head: u64) -> Result<Attached, Error> {
    let chain = context.source.chain_id();
    let Some(first) = blocks.first() else { return Err(Error::Moved { number: head }) };
    let below = match first.block.number.checked_sub(1) {
        Some(below) => context.store.view().await?.block_summary(chain, below).await?,
        None => None,
    };
    let blocks = match below {
        Some(below) if below.hash != first.block.parent_hash => {
            reorg::branch(context, first, head).await?
        }
        Some(_) => blocks,
        // Nothing is stored to hang it on: the node's own word must do, and must hold.
        None => {
            context.source.hold(first.upstream, child_of(first)).await?;
            blocks
        }
    };
    let last = blocks.last().map(|last| last.block.number);
    let apply: Vec<_> = blocks.into_iter().map(|sourced| sourced.block).collect();
    reorg::replace(context, Origin::Head, apply).await?;
    Ok(if last >= Some(head) { Attached::AtHead } else { Attached::Below })
}

pub(crate) fn child_of(sourced: &Sourced) -> Child {
    let block = &sourced.block;
    Child { number: block.number, hash: block.hash, parent_hash: block.parent_hash }
}

/// Best from the node that told of the head; from any other when it cannot give the blocks.
async fn fetch_head(context: &Context, from: u64, head: rpc::Head) -> Result<Vec<Sourced>, Error> {
    let only = context.source.can_give(head.upstream).then_some(head.upstream);
    match fetch(context, from, head.number, only).await {
        Ok(blocks) => Ok(blocks),
        // It moves, or there was nobody else to begin with.
        Err(error @ (Error::Moved { .. } | Error::Store(_))) => Err(error),
        Err(error) if only.is_none() => Err(error),
        Err(_) => fetch(context, from, head.number, None).await,
    }
}

/// Verified blocks of a range, linked to each other.
pub(crate) async fn fetch(
    context: &Context,
    from: u64,
    to: u64,
    only: Option<UpstreamId>,
) -> Result<Vec<Sourced>, Error> {
    let mut blocks: Vec<Sourced> = Vec::new();
    let numbers: Vec<u64> = (from..=to).collect();
    for part in numbers.chunks(context.config.segment_blocks.max(1)) {
        for next in context
            .source
            .blocks(part, Ask { senders: Senders::All, only, rather_not: None })
            .await?
        {
            if blocks.last().is_some_and(|parent| parent.block.hash != next.block.parent_hash) {
                // From two answers: either the chain moved between them, or this one is wrong.
                context.source.hold(next.upstream, child_of(&next)).await?;
                return Err(Error::Moved { number: next.block.number });
            }
            blocks.push(next);
        }
    }
    Ok(blocks)
}

fn highest_below(coverage: &Coverage, number: u64) -> Option<u64> {
    coverage.ranges().iter().rev().map(|(from, to)| (*from, *to)).find_map(|(from, to)| {
        let top = to.min(number.checked_sub(1)?);
        (from <= top).then_some(top)
    })
}
