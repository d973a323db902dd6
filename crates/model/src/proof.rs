//! What was proven of a block before it was stored.

use serde::{Deserialize, Deserializer, de::Error};

/// One bit per check that was made and held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proof(u16);

/// How far a block can be relied on, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The header's hash could not be recomputed: a form of header we do not model.
    Unverified,
    /// The header holds, but a part below it could not be recomputed or was not given.
    Partial,
    /// Header, transactions and receipts were recomputed down to the last log.
    Verified,
}

impl Level {
    pub fn name(self) -> &'static str {
        match self {
            Level::Unverified => "unverified",
            Level::Partial => "partial",
            Level::Verified => "verified",
        }
    }
}

impl Proof {
    pub const HEADER: Proof = Proof(1);
    pub const TRANSACTIONS: Proof = Proof(2);
    pub const RECEIPTS: Proof = Proof(4);
    pub const WITHDRAWALS: Proof = Proof(8);
    /// Every sender was recovered from its signature (otherwise some were, as a sample).
    pub const SENDERS: Proof = Proof(16);
    /// Traces were given, agree with transactions and receipts, and are trees that the EVM could have made:
    /// consistent, which is less than proven.
    pub const TRACES: Proof = Proof(32);

    /// Traces can be written again just as a node said them, in that form. That proves nothing of them.
    pub const AS_CALL_TRACER: Proof = Proof(64);
    pub const AS_TRACE_BLOCK: Proof = Proof(128);
    pub const AS_TRACE_BLOCK_WITH_METHODS: Proof = Proof(256);
    pub const FORMS: Proof = Proof(64 | 128 | 256);

    const NAMES: [(Proof, &'static str); 6] = [
        (Proof::HEADER, "header"),
        (Proof::TRANSACTIONS, "transactions"),
        (Proof::RECEIPTS, "receipts"),
        (Proof::WITHDRAWALS, "withdrawals"),
        (Proof::SENDERS, "senders"),
        (Proof::TRACES, "traces"),
    ];

    pub fn add(&mut self, other: Proof) {
        self.0 |= other.0;
    }

    pub fn without(self, other: Proof) -> Proof {
        Proof(self.0 & !other.0)
    }

    pub fn has(self, other: Proof) -> bool {
        self.0 & other.0 == other.0
    }

    pub fn bits(self) -> u16 {
        self.0
    }

    pub fn from_bits(bits: u16) -> Self {
        Proof(bits)
    }

    pub fn level(self) -> Level {
        if !self.has(Proof::HEADER) {
            Level::Unverified
        } else if self.has(Proof::TRANSACTIONS) && self.has(Proof::RECEIPTS) {
            Level::Verified
        } else {
            Level::Partial
        }
    }

    /// What of `expected` does not hold.
    pub fn missing(self, expected: Proof) -> Proof {
        expected.without(self)
    }

    /// How many checks it has.
    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    fn named(name: &str) -> Option<Proof> {
        Self::NAMES.into_iter().find(|(_, known)| *known == name).map(|(bit, _)| bit)
    }

    /// The checks that held, by name.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES.into_iter().filter(move |(bit, _)| self.has(*bit)).map(|(_, name)| name)
    }
}

/// A list of names, as chain files have it.
impl<'de> Deserialize<'de> for Proof {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let mut proof = Proof::default();
        for name in Vec::<String>::deserialize(source)? {
            let wrong = || D::Error::custom(format!("`{name}` is nothing that can be proven"));
            proof.add(Proof::named(&name).ok_or_else(wrong)?);
        }
        Ok(proof)
    }
}
