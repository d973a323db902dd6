//! Audits in the background: a few accounts a minute of the newest blocks, and what a contradiction leads to.
//!
//! One small request at a time, in the lane of history; a node that takes long or refuses is not thought less
//! of. A block that its accounts contradict twice is written again without traces: the queue of untraced blocks
//! asks for them anew, and the same transfers are not taken again.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use alloy_primitives::Address;
use store::Origin;
use tokio::time::sleep;

use super::{BlockAudit, Difference, Verdict};
use crate::config::TraceUse;
use crate::context::Context;
use crate::error::Error;
use crate::progress::Task;

/// Blocks below the newest whose state every full node still has.
const RECENT_BLOCKS: u64 = 100;
/// A block that may still be reverted proves little.
const DEPTH_BLOCKS: u64 = 2;
/// After a failure: longer each time.
const PAUSE_MAX: Duration = Duration::from_secs(600);

/// Ends where nothing is to be audited.
pub(crate) async fn run(context: Context) -> Result<(), Error> {
    let per_minute = context.config.audit;
    context.progress.audit.set_pace(per_minute);
    let modelled = super::is_modelled(&context.source.chain);
    if per_minute == 0 || !modelled || context.config.traces == TraceUse::Off {
        return Ok(());
    }
    context.source.settled().await;
    let every = Duration::from_secs(60) / per_minute;
    let mut rounds = Rounds { secret: RandomState::new(), number: 0, newest: 0 };
    let mut failures: u32 = 0;
    loop {
        let pause = every.saturating_mul(2u32.saturating_pow(failures.min(10)));
        sleep(pause.min(PAUSE_MAX.max(every))).await;
        match step(&context, &mut rounds).await {
            Ok(why) => {
                failures = if why.is_some() { failures + 1 } else { 0 };
                context.progress.audit.set_waiting(why);
                context.progress.set_waiting(Task::Audit, None);
            }
            Err(error) if error.is_retryable() => {
                failures += 1;
                context.progress.audit.set_waiting(Some(error.to_string()));
            }
            Err(error) => return Err(error),
        }
    }
}

struct Rounds {
    secret: RandomState,
    number: u64,
    /// The newest block that was looked at.
    newest: u64,
}

impl Rounds {
    /// The newest block that was not looked at yet, or any of the recent ones.
    fn pick(&mut self, oldest: u64, newest: u64) -> Option<u64> {
        let newest = newest.checked_sub(DEPTH_BLOCKS).filter(|newest| *newest > oldest)?;
        if newest > self.newest {
            self.newest = newest;
            return Some(newest);
        }
        self.number += 1;
        let span = (newest - oldest).min(RECENT_BLOCKS);
        Some(newest - self.secret.hash_one(self.number) % span)
    }
}

/// Why nothing was learned, where nothing was.
async fn step(context: &Context, rounds: &mut Rounds) -> Result<Option<String>, Error> {
    if context.source.pipeline.is_dev_chain() {
        return Ok(Some("a dev chain may set balances outside of its blocks".to_owned()));
    }
    if let Some((number, account)) = retraced(context).await? {
        let audit = context.auditor.audit_accounts(number, &[account]).await?;
        if audit.count(|verdict| *verdict == Verdict::Proven) > 0 {
            context.source.doubts.settle(number);
        }
        conclude(context, audit).await?;
        return Ok(None);
    }
    let coverage = context.coverage().await?;
    let Some((oldest, newest)) = coverage.newest().and_then(|newest| coverage.range_of(newest))
    else {
        return Ok(Some("no block is stored yet".to_owned()));
    };
    let Some(number) = rounds.pick(oldest, newest) else {
        return Ok(Some("too few blocks are stored yet".to_owned()));
    };
    let audit = context.auditor.audit(number, Some(1)).await?;
    let why = audit.audits.iter().find_map(|audit| match &audit.verdict {
        Verdict::Unproven { reason } => Some(format!("no proof of block {number}: {reason}")),
        _ => None,
    });
    conclude(context, audit).await?;
    Ok(why)
}

/// A block that was doubted and has traces again.
async fn retraced(context: &Context) -> Result<Option<(u64, Address)>, Error> {
    let open = context.source.doubts.open();
    if open.is_empty() {
        return Ok(None);
    }
    let view = context.store.view().await?;
    for (number, account) in open {
        match view.block_summary(context.chain_id(), number).await? {
            Some(stored) if stored.has_traces => return Ok(Some((number, account))),
            Some(_) => {}
            None => context.source.doubts.settle(number),
        }
    }
    Ok(None)
}

/// Counts what was found; a contradiction that is found twice takes the block's traces from it.
pub(crate) async fn conclude(context: &Context, audit: BlockAudit) -> Result<(), Error> {
    let chain = context.chain_id();
    let stored = context.store.view().await?.block_summary(chain, audit.number).await?;
    let Some(stored) = stored else { return Ok(()) };
    context.progress.audit.add(&context.source.chain.slug, stored.hash, &audit);
    let first = audit.mismatches().next();
    let Some((account, _)) = first else { return Ok(()) };
    if context.source.pipeline.is_dev_chain() {
        return Ok(());
    }
    let again = context.auditor.audit_accounts(audit.number, &[account]).await?;
    if let Some((account, difference)) = again.mismatches().next() {
        doubt(context, audit.number, account, difference).await?;
    }
    Ok(())
}

async fn doubt(
    context: &Context,
    number: u64,
    account: Address,
    why: Difference,
) -> Result<(), Error> {
    let chain = context.chain_id();
    // Held over the look at the block and the write that follows from it.
    let turn = context.committer.turn().await;
    let stored = context.store.view().await?.whole_block(chain, number).await?;
    let Some((block, proof)) = stored.filter(|(block, _)| block.traces.is_some()) else {
        return Ok(());
    };
    tracing::warn!(
        chain.id = chain.0, block.number = number, %account, difference = %why,
        "a balance is not what the block's traces explain; they are dropped and asked for again"
    );
    context.source.doubts.add(&block, account, why);
    let pipeline = context.source.pipeline.clone();
    let untraced = tokio::task::spawn_blocking(move || pipeline.untraced(block, proof));
    let untraced = untraced.await.map_err(|error| crate::panic::ended(error, "dropping traces"))?;
    turn.untrace(Origin::History, untraced).await
}
