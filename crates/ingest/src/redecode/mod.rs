//! Stored blocks decoded again by the decoders of this build, without asking a node.
//!
//! In: a store and a chain of it. Out: a new generation of facts in the place of the old one. Blocks go
//! newest first, several at once; the store goes on taking new ones, which are written to both
//! generations. Ended anywhere, the next call goes on from there.

mod progress;
mod walk;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use model::chain::Chain;
use store::{Coverage, Store};

use crate::error::Error;
pub use decode::fingerprint;
pub use progress::{RedecodeOutcome, RedecodeProgress, RedecodeState, RedecodeStatus};
use walk::Walk;

/// How to go about it.
#[derive(Clone, Copy, Debug, Default)]
pub struct RedecodeOptions {
    /// Also where the decoders are those that read the blocks already.
    pub force: bool,
    /// Blocks read at once. 0 is one per processor.
    pub threads: usize,
}

/// Says whose facts this process commits, before it commits any. True where stored facts are
/// another's, or only half decoded again.
pub async fn declare(store: &Store, chain: &Chain) -> Result<bool, store::Error> {
    let decoder = decode::fingerprint(chain);
    Ok(store.decode_with(chain.id, decoder).await?.is_behind(decoder))
}

/// May take hours; `progress` tells how far it is and can stop it.
pub fn redecode<'a>(
    store: &'a Store,
    chain: &'a Chain,
    options: RedecodeOptions,
    progress: &'a RedecodeProgress,
) -> BoxFuture<'a, Result<RedecodeOutcome, Error>> {
    let redecode = async move {
        let outcome = rebuild(store, chain, options, progress).await;
        progress.ended(&outcome);
        outcome
    };
    redecode.boxed()
}

async fn rebuild(
    store: &Store,
    chain: &Chain,
    options: RedecodeOptions,
    progress: &RedecodeProgress,
) -> Result<RedecodeOutcome, Error> {
    let decoder = decode::fingerprint(chain);
    let known = store.decode_with(chain.id, decoder).await?;
    let is_over = || progress.is_stopped();
    if !known.is_behind(decoder) && !options.force {
        // A process that ended after the swap may have left rows that nobody reads.
        store.remove_unused_facts(chain.id, &is_over).await?;
        return Ok(RedecodeOutcome::NothingToDo);
    }
    progress.set_state(RedecodeState::Running);
    let Some(facts) = store.rebuild_facts(chain.id, decoder, &is_over).await? else {
        return Ok(RedecodeOutcome::Stopped);
    };
    // Looked at after the beginning: a block that is not in it will be written to both.
    let coverage = store.view().await?.coverage(chain.id).await?;
    let (done, total) = (above(&coverage, facts.reached()), coverage.blocks());
    progress.begin(done, total);
    tracing::info!(chain.id = chain.id.0, done, total, "redecode started");
    let threads = match options.threads {
        0 => std::thread::available_parallelism().map_or(1, |n| n.get()),
        some => some,
    };
    let walk = Walk::new(store, chain, threads);
    if !walk.run(&coverage, &facts, progress).await? {
        return Ok(RedecodeOutcome::Stopped);
    }
    progress.set_state(RedecodeState::Sweeping);
    facts.finish(&is_over).await?;
    tracing::info!(chain.id = chain.id.0, "redecode finished; new facts are live");
    Ok(RedecodeOutcome::Done { blocks: total })
}

/// Stored blocks from `reached` on.
fn above(coverage: &Coverage, reached: Option<u64>) -> u64 {
    let Some(reached) = reached else { return 0 };
    let ranges = coverage.ranges().iter().filter(|(_, to)| *to >= reached);
    ranges.map(|(from, to)| to - from.max(&reached) + 1).sum()
}
