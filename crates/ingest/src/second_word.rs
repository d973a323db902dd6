//! Whether a branch may take the place of stored blocks.
//!
//! Few blocks at the head change hands every day, and one node's word is enough for that. Many of them, or one
//! that was called finalized, are another matter: the node may be wrong, lie, or serve another chain by now. Its
//! chain id is asked again, and where there are other nodes one of them has to have the branch, too. Nobody
//! stops for that: meanwhile heads of the others are followed. Where no such word comes in time, or nobody
//! else is there, the revert is done, and stands in /status as what it is.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use alloy_primitives::B256;
use futures_util::future::join_all;
use rpc::UpstreamId;
use tokio::time::Instant;

use crate::config::Config;
use crate::context::Context;
use crate::error::Error;
use crate::lock::lock;
use crate::progress::UnconfirmedRevert;
use crate::source::Child;
use crate::verify::Lie;

/// How long a node is waited for that is asked for its word; it is asked again.
const WORD_WITHIN: Duration = Duration::from_secs(2);
/// A branch that waits for a second word is looked at again so many times within the wait, and no later than so.
const LOOKS: u32 = 20;
const LOOK_AGAIN_MAX: Duration = Duration::from_secs(5);
/// One that nobody came back with for so long starts anew.
const FORGOTTEN: Duration = Duration::from_secs(120);
/// So many nodes that say otherwise are believed more than the one.
const OTHERS_BELIEVED: usize = 2;
/// Branches that wait at once; more are somebody's game.
const PENDING_MAX: usize = 64;

/// What is known of branches that wait, and of finality.
#[derive(Default)]
pub(crate) struct SecondWords {
    /// Branches that wait, by their first block.
    pending: Mutex<HashMap<B256, Pending>>,
    finalized: Mutex<Option<(u64, B256)>>,
}

#[derive(Clone, Copy)]
struct Pending {
    since: Instant,
    looked_at: Instant,
}

/// A branch that is to take the place of stored blocks.
pub(crate) struct Branch<'a> {
    pub upstream: UpstreamId,
    /// A block of it that stands where another one is stored.
    pub block: Child,
    /// The stored blocks that have to go, newest first.
    pub reverts: &'a [u64],
}

/// What others have in the place of the branch's block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Same,
    /// The block that is stored.
    Stored,
    /// Another one, none, or no answer.
    Neither,
}

impl SecondWords {
    /// A node called this stored block finalized.
    pub fn set_finalized(&self, number: u64, hash: B256) {
        let mut known = lock(&self.finalized);
        if known.is_none_or(|(newest, _)| newest < number) {
            *known = Some((number, hash));
        }
    }

    pub fn finalized(&self) -> Option<(u64, B256)> {
        *lock(&self.finalized)
    }

    pub fn forget_finalized(&self) {
        *lock(&self.finalized) = None;
    }

    /// For how long this branch has been waiting by now.
    fn waited(&self, hash: B256) -> Duration {
        let (mut pending, now) = (lock(&self.pending), Instant::now());
        pending.retain(|_, it| now.duration_since(it.looked_at) < FORGOTTEN);
        if pending.len() >= PENDING_MAX && !pending.contains_key(&hash) {
            pending.clear();
        }
        let it = pending.entry(hash).or_insert(Pending { since: now, looked_at: now });
        it.looked_at = now;
        now.duration_since(it.since)
    }

    fn settled(&self, hash: B256) {
        lock(&self.pending).remove(&hash);
    }
}

/// When a branch that waits is looked at again.
pub(crate) fn look_again(config: &Config) -> Duration {
    (Duration::from_millis(config.revert_second_word_ms) / LOOKS).min(LOOK_AGAIN_MAX)
}

