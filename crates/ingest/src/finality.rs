//! Remembers what nodes call finalized, as far as it is what is stored.
//!
//! In: every node's `finalized` block, asked now and then. Out: the newest such block that the store holds, for
//! `second_word`. It has to be known before somebody wants to revert it, so it is not asked for then.

use std::time::Duration;

use crate::context::Context;
use crate::error::Error;

/// Finality moves every few minutes, where there is any. What is stored of it may come a little later than the
/// start, so a few times it is asked for sooner.
const ASK_EVERY: Duration = Duration::from_secs(60);
const ASK_SOON: Duration = Duration::from_secs(10);
const SOON_ROUNDS: u32 = 12;

/// Ends with whoever started it.
pub(crate) async fn watch(context: &Context) {
    for round in 0u32.. {
        for upstream in context.source.pool.upstreams() {
            // A node without such a notion says so every time; nothing hangs on it.
            if let Some((number, hash)) = context.source.finalized(upstream).await {
                let _ = note(context, number, hash).await;
            }
        }
        let is_soon = round < SOON_ROUNDS && context.second_words.finalized().is_none();
        tokio::time::sleep(if is_soon { ASK_SOON } else { ASK_EVERY }).await;
    }
}

async fn note(context: &Context, number: u64, hash: alloy_primitives::B256) -> Result<(), Error> {
    let (view, chain, words) =
        (context.store.view().await?, context.chain_id(), &context.second_words);
    // What was reverted since says nothing any more.
    if let Some((known, known_hash)) = words.finalized() {
        let stored = view.block_summary(chain, known).await?;
        if stored.is_none_or(|stored| stored.hash != known_hash) {
            words.forget_finalized();
        }
    }
    let stored = view.block_summary(chain, number).await?;
    if stored.is_some_and(|stored| stored.hash == hash) {
        words.set_finalized(number, hash);
    }
    context.progress.set_finalized(words.finalized().map(|(number, _)| number));
    Ok(())
}
