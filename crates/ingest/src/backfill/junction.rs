//! Where history meets an older range: does that hang on the same chain?
//!
//! In: the lowest block that was fetched and verified. Out: the stored blocks below it that are not on its
//! chain: they were stored before a reorganisation that nobody saw. No node's word on a number is enough to
//! revert them: the chain is followed down by hashes, and a second look has to confirm it. All this is
//! done without the writer's turn, since it asks nodes.

use alloy_primitives::B256;
use rpc::UpstreamId;

use crate::context::Context;
use crate::error::Error;
use crate::second_word::{self, Branch};
use crate::source::Child;

/// Blocks reverted at one junction; where more are stale, the next junction finds them.
const STALE_MAX: u64 = 256;
/// Headers asked for at once, first and from then on: most reorganisations are short.
const HEADERS_FIRST: u64 = 8;
const HEADERS: u64 = 64;

/// Stored blocks that cannot stay, newest first, and what is stored where the look was taken.
#[derive(Default)]
pub struct StaleBlocks {
    pub numbers: Vec<u64>,
    newest: Option<(u64, B256)>,
}

/// The stored block below `child`, where it is not its parent, and the lowest of its range.
async fn misfit_below(context: &Context, child: Child) -> Result<Option<(u64, B256, u64)>, Error> {
    let Some(number) = child.number.checked_sub(1) else { return Ok(None) };
    let (view, chain) = (context.store.view().await?, context.chain_id());
    let stored = view.block_summary(chain, number).await?;
    let Some(stored) = stored.filter(|stored| stored.hash != child.parent_hash) else {
        return Ok(None);
    };
    let range = view.coverage(chain).await?.range_of(number);
    Ok(range.map(|(oldest, _)| (number, stored.hash, oldest)))
}

/// Whether the stored block below is not the child's parent.
pub async fn meets_another_branch(context: &Context, child: Child) -> Result<bool, Error> {
    Ok(misfit_below(context, child).await?.is_some())
}

impl StaleBlocks {
    /// `upstream` gave `child`, which was verified.
    pub async fn find(
        context: &Context,
        upstream: UpstreamId,
        child: Child,
    ) -> Result<Self, Error> {
        let Some((number, hash, oldest)) = misfit_below(context, child).await? else {
            return Ok(StaleBlocks::default());
        };
        let lowest = oldest.max(child.number.saturating_sub(STALE_MAX));
        let chain = walk_down(context, upstream, child, lowest).await?;
        let Some(last) = chain.last() else { return Err(Error::Moved { number }) };
        confirm(context, upstream, *last).await?;
        let numbers: Vec<u64> = chain.iter().map(|block| block.number).collect();
        // Whoever makes up a head far above comes down to here: the way to revert all must not be open.
        let branch = Branch { upstream, block: *last, reverts: &numbers };
        second_word::allow(context, branch).await?;
        tracing::info!(
            chain.id = context.chain_id().0,
            first = last.number,
            last = number,
            "reverting an older range that is not on the head's chain"
        );
        Ok(StaleBlocks { numbers, newest: Some((number, hash)) })
    }

    /// Whether the store is still as it was. To be asked with the writer's turn in hand.
    pub async fn still_hold(&self, context: &Context) -> Result<bool, Error> {
        let Some((number, hash)) = self.newest else { return Ok(true) };
        let (view, chain) = (context.store.view().await?, context.chain_id());
        let stored = view.block_summary(chain, number).await?;
        let range = view.coverage(chain).await?.range_of(number);
        // What is stored below it hangs on its hash.
        Ok(stored.is_some_and(|stored| stored.hash == hash)
            && range.is_some_and(|(from, to)| {
                to == number && self.numbers.last().is_some_and(|lowest| from <= *lowest)
            }))
    }
}

/// The blocks of the child's chain in whose place others are stored, newest first, not below `lowest`.
async fn walk_down(
    context: &Context,
    upstream: UpstreamId,
    child: Child,
    lowest: u64,
) -> Result<Vec<Child>, Error> {
    let mut differing: Vec<Child> = Vec::new();
    let (mut above, mut count) = (child, HEADERS_FIRST);
    while above.number > lowest {
        let numbers: Vec<u64> =
            (above.number.saturating_sub(count).max(lowest)..above.number).rev().collect();
        let stored = stored_hashes(context, &numbers).await?;
        let headers = context.source.headers(upstream, &numbers).await?;
        for (header, stored) in headers.iter().zip(stored) {
            if stored == above.parent_hash {
                return Ok(differing);
            }
            above = context.source.verified_parent(upstream, above, header).await?;
            differing.push(above);
        }
        count = HEADERS;
    }
    Ok(differing)
}

async fn stored_hashes(context: &Context, numbers: &[u64]) -> Result<Vec<B256>, Error> {
    let (view, chain) = (context.store.view().await?, context.chain_id());
    let mut hashes = Vec::with_capacity(numbers.len());
    for number in numbers.iter().copied() {
        let stored = view.block_summary(chain, number).await?;
        hashes.push(stored.ok_or(Error::Moved { number })?.hash);
    }
    Ok(hashes)
}

/// A second look, by hash: by another node that knows the block, or else by the same.
async fn confirm(context: &Context, upstream: UpstreamId, lowest: Child) -> Result<(), Error> {
    let source = &context.source;
    for other in source.pool.others(upstream) {
        if source.knows(other, lowest).await.unwrap_or(false) {
            return Ok(());
        }
    }
    if source.knows(upstream, lowest).await? {
        return Ok(());
    }
    Err(Error::Moved { number: lowest.number })
}
