//! What is kept in memory under a question, as long as a number stands still: all that answers are kept
//! in is one of these.

use std::hash::Hash;

use bytes::Bytes;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// How much memory a value holds beside itself.
pub trait Heavy: Clone {
    fn bytes(&self) -> usize;
}

impl Heavy for Bytes {
    fn bytes(&self) -> usize {
        self.len()
    }
}

#[derive(Clone)]
struct ByBytes;

impl<K, N, V: Heavy> Weighter<K, (N, V)> for ByBytes {
    fn weight(&self, _: &K, (_, value): &(N, V)) -> u64 {
        (size_of::<K>() + size_of::<(N, V)>() + value.bytes()) as u64
    }
}

pub struct Kept<K, N, V: Heavy>(Option<Cache<K, (N, V), ByBytes>>);

impl<K: Eq + Hash, N: Clone + PartialEq, V: Heavy> Kept<K, N, V> {
    /// `usual_bytes` is what most values take. No bytes keep nothing.
    pub fn new(bytes_max: u64, usual_bytes: u64) -> Self {
        let items = usize::try_from(bytes_max / usual_bytes).unwrap_or(usize::MAX).max(16);
        Kept((bytes_max > 0).then(|| Cache::with_weighter(items, bytes_max, ByBytes)))
    }

    /// What was kept at this version; what was kept at another holds no longer.
    pub fn get(&self, question: &K, version: N) -> Option<V> {
        let (of, value) = self.0.as_ref()?.get(question)?;
        (of == version).then_some(value)
    }

    pub fn keep(&self, question: K, version: N, value: V) {
        if let Some(cache) = &self.0 {
            cache.insert(question, (version, value));
        }
    }
}
