//! The chain went another way: find where, take back what is no longer on it, go on from there.
//!
//! Nothing is taken back before the first blocks of the new branch were fetched and verified and
//! hang on a stored block, or on the node's own word where nothing is stored below. Both happen in
//! one commit, so readers of the store and of the journal never see a chain with a hole.

use rpc::UpstreamId;
use store::{Change, Coverage, Origin, PreparedBlock, View};

use crate::chain::Context;
use crate::error::Error;
use crate::follow::{child_of, fetch};
use crate::progress::Reorg;
use crate::source::Sourced;

/// Blocks of the new branch written together with the revert; the head's follower does the rest.
const FIRST_BLOCKS: u64 = 32;
/// Blocks taken back in one commit; more than this happens on dev chains that start over.
const REVERT_AT_ONCE: usize = 256;

/// The first blocks of the branch that `tip` is on, from where it leaves what is stored. The block
/// stored below `tip` is not its parent.
pub(crate) async fn branch(
    context: &Context,
    tip: &Sourced,
    head: u64,
) -> Result<Vec<Sourced>, Error> {
    let moved = Error::Moved { number: tip.block.number };
    let Some(conflict) = tip.block.number.checked_sub(1) else { return Err(moved) };
    let chain = context.source.chain_id();
    let coverage = context.store.view().await?.coverage(chain).await?;
    let Some((oldest, _)) = coverage.range_of(conflict) else { return Err(moved) };
    let ancestor = ancestor(context, tip.upstream, oldest, conflict).await?;
    let first = ancestor.map_or(oldest, |ancestor| ancestor + 1);
    let last = head.min(first + FIRST_BLOCKS - 1);
    let mut blocks = fetch(context, first, last, Some(tip.upstream)).await?;
    let below = {
        let view = context.store.view().await?;
        while let Some(next) = blocks.first()
            && view
                .block_summary(chain, next.block.number)
                .await?
                .is_some_and(|stored| stored.hash == next.block.hash)
        {
            blocks.remove(0);
        }
        match blocks.first().and_then(|first| first.block.number.checked_sub(1)) {
            Some(below) => view.block_summary(chain, below).await?,
            None => None,
        }
    };
    let Some(first) = blocks.first() else { return Err(moved) };
    if below.is_none_or(|below| below.hash != first.block.parent_hash) {
        context.source.hold(first.upstream, child_of(first)).await?;
        if below.is_some() {
            return Err(moved);
        }
    }
    Ok(blocks)
}

/// The highest stored block below `conflict` that the node still has; none when even the oldest of
/// the range is not. Chains that part stay apart, so a search by halves finds it.
pub(crate) async fn ancestor(
    context: &Context,
    upstream: UpstreamId,
    oldest: u64,
    conflict: u64,
) -> Result<Option<u64>, Error> {
    let mut gone = conflict;
    let mut stride = 1;
    let mut kept = loop {
        if gone <= oldest {
            return Ok(None);
        }
        let probe = gone.saturating_sub(stride).max(oldest);
        if is_kept(context, upstream, probe).await? {
            break probe;
        }
        gone = probe;
        stride *= 2;
    };
    while gone - kept > 1 {
        let middle = kept + (gone - kept) / 2;
        if is_kept(context, upstream, middle).await? {
            kept = middle;
        } else {
            gone = middle;
        }
    }
    Ok(Some(kept))
}

async fn is_kept(context: &Context, upstream: UpstreamId, number: u64) -> Result<bool, Error> {
    let links = context.source.links(upstream, &[number]).await?;
    let view = context.store.view().await?;
    let stored = view.block_summary(context.source.chain_id(), number).await?;
    let stored = stored.ok_or(Error::Moved { number })?;
    Ok(links.first().is_some_and(|link| link.hash == stored.hash))
}

/// Writes linked, rising blocks in the place of what cannot stand beside them.
pub(crate) async fn replace(
    context: &Context,
    origin: Origin,
    blocks: Vec<PreparedBlock>,
) -> Result<(), Error> {
    let _turn = context.turn.lock().await;
    let chain = context.source.chain_id();
    let (revert, ancestor) = {
        let view = context.store.view().await?;
        let coverage = view.coverage(chain).await?;
        let first = blocks.first().map_or(0, |block| block.number);
        (displaced(&view, &coverage, context, &blocks).await?, first.checked_sub(1))
    };
    let count = revert.len() as u64;
    take_back(context, Change { origin, revert, apply: blocks, ..Change::default() }).await?;
    if count > 0 {
        tracing::info!(chain.id = chain.0, ?ancestor, blocks = count, "the chain reorganised");
        let slug = context.source.chain.slug.clone();
        metrics::counter!("headwater_reorgs_total", "chain" => slug).increment(1);
        context.progress.reorged(Reorg { ancestor, reverted_blocks: count });
    }
    Ok(())
}

/// Takes blocks back, newest first, and applies others together with the last of them.
pub(crate) async fn take_back(context: &Context, mut change: Change) -> Result<(), Error> {
    while change.revert.len() > REVERT_AT_ONCE {
        let part = change.revert.drain(..REVERT_AT_ONCE).collect();
        context.commit(Change::revert(change.origin, part)).await?;
    }
    context.commit(change).await?;
    Ok(())
}

/// Stored blocks of the same number with another hash, and all that hang on them; newest first.
/// Ranges that are not connected with these are left alone: nothing is known against them.
async fn displaced(
    view: &View,
    coverage: &Coverage,
    context: &Context,
    blocks: &[PreparedBlock],
) -> Result<Vec<u64>, Error> {
    let chain = context.source.chain_id();
    let mut numbers: Vec<u64> = Vec::new();
    let mut add_from = |number: u64| {
        let (_, end) = coverage.range_of(number).unwrap_or((number, number));
        let known = numbers.last().copied();
        numbers.extend((number..=end).filter(|n| known.is_none_or(|known| *n > known)));
    };
    for block in blocks {
        let stored = view.block_summary(chain, block.number).await?;
        if stored.is_some_and(|stored| stored.hash != block.hash) {
            add_from(block.number);
        }
    }
    if let Some(last) = blocks.last()
        && let Some(above) = last.number.checked_add(1)
        && view.parent_hash(chain, above).await?.is_some_and(|parent| parent != last.hash)
    {
        add_from(above);
    }
    numbers.reverse();
    Ok(numbers)
}
