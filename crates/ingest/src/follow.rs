//! Follows the head: every new head is fetched, verified, attached, and committed at once.

use store::{Change, Coverage, Prepared};

use crate::chain::{Context, PAUSE};
use crate::error::Error;
use crate::reorg;
use crate::verify::Senders;

/// A head further above what is stored than this starts a range of its own, and the gap is
/// history: the newest blocks come first.
const CATCH_UP_BLOCKS: u64 = 64;

pub(crate) async fn run(context: Context) {
    let mut heads = context.source.pool.heads();
    let mut failed = false;
    loop {
        if failed {
            // A new head or a little time, whatever comes first.
            let _ = tokio::time::timeout(PAUSE, heads.changed()).await;
        } else if heads.changed().await.is_err() {
            return;
        }
        let Some(head) = *heads.borrow_and_update() else { continue };
        context.progress.set_node_head(head.number);
        match step(&context, head).await {
            Ok(()) => {
                failed = false;
                context.progress.set_waiting(None);
            }
            Err(error) => {
                failed = true;
                if !matches!(error, Error::Moved { .. }) {
                    context.wait_because(&error);
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
async fn step(context: &Context, head: rpc::Head) -> Result<(), Error> {
    let chain = context.source.chain_id();
    let (coverage, stored) = {
        let view = context.store.view();
        (view.coverage(chain)?, view.stamp(chain, head.number)?)
    };
    match stored {
        // Known, and so is all below: a node that stepped back, or came late.
        Some(stamp) if stamp.hash == head.hash => return Ok(()),
        Some(_) => return reorg::to_head(context, head.number, &coverage).await,
        None => {}
    }
    let below = highest_below(&coverage, head.number);
    let from = match below {
        Some(below) if head.number - below <= CATCH_UP_BLOCKS => below + 1,
        _ => head.number,
    };
    let blocks = fetch(context, from, head.number).await?;
    if let (Some(below), Some(first)) = (below, blocks.first())
        && first.number == below + 1
        && context.store.view().stamp(chain, below)?.is_some_and(|s| s.hash != first.parent_hash)
    {
        return reorg::to_head(context, below, &coverage).await;
    }
    context.commit(Change { revert: Vec::new(), apply: blocks }).await?;
    Ok(())
}

/// Verified blocks of a range, linked to each other.
pub(crate) async fn fetch(context: &Context, from: u64, to: u64) -> Result<Vec<Prepared>, Error> {
    let mut blocks: Vec<Prepared> = Vec::new();
    let numbers: Vec<u64> = (from..=to).collect();
    for part in numbers.chunks(context.config.segment_blocks.max(1)) {
        for block in context.source.blocks(part, Senders::All).await? {
            if blocks.last().is_some_and(|parent| parent.hash != block.parent_hash) {
                return Err(Error::Moved { number: block.number });
            }
            blocks.push(block);
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