/// Fine where the branch may be written now.
pub(crate) async fn allow(context: &Context, branch: Branch<'_>) -> Result<(), Error> {
    if !wants_second_word(context, branch.reverts).await? {
        return Ok(());
    }
    let (pool, words) = (&context.source.pool, &context.second_words);
    let Branch { upstream, block, reverts } = branch;
    let Child { number, hash, .. } = block;
    pool.check_chain(upstream).await?;
    let stored = context.store.view().await?.block_summary(context.chain_id(), number).await?;
    let stored = stored.map(|stored| stored.hash);
    let others = pool.others(upstream);
    let said = join_all(others.iter().map(|other| word_of(context, *other, block, stored))).await;
    let (label, blocks) = (pool.label(upstream).to_owned(), reverts.len() as u64);
    let why = if said.contains(&Word::Same) {
        words.settled(hash);
        context.progress.set_second_word(None);
        return Ok(());
    } else if others.is_empty() {
        "no other node is configured".to_owned()
    } else {
        let within = Duration::from_millis(context.config.revert_second_word_ms);
        if words.waited(hash) < within {
            pool.doubt(upstream, look_again(&context.config));
            let wanted = Error::SecondWord { upstream: label, number, blocks };
            if context.progress.set_second_word(Some(wanted.to_string())) {
                tracing::warn!(chain.id = context.chain_id().0, error = %wanted, "a revert waits");
            }
            return Err(wanted);
        }
        words.settled(hash);
        context.progress.set_second_word(None);
        let against = said.iter().filter(|word| **word == Word::Stored).count();
        if against >= OTHERS_BELIEVED {
            let expected = format!("{}, as {against} other nodes have it", shown(stored));
            let lie = Lie { block: number, check: "branch", expected, got: hash.to_string() };
            return Err(context.source.report(upstream, lie));
        }
        let seconds = within.as_secs_f32();
        match against {
            0 => format!("no other node told of this block within {seconds} s"),
            _ => format!("for {seconds} s the one other node had the block that was stored"),
        }
    };
    let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let (hash, instead_of) = (hash.to_string(), stored.map(|stored| stored.to_string()));
    let (block, reverted_blocks, upstream) = (number, blocks, label);
    tell(
        context,
        UnconfirmedRevert { at, block, hash, instead_of, reverted_blocks, upstream, why },
    );
    Ok(())
}

/// Whether so much would go that one node's word is not enough.
async fn wants_second_word(context: &Context, reverts: &[u64]) -> Result<bool, Error> {
    if reverts.len() as u64 > context.config.revert_second_word_blocks {
        return Ok(true);
    }
    let (Some(lowest), Some((number, hash))) = (reverts.last(), context.second_words.finalized())
    else {
        return Ok(false);
    };
    let view = context.store.view().await?;
    let stored = view.block_summary(context.chain_id(), number).await?;
    Ok(*lowest <= number && stored.is_some_and(|stored| stored.hash == hash))
}

/// By number: nodes know blocks of other branches by their hashes, too.
async fn word_of(context: &Context, other: UpstreamId, block: Child, stored: Option<B256>) -> Word {
    let numbers = [block.number];
    let links = context.source.links(other, &numbers);
    let links = tokio::time::timeout(WORD_WITHIN, links).await;
    let said = links.ok().and_then(Result::ok).and_then(|links| Some(links.first()?.hash));
    match said {
        Some(hash) if hash == block.hash => Word::Same,
        Some(hash) if Some(hash) == stored => Word::Stored,
        _ => Word::Neither,
    }
}

fn shown(hash: Option<B256>) -> String {
    hash.map_or_else(|| "another block".to_owned(), |hash| hash.to_string())
}

/// What was done on one node's word must be found again.
fn tell(context: &Context, revert: UnconfirmedRevert) {
    let UnconfirmedRevert { block, hash, reverted_blocks, upstream, why, .. } = revert.clone();
    if !context.progress.unconfirmed(revert) {
        return;
    }
    let chain = context.chain_id().0;
    tracing::warn!(
        chain.id = chain, block.number = block, block.hash = %hash, blocks = reverted_blocks, %upstream, %why,
        "blocks are reverted on the word of one node"
    );
    let chain = context.source.chain.slug.clone();
    metrics::counter!("headwater_unconfirmed_reverts_total", "chain" => chain).increment(1);
}
