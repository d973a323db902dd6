//! The chain went another way: find where, and fetch the first blocks of the new branch.
//!
//! Nothing is reverted before the first blocks of the new branch were fetched and verified and hang on
//! a stored block, or on the node's own word where nothing is stored below. Whoever commits them reverts
//! the old ones in the same commit, so readers of the store and of the journal never see a chain with a
//! hole.

use rpc::UpstreamId;
use store::BlockSummary;

use crate::context::Context;
use crate::error::Error;
use crate::source::FetchedBlock;

/// Blocks of the new branch written together with the revert; the head's follower does the rest.
const FIRST_BLOCKS: u64 = 32;

/// The first blocks of the branch that `tip` is on, from where it leaves what is stored. The block
/// stored below `tip` is not its parent.
pub(crate) async fn branch(
    context: &Context,
    tip: &FetchedBlock,
    head: u64,
) -> Result<Vec<FetchedBlock>, Error> {
    let moved = Error::Moved { number: tip.block.number };
    let Some(conflict) = tip.block.number.checked_sub(1) else { return Err(moved) };
    let coverage = context.coverage().await?;
    let Some((oldest, _)) = coverage.range_of(conflict) else { return Err(moved) };
    let ancestor = ancestor(context, tip.upstream, oldest, conflict).await?;
    let first = ancestor.map_or(oldest, |ancestor| ancestor + 1);
    let last = head.min(first + FIRST_BLOCKS - 1);
    let segment_blocks = context.config.segment_blocks;
    let fetched =
        context.source.linked_range(first..=last, Some(tip.upstream), segment_blocks).await?;
    let (blocks, below) = not_stored(context, fetched).await?;
    let Some(first) = blocks.first() else { return Err(moved) };
    if below.is_none_or(|below| below.hash != first.block.parent_hash) {
        context.source.check_parent_link(first.upstream, first.child()).await?;
        if below.is_some() {
            return Err(moved);
        }
    }
    Ok(blocks)
}

/// Without the blocks at the beginning that are stored by now, and what is stored below the rest.
async fn not_stored(
    context: &Context,
    mut blocks: Vec<FetchedBlock>,
) -> Result<(Vec<FetchedBlock>, Option<BlockSummary>), Error> {
    let (view, chain) = (context.store.view().await?, context.chain_id());
    let mut known = 0;
    for FetchedBlock { block, .. } in &blocks {
        let stored = view.block_summary(chain, block.number).await?;
        if stored.is_none_or(|stored| stored.hash != block.hash) {
            break;
        }
        known += 1;
    }
    blocks.drain(..known);
    let below = match blocks.first().and_then(|first| first.block.number.checked_sub(1)) {
        Some(below) => view.block_summary(chain, below).await?,
        None => None,
    };
    Ok((blocks, below))
}

/// The highest stored block below `conflict` that the node has, too; none when it has not even the
/// oldest of the range. Chains that part stay apart, so a search by halves finds it.
async fn ancestor(
    context: &Context,
    upstream: UpstreamId,
    oldest: u64,
    conflict: u64,
) -> Result<Option<u64>, Error> {
    let mut differs = conflict;
    let mut stride = 1;
    let mut agrees = loop {
        if differs <= oldest {
            return Ok(None);
        }
        let probe = differs.saturating_sub(stride).max(oldest);
        if agrees_at(context, upstream, probe).await? {
            break probe;
        }
        differs = probe;
        stride *= 2;
    };
    while differs - agrees > 1 {
        let middle = agrees + (differs - agrees) / 2;
        if agrees_at(context, upstream, middle).await? {
            agrees = middle;
        } else {
            differs = middle;
        }
    }
    Ok(Some(agrees))
}

/// Whether the node has the block that is stored.
async fn agrees_at(context: &Context, upstream: UpstreamId, number: u64) -> Result<bool, Error> {
    let links = context.source.links(upstream, &[number]).await?;
    let view = context.store.view().await?;
    let stored = view.block_summary(context.chain_id(), number).await?;
    let stored = stored.ok_or(Error::Moved { number })?;
    Ok(links.first().is_some_and(|link| link.hash == stored.hash))
}
