//! Answers to the very same words, given again as long as nothing was written of their chain.
//!
//! What is kept elsewhere is checked against the store each time; this is not even that. A busy client
//! asks the same many times between two blocks.

use std::hash::Hash;
use std::sync::Arc;

use bytes::Bytes;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use store::Coverage;

use crate::params::Blocks;

/// An answer and what its headers are made of.
#[derive(Clone)]
pub struct Said {
    pub body: Bytes,
    pub coverage: Arc<Coverage>,
    /// Blocks that the question could be about.
    pub reach: Blocks,
    pub traces_missing: bool,
}

#[derive(Clone)]
struct Kept {
    edition: u64,
    said: Said,
}

#[derive(Clone)]
struct ByBytes;

impl<K> Weighter<K, Kept> for ByBytes {
    fn weight(&self, _: &K, kept: &Kept) -> u64 {
        let coverage = size_of_val(kept.said.coverage.ranges());
        (size_of::<K>() + size_of::<Kept>() + kept.said.body.len() + coverage) as u64
    }
}

/// By everything in a request that shapes its answer.
pub struct Repeats<K>(Option<Cache<K, Kept, ByBytes>>);

impl<K: Eq + Hash + Clone> Repeats<K> {
    pub fn new(bytes_max: u64) -> Self {
        let items = usize::try_from(bytes_max / (16 << 10)).unwrap_or(usize::MAX).max(16);
        Repeats((bytes_max > 0).then(|| Cache::with_weighter(items, bytes_max, ByBytes)))
    }

    /// `edition` is the chain's now; none while it is being written.
    pub fn get(&self, words: &K, edition: Option<u64>) -> Option<Said> {
        let kept = self.0.as_ref()?.get(words)?;
        (Some(kept.edition) == edition).then_some(kept.said)
    }

    /// `before` and `after` are the chain's edition before its store was looked at and since: if it
    /// changed meanwhile, nobody knows which one the answer is of.
    pub fn keep(&self, words: K, (before, after): (Option<u64>, Option<u64>), said: Said) {
        if let (Some(cache), Some(edition)) = (&self.0, before)
            && after == before
        {
            cache.insert(words, Kept { edition, said });
        }
    }
}
