//! Which marketplace a sale is of.
//!
//! Must not know how marketplaces speak; each says its own code and name in its file.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// A marketplace by the code that stores have for it and the name that requests and answers use.
#[derive(Clone, Copy, Debug)]
pub struct Market {
    code: u8,
    name: &'static str,
}

impl Market {
    /// Stores keep the code with every sale: never give one a new meaning. 255 is "any" in their keys.
    pub const fn new(code: u8, name: &'static str) -> Self {
        assert!(code < u8::MAX, "this code means any marketplace");
        Market { code, name }
    }

    pub fn code(self) -> u8 {
        self.code
    }

    pub fn name(self) -> &'static str {
        self.name
    }
}

impl PartialEq for Market {
    fn eq(&self, other: &Self) -> bool {
        self.code == other.code
    }
}

impl Eq for Market {}

impl PartialOrd for Market {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Market {
    fn cmp(&self, other: &Self) -> Ordering {
        self.code.cmp(&other.code)
    }
}

impl Hash for Market {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.code.hash(state);
    }
}
