//! Follows the head: every new head is fetched, verified, attached, and committed at once.

use std::time::Duration;

use rpc::{Needs, UpstreamId};
use store::{Coverage, Origin, PreparedBlock};

use crate::context::{CATCH_UP_BLOCKS, Context, pause_after};
use crate::error::Error;
use crate::progress::Task;
use crate::second_word::{self, Branch};
use crate::source::{Child, FetchedBlock};
use crate::{finality, reorg};

const NO_NODE: &str = "no node of this chain answers; upstreams has the reasons";
/// A chain that moves while it is read is nothing to speak of, unless it never stops.
const MOVES_UNTOLD: u32 = 5;
/// How long heads of others come first where those who can give more do not have this one yet.
const OTHERS_FIRST: Duration = Duration::from_secs(1);

/// Ends when the nodes were let go, or with an error that does not heal by asking again.
pub(crate) async fn run(context: Context) -> Result<(), Error> {
    tokio::select! {
        ended = follow(&context) => ended,
        () = finality::watch(&context) => Ok(()),
    }
}

async fn follow(context: &Context) -> Result<(), Error> {
    let context = Context { source: context.source.clone().for_head(), ..context.clone() };
    let mut heads = context.source.pool.heads();
    // A head may be known already.
    heads.mark_changed();
    context.source.settled().await;
    let mut upstreams = context.source.pool.changes();
    let (mut failures, mut pause) = (0, Duration::ZERO);
    loop {
        if failures > 0 {
            // A new head, an upstream that comes up, or some time, whatever is first.
            tokio::select! {
                _ = heads.changed() => {}
                _ = upstreams.changed() => {}
                () = tokio::time::sleep(pause) => {}
            }
        } else {
            tokio::select! {
                changed = heads.changed() => if changed.is_err() { return Ok(()) },
                _ = upstreams.changed() => {
                    tell_whether_anybody_answers(&context);
                    continue;
                }
            }
        }
        upstreams.mark_unchanged();
        let Some(head) = *heads.borrow_and_update() else { continue };
        context.progress.set_node_head(head.number);
        match reach(&context, head).await {
            Ok(()) => {
                failures = 0;
                context.progress.set_waiting(Task::Follow, None);
            }
            Err(error) => {
                failures += 1;
                pause = pause_after(failures);
                if matches!(error, Error::SecondWord { .. }) {
                    // It is looked at again in time, and told of by who waits for it.
                    (failures, pause) = (1, second_word::look_again(&context.config));
                    context.progress.set_waiting(Task::Follow, Some(error.to_string()));
                } else if failures > MOVES_UNTOLD || !matches!(error, Error::Moved { .. }) {
                    context.wait_because(Task::Follow, &error);
                }
                if !error.is_retryable() {
                    return Err(error);
                }
            }
        }
    }
}

/// Without a node there is no new head to fail at.
fn tell_whether_anybody_answers(context: &Context) {
    let is_any_in_use = context.source.pool.can(&Needs::default());
    let why = (!is_any_in_use).then(|| NO_NODE.to_owned());
    context.progress.set_waiting(Task::Follow, why);
}

/// Brings the store to this head, or finds out that it is there already.
async fn reach(context: &Context, head: rpc::Head) -> Result<(), Error> {
    let chain = context.chain_id();
    loop {
        let (coverage, stored) = {
            let view = context.store.view().await?;
            (view.coverage(chain).await?, view.block_summary(chain, head.number).await?)
        };
        let from = match (stored, highest_below(&coverage, head.number)) {
            // Known, and so is all below: a node that stepped back, or came late.
            (Some(stored), _) if stored.hash == head.hash => {
                context.source.pool.delivered(head.upstream, head.number, head.hash);
                return Ok(());
            }
            (None, Some(below)) if head.number - below <= CATCH_UP_BLOCKS => below + 1,
            _ => head.number,
        };
        let blocks = fetch(context, from, head).await?;
        let reached = blocks.last().map(|last| (last.block.number, last.block.hash));
        if stored.is_some_and(|stored| reached == Some((stored.number, stored.hash))) {
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

/// Writes linked blocks, and reverts what cannot stand beside them.
async fn attach(
    context: &Context,
    blocks: Vec<FetchedBlock>,
    head: u64,
) -> Result<Attached, Error> {
    let chain = context.chain_id();
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
            context.source.check_parent_link(first.upstream, first.child()).await?;
            blocks
        }
    };
    let last = blocks.last().map(|last| last.block.number);
    let given: Vec<(UpstreamId, Child)> =
        blocks.iter().map(|fetched| (fetched.upstream, fetched.child())).collect();
    let apply: Vec<PreparedBlock> = blocks.into_iter().map(|fetched| fetched.block).collect();
    let reverts = context.committer.would_revert(&apply).await?;
    let lowest = reverts.last().copied();
    // The one in whose place another is stored, or whose child will have to go.
    let first = given.iter().find(|(_, child)| Some(child.number) == lowest).or(given.last());
    if let Some((upstream, block)) = first.copied() {
        second_word::allow(context, Branch { upstream, block, reverts: &reverts }).await?;
    }
    context.committer.replace(Origin::Head, apply).await?;
    Ok(if last >= Some(head) { Attached::AtHead } else { Attached::Below })
}

/// Best from the node that told of the head; from any other when it cannot give the blocks. What was given
/// counts for whoever told of it, and what was not given against them.
async fn fetch(context: &Context, from: u64, head: rpc::Head) -> Result<Vec<FetchedBlock>, Error> {
    let (source, segment_blocks) = (&context.source, context.config.segment_blocks);
    let numbers = from..=head.number;
    let only = source.can_give(head.upstream).then_some(head.upstream);
    let first = source.linked_range(numbers.clone(), only, segment_blocks).await;
    let is_missing = matches!(first, Err(Error::NotThere { .. }));
    let fetched = match first {
        Ok(blocks) => Ok(blocks),
        // It moves, or there was nobody else to begin with.
        Err(error @ (Error::Moved { .. } | Error::Store(_))) => Err(error),
        Err(error) if only.is_none() => Err(error),
        Err(_) => source.linked_range(numbers, None, segment_blocks).await,
    };
    let last = fetched.as_ref().ok().and_then(|blocks| blocks.last());
    if let Some(last) = last {
        source.pool.delivered(last.upstream, last.block.number, last.block.hash);
    }
    let is_given = last.is_some_and(|last| last.block.hash == head.hash);
    if is_given {
        source.pool.delivered(head.upstream, head.number, head.hash);
    } else if is_missing {
        // One that was not asked, since others can give more, may have it all the same.
        let has_it = only.is_none() && source.links(head.upstream, &[head.number]).await.is_ok();
        if has_it {
            source.pool.doubt(head.upstream, OTHERS_FIRST);
        } else {
            source.pool.not_delivered(head.upstream, head.number);
        }
    }
    fetched
}

fn highest_below(coverage: &Coverage, number: u64) -> Option<u64> {
    coverage.ranges().iter().rev().map(|(from, to)| (*from, *to)).find_map(|(from, to)| {
        let top = to.min(number.checked_sub(1)?);
        (from <= top).then_some(top)
    })
}
