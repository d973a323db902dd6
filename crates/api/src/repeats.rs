//! Answers to the very same words, given again as long as nothing was written of their chain.
//!
//! What is kept elsewhere is checked against the store each time; this is not even that. A busy client
//! asks the same many times between two blocks.

use std::hash::Hash;
use std::sync::Arc;

use bytes::Bytes;
use store::{Coverage, Version};

use crate::kept::{Heavy, Kept};
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

impl Heavy for Said {
    fn bytes(&self) -> usize {
        self.body.len() + size_of_val(self.coverage.ranges())
    }
}

/// By everything in a request that shapes its answer.
pub struct Repeats<K>(Kept<K, Version, Said>);

impl<K: Eq + Hash> Repeats<K> {
    pub fn new(bytes_max: u64) -> Self {
        Repeats(Kept::new(bytes_max, 16 << 10))
    }

    /// `version` is the chain's now.
    pub fn get(&self, words: &K, version: Version) -> Option<Said> {
        self.0.get(words, version)
    }

    /// `version` is that of the view that the answer was made from.
    pub fn keep(&self, words: K, version: Version, said: Said) {
        self.0.keep(words, version, said);
    }
}
