//! Answers kept until what they say changes.
//!
//! A wallet's total carries the journal sequence of its last change, so one small read tells whether
//! a kept answer still holds, however many blocks came since.

use bytes::Bytes;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// Everything that shapes an answer's body.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Question(pub Vec<u8>);

#[derive(Clone)]
struct Kept {
    version: u64,
    body: Bytes,
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<Question, Kept> for ByBytes {
    fn weight(&self, question: &Question, kept: &Kept) -> u64 {
        (question.0.len() + kept.body.len() + 96) as u64
    }
}

pub struct Answers(Option<Cache<Question, Kept, ByBytes>>);

impl Answers {
    pub fn new(bytes_max: u64) -> Self {
        // An answer of 64 KiB is a page of a hundred rows.
        let items = usize::try_from(bytes_max / (64 << 10)).unwrap_or(usize::MAX).max(16);
        Answers((bytes_max > 0).then(|| Cache::with_weighter(items, bytes_max, ByBytes)))
    }

    pub fn get(&self, question: &Question, version: u64) -> Option<Bytes> {
        let kept = self.0.as_ref()?.get(question)?;
        (kept.version == version).then_some(kept.body)
    }

    pub fn keep(&self, question: Question, version: u64, body: Bytes) {
        if let Some(cache) = &self.0 {
            cache.insert(question, Kept { version, body });
        }
    }
}
