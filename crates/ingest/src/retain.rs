//! Drops the oldest blocks of a chain that is to keep its newest ones only.
//!
//! In: `retain_blocks`, the node's head, what is stored. Out: steps of pruning, each a small commit, and now
//! and then the word to give their room back to the disk. Nothing is dropped before all of the newest
//! blocks are there, so neither a gap nor a node that makes up a far head costs any history; nor before
//! every journal reader has passed it (history that one waits for is filled all the same).

use std::time::Duration;

use store::{Coverage, HeldBy};

use crate::context::Context;
use crate::error::Error;
use crate::progress::Task;

/// Blocks of one commit: the head waits for no more than this.
const STEP_BLOCKS: usize = 32;
/// Readers of the journal move on without a word.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Blocks beyond those to keep that may gather before they are dropped in one go.
const SLACK_BLOCKS_MAX: u64 = 1_024;

/// Ends with an error that time does not heal. Only for chains with `retain_blocks`.
pub(crate) async fn run(context: Context) -> Result<(), Error> {
    let Some(keep) = context.retain_blocks else { return Ok(()) };
    let mut written = context.written();
    let mut pruner = Pruner::new(&context, keep);
    let mut failures = 0;
    loop {
        written.mark_unchanged();
        let step = pruner.step().await;
        if step.is_ok() {
            failures = 0;
            context.progress.set_waiting(Task::Retain, None);
        }
        match step {
            Ok(Step::Pruned) => {}
            Ok(Step::Idle { why }) => {
                context.progress.set_retain_waiting(why);
                tokio::select! {
                    changed = written.changed() => {
                        if changed.is_err() {
                            return Ok(());
                        }
                    }
                    () = tokio::time::sleep(LOOK_EVERY) => {}
                }
            }
            Err(error) if error.is_retryable() => {
                failures += 1;
                context.progress.set_retain_waiting(Some(error.to_string()));
                context.pause(failures).await;
            }
            Err(error) => return Err(error),
        }
    }
}

enum Step {
    Pruned,
    /// There is nothing to drop now, or a reason why not.
    Idle {
        why: Option<String>,
    },
}

struct Pruner<'a> {
    context: &'a Context,
    keep: u64,
    /// Blocks below this are being dropped.
    below: Option<u64>,
    /// Blocks dropped since their room was last given back.
    unreclaimed: u64,
    /// What an earlier process dropped is not known.
    is_first: bool,
}

impl<'a> Pruner<'a> {
    fn new(context: &'a Context, keep: u64) -> Self {
        Pruner { context, keep, below: None, unreclaimed: 0, is_first: true }
    }

    async fn step(&mut self) -> Result<Step, Error> {
        let Some(head) = *self.context.source.pool.heads().borrow() else {
            return Ok(Step::Idle { why: None });
        };
        let coverage = self.context.coverage().await?;
        let below = match self.below {
            Some(below) => below,
            None => match due(&coverage, head.number, self.keep, self.context.from_block) {
                Due::Nothing => return Ok(Step::Idle { why: None }),
                Due::NotYet => {
                    let why = format!("the newest {} blocks are not all stored yet", self.keep);
                    return Ok(Step::Idle { why: Some(why) });
                }
                Due::Below(below) => below,
            },
        };
        self.below = Some(below);
        self.prune(below).await
    }

    async fn prune(&mut self, below: u64) -> Result<Step, Error> {
        let chain = self.context.chain_id();
        let pruned = {
            // Whoever looks at the store and then writes must not find a block gone in between.
            let _turn = self.context.committer.turn().await;
            self.context.store.prune_oldest(chain, below, STEP_BLOCKS).await?
        };
        if pruned.blocks > 0 {
            self.unreclaimed += pruned.blocks;
            self.context.progress.pruned(pruned.blocks);
            let slug = self.context.source.chain.slug.clone();
            metrics::counter!("headwater_blocks_pruned_total", "chain" => slug)
                .increment(pruned.blocks);
            return Ok(Step::Pruned);
        }
        self.below = None;
        self.reclaim().await;
        Ok(Step::Idle { why: pruned.held_by.map(|held| self.held(held)) })
    }

    /// Rewriting tables is worth it for many blocks only.
    async fn reclaim(&mut self) {
        if self.unreclaimed == 0 || (self.unreclaimed < self.keep / 4 && !self.is_first) {
            return;
        }
        (self.unreclaimed, self.is_first) = (0, false);
        if let Err(error) = self.context.store.reclaim().await {
            // Nothing is lost but room, and the next time comes.
            tracing::warn!(%error, "room of dropped blocks was not given back to the disk");
        }
    }

    fn held(&self, held: HeldBy) -> String {
        let HeldBy { reader, next_block } = held;
        let slug = &self.context.source.chain.slug;
        format!(
            "the journal reader '{reader}' still needs block {next_block}; if it will not come back: \
             DELETE /admin/v1/readers/{slug}/{reader}"
        )
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Due {
    Nothing,
    /// There is something to drop, but not everything to keep.
    NotYet,
    Below(u64),
}

/// Blocks above the node's head, as files may bring them, do not count.
fn due(coverage: &Coverage, head: u64, keep: u64, from_block: u64) -> Due {
    let Some((_, top)) = coverage.ranges().iter().rfind(|(from, _)| *from <= head) else {
        return Due::Nothing;
    };
    let newest = head.min(*top);
    let Some(below) = newest.saturating_add(1).checked_sub(keep) else { return Due::Nothing };
    let slack = (keep / 16).clamp(1, SLACK_BLOCKS_MAX);
    if coverage.oldest().is_none_or(|oldest| oldest.saturating_add(slack) > below) {
        return Due::Nothing;
    }
    if coverage.covers(below.max(from_block), newest) { Due::Below(below) } else { Due::NotYet }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_beyond_the_newest_goes_and_only_when_those_are_all_there() {
        for (ranges, head, from_block, expected) in [
            (&[][..], 500, 0, Due::Nothing),
            (&[(0, 159)], 159, 0, Due::Nothing),
            // Ten more than 160 are waited for.
            (&[(0, 168)], 168, 0, Due::Nothing),
            (&[(0, 169)], 169, 0, Due::Below(10)),
            (&[(0, 400)], 400, 0, Due::Below(241)),
            // The head went on while nobody looked: first the gap is filled.
            (&[(0, 100), (500, 500)], 500, 0, Due::NotYet),
            (&[(0, 100), (300, 500)], 500, 0, Due::Below(341)),
            (&[(0, 100), (400, 500)], 500, 400, Due::Below(341)),
            // A file brought blocks that the node does not have, or the node stepped back.
            (&[(0, 400), (900_000, 900_001)], 400, 0, Due::Below(241)),
            (&[(0, 400)], 300, 0, Due::Below(141)),
            (&[(600, 700)], 400, 0, Due::Nothing),
        ] {
            let mut coverage = Coverage::default();
            for (from, to) in ranges {
                (*from..=*to).for_each(|number| coverage.insert(number));
            }
            let due = due(&coverage, head, 160, from_block);
            assert_eq!(due, expected, "{ranges:?} {head} {from_block}");
        }
    }
}
