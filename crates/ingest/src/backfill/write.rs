//! Fetched history into the store: as far down as it hangs on what is stored above, and what it shows to
//! be stale below.
//!
//! Nodes are asked before the writer's turn is taken; with the turn in hand, what was found is held
//! against the store once more.

use rpc::UpstreamId;
use store::{Change, Origin};

use super::junction::{StaleBlocks, meets_another_branch};
use crate::context::Context;
use crate::error::Error;
use crate::source::{Child, FetchedBlock};

/// How often to look again where the store changes meanwhile.
const TRIES: usize = 3;

/// Writes blocks, falling from just below a stored one, as far down as they hang on it. `avoid` is
/// whoever gave a block that does not.
pub async fn write(
    context: &Context,
    blocks: Vec<FetchedBlock>,
    avoid: &mut Option<UpstreamId>,
) -> Result<(), Error> {
    let Some(top) = blocks.first().map(|first| first.block.number) else { return Ok(()) };
    let above = top.checked_add(1).ok_or(Error::Moved { number: top })?;
    let above = stored_child(context, above).await?;
    let (mut fitting, misfit) = split_at_misfit(above, blocks);
    // Where the lowest one meets a range that is stale, the others need not wait until that is certain.
    if let Some(bottom) = fitting.pop() {
        let child = bottom.child();
        if fitting.is_empty() || !meets_another_branch(context, child).await? {
            fitting.push(bottom);
            write_linked(context, above, fitting).await?;
        } else {
            let above_bottom = fitting.last().map_or(above, FetchedBlock::child);
            write_linked(context, above, fitting).await?;
            write_linked(context, above_bottom, vec![bottom]).await?;
        }
    }
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

/// The blocks that hang on each other from `child` down, and who gave the first that does not, with the
/// block above it.
fn split_at_misfit(
    mut child: Child,
    blocks: Vec<FetchedBlock>,
) -> (Vec<FetchedBlock>, Option<(UpstreamId, Child)>) {
    let mut fitting = Vec::with_capacity(blocks.len());
    for fetched in blocks {
        if fetched.block.hash != child.parent_hash {
            return (fitting, Some((fetched.upstream, child)));
        }
        child = fetched.child();
        fitting.push(fetched);
    }
    (fitting, None)
}

async fn write_linked(
    context: &Context,
    above: Child,
    blocks: Vec<FetchedBlock>,
) -> Result<(), Error> {
    let moved = Error::Moved { number: above.number };
    let Some(bottom) = blocks.last() else { return Ok(()) };
    let (upstream, lowest) = (bottom.upstream, bottom.child());
    for _ in 0..TRIES {
        let stale = StaleBlocks::find(context, upstream, lowest).await?;
        // Not with the turn in hand: the head would wait as well.
        context.store.ready_for_history(context.chain_id()).await?;
        let turn = context.committer.turn().await;
        if stored_child(context, above.number).await? != above {
            return Err(moved);
        }
        if stale.still_hold(context).await? {
            let apply = blocks.into_iter().map(|fetched| fetched.block).collect();
            let (origin, revert) = (Origin::History, stale.numbers);
            return turn.commit(Change { origin, revert, apply, ..Change::default() }).await;
        }
    }
    Err(moved)
}

/// The stored block of that number; the head's follower may have reverted it meanwhile.
async fn stored_child(context: &Context, number: u64) -> Result<Child, Error> {
    let (view, chain) = (context.store.view().await?, context.chain_id());
    let moved = || Error::Moved { number };
    let stored = view.block_summary(chain, number).await?.ok_or_else(moved)?;
    let parent_hash = view.parent_hash(chain, number).await?.ok_or_else(moved)?;
    Ok(Child { number, hash: stored.hash, parent_hash })
}
