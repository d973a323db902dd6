//! Answers kept until what they say changes.
//!
//! A wallet's total carries the journal sequence of its last change, so one small read tells whether
//! a kept answer still holds, however many blocks came since.

use bytes::Bytes;
use model::cursor::QuestionDigest;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use store::read::Place;

use crate::wire::Profile;

/// Everything in a request that shapes its answer.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Words {
    /// What was asked, in the words of the request: the answer's cursor is sealed for those.
    pub digest: QuestionDigest,
    pub after: Option<Place>,
    pub limit: usize,
    pub page: u32,
    pub profile: Profile,
    /// Counts up while a cursor lives, so that a kept answer never hands out an expired one.
    pub era: u64,
}

/// Everything that shapes an answer's body.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Question {
    pub words: Words,
    /// What its range means at the moment; a date comes to mean another block.
    pub blocks: (u64, u64),
}

#[derive(Clone)]
pub struct Answer {
    pub body: Bytes,
    /// Internal transactions were asked for, and a row's block was stored without them.
    pub traces_missing: bool,
}

#[derive(Clone)]
struct Kept {
    version: u64,
    answer: Answer,
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<Question, Kept> for ByBytes {
    fn weight(&self, _: &Question, kept: &Kept) -> u64 {
        (size_of::<Question>() + size_of::<Kept>() + kept.answer.body.len()) as u64
    }
}

pub struct Answers(Option<Cache<Question, Kept, ByBytes>>);

impl Answers {
    pub fn new(bytes_max: u64) -> Self {
        // An answer of 64 KiB is a page of a hundred rows.
        let items = usize::try_from(bytes_max / (64 << 10)).unwrap_or(usize::MAX).max(16);
        Answers((bytes_max > 0).then(|| Cache::with_weighter(items, bytes_max, ByBytes)))
    }

    pub fn get(&self, question: &Question, version: u64) -> Option<Answer> {
        let kept = self.0.as_ref()?.get(question)?;
        (kept.version == version).then_some(kept.answer)
    }

    pub fn keep(&self, question: Question, version: u64, answer: Answer) {
        if let Some(cache) = &self.0 {
            cache.insert(question, Kept { version, answer });
        }
    }
}
