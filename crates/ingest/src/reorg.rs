//! The chain went another way: find where, take back what is no longer on it, go on from there.
//!
//! Nothing is taken back before the first block of the new branch was fetched and verified, and both
//! happen in one commit, so readers of the store and of the journal never see a chain with a hole.

use store::{Change, Coverage};

use crate::chain::Context;
use crate::error::Error;
use crate::follow::fetch;
use crate::progress::Reorg;

/// Blocks of the new branch written together with the revert; the head's follower does the rest.
const FIRST_BLOCKS: u64 = 32;
/// Blocks taken back in one commit; more than this happens on dev chains that start over.
const REVERT_AT_ONCE: usize = 256;

/// `conflict` is a stored block that the node no longer has.
pub(crate) async fn to_head(
    context: &Context,
    conflict: u64,
    coverage: &Coverage,
) -> Result<(), Error> {
    let oldest = coverage.range_of(conflict).map_or(conflict, |(from, _)| from);
    let ancestor = ancestor(context, conflict, oldest).await?;
    let first = ancestor.map_or(oldest, |a| a + 1);
    let head = context.progress.snapshot().node_head;
    let blocks = fetch(context, first, head.min(first + FIRST_BLOCKS - 1)).await?;
    let mut revert: Vec<u64> = stored_from(coverage, first);
    let count = revert.len() as u64;
    tracing::info!(
        chain.id = context.source.chain_id().0, ancestor = ?ancestor, blocks = count,
        "the chain reorganised"
    );
    while revert.len() > REVERT_AT_ONCE {
        let part = revert.drain(..REVERT_AT_ONCE).collect();
        context.commit(Change { revert: part, apply: Vec::new() }).await?;
    }
    context.commit(Change { revert, apply: blocks }).await?;
    metrics::counter!("headwater_reorgs_total", "chain" => context.source.chain.slug.clone())
        .increment(1);
    context.progress.reorged(Reorg { ancestor, reverted_blocks: count });
    Ok(())
}

/// The highest stored block, below the conflict, that is still on the node's chain; none when even
/// the oldest of the range is not.
async fn ancestor(context: &Context, conflict: u64, oldest: u64) -> Result<Option<u64>, Error> {
    let mut number = conflict;
    let mut expected = None;
    loop {
        let (hash, parent) = context.source.link(number).await?;
        if expected.is_some_and(|e| e != hash) {
            return Err(Error::Moved { number });
        }
        let stored = context.store.view().stamp(context.source.chain_id(), number)?;
        if stored.is_some_and(|stamp| stamp.hash == hash) {
            return Ok(Some(number));
        }
        if number == oldest {
            return Ok(None);
        }
        expected = Some(parent);
        number -= 1;
    }
}

/// Stored numbers from `first` up, newest first.
fn stored_from(coverage: &Coverage, first: u64) -> Vec<u64> {
    let ranges = coverage.ranges().iter().rev();
    ranges.flat_map(|(from, to)| ((*from).max(first)..=*to).rev()).collect()
}
