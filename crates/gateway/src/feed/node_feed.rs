//! One chain's blocks as its nodes announce them, for a chain that nobody stores: what the journal says of others.
//!
//! Every block is told once, those that a new head does not build upon are taken back, newest first, and blocks between
//! two heads are asked for by the hash of each one's child, so none is left out.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use alloy_primitives::B256;
use model::raw::Header;

use super::chain_feed::{ChainEvent, ChainFeed, RETRY, header_json};
use crate::answer::Failure;
use crate::forward::BlockSource;

/// Blocks that are known to have been told; who falls further behind begins anew.
const TOLD_MAX: usize = 256;

/// What was told, the newest last, each the parent of the next.
type Told = VecDeque<(u64, B256)>;

/// Ends when nobody listens any more.
pub async fn run(feed: Weak<ChainFeed>, source: BlockSource, first: Option<(u64, B256)>) {
    let mut heads = source.heads();
    let mut told: Told = first.into_iter().collect();
    loop {
        let Some(feed) = feed.upgrade() else { return };
        if feed.ends().await {
            return;
        }
        let head = *heads.borrow_and_update();
        let done = match head {
            Some(head) => follow(&feed, &source, &mut told, head.hash).await,
            None => Ok(()),
        };
        drop(feed);
        if let Err(failure) = &done {
            tracing::debug!(?failure, "subscriptions wait for a node");
        }
        // Looked at again when there is another head, and before long where this one could not be had.
        let waited = tokio::time::timeout(RETRY, async {
            match done {
                Ok(()) => heads.changed().await,
                Err(_) => std::future::pending().await,
            }
        });
        if let Ok(Err(_)) = waited.await {
            return;
        }
    }
}

/// Tells all that lies between what was told and this head.
async fn follow(
    feed: &ChainFeed,
    source: &BlockSource,
    told: &mut Told,
    head: B256,
) -> Result<(), Failure> {
    if told.iter().any(|(_, hash)| *hash == head) && told.back().is_none_or(|(_, it)| *it == head) {
        return Ok(());
    }
    let (branch, parent) = branch(source, told, head).await?;
    // All of it is at hand before anything is told.
    let mut applied = Vec::with_capacity(branch.len());
    for header in branch.into_iter().rev() {
        let hash = header.hash.unwrap_or_default();
        applied.push((header, source.logs(hash).await?));
    }
    while let Some((_, hash)) = told.back().copied().filter(|(_, hash)| Some(*hash) != parent) {
        feed.tell(ChainEvent {
            header: Arc::default(),
            logs: feed.removed_logs(hash),
            is_removed: true,
        });
        told.pop_back();
    }
    for (header, logs) in applied {
        let place = (header.number.unwrap_or_default(), header.hash.unwrap_or_default());
        feed.remember(place.1, &logs);
        feed.tell(ChainEvent { header: Arc::new(header_json(header)), logs, is_removed: false });
        if told.len() == TOLD_MAX {
            told.pop_front();
        }
        told.push_back(place);
    }
    Ok(())
}

/// The blocks from the head down to what was told, newest first, and the block that they stand upon; none where they
/// do not meet it.
async fn branch(
    source: &BlockSource,
    told: &Told,
    head: B256,
) -> Result<(Vec<Header>, Option<B256>), Failure> {
    let mut branch: Vec<Header> = Vec::new();
    let mut next = head;
    let oldest = told.front().map_or(u64::MAX, |(number, _)| *number);
    loop {
        if told.iter().any(|(_, hash)| *hash == next) {
            return Ok((branch, Some(next)));
        }
        let header = source.header(next).await?;
        let is_lowest = header.number.unwrap_or_default() <= oldest;
        next = header.parent_hash.unwrap_or_default();
        branch.push(header);
        // A chain that started over, or one that went on for long while no node was there.
        if told.is_empty() || is_lowest || branch.len() == TOLD_MAX {
            return Ok((branch, None));
        }
    }
}
