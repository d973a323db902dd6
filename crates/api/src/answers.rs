//! Answers kept until what they say changes.
//!
//! A wallet's total carries the journal sequence of its last change, so one small read tells whether
//! a kept answer still holds, however many blocks came since.

use bytes::Bytes;
use store::Place;

use crate::cursor::QuestionDigest;
use crate::kept::{Heavy, Kept};
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

impl Heavy for Answer {
    fn bytes(&self) -> usize {
        self.body.len()
    }
}

/// A page of a hundred rows.
pub const USUAL_BYTES: u64 = 64 << 10;

pub type Answers = Kept<Question, u64, Answer>;
