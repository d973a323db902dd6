//! Why blocks did not get into the store this time.

use model::raw::Malformed;

use crate::verify::Lie;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Upstream(#[from] rpc::Error),
    /// A node contradicted itself; it has been reported to the pool.
    #[error("{upstream} lied: {lie}")]
    Lie { upstream: String, lie: Lie },
    /// The node has no such block (any more): its head moved, or it lags.
    #[error("block {number} is not there yet")]
    NotThere { number: u64 },
    /// The chain changed under a question of several parts; asking again settles it.
    #[error("the chain moved at block {number} while it was read")]
    Moved { number: u64 },
    /// One node alone wants to revert more than one node alone may, for now.
    #[error(
        "{upstream} has another chain from block {number} on; reverting {blocks} blocks waits for the word of a second node"
    )]
    SecondWord { upstream: String, number: u64, blocks: u64 },
    #[error("{upstream} refused {what}: {message}")]
    Refused { upstream: String, what: &'static str, message: String },
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error("the ingest of this chain was stopped")]
    Stopped,
    /// A fault in this program, not in what it was given.
    #[error("{doing} panicked: {message}; please report this, with the block")]
    Panicked { doing: String, message: String },
}

impl Error {
    /// Everything but a broken store heals with time or with another upstream.
    pub fn is_retryable(&self) -> bool {
        match self {
            Error::Store(error) => error.is_retryable(),
            Error::Stopped | Error::Panicked { .. } => false,
            _ => true,
        }
    }
}

/// What is wrong with one block that a node gave.
#[derive(Debug)]
pub enum BlockFault {
    Lie(Lie),
    Malformed(Malformed),
}

impl BlockFault {
    /// In the form in which the pool keeps evidence.
    pub fn into_lie(self, block: u64) -> Lie {
        match self {
            BlockFault::Lie(lie) => lie,
            BlockFault::Malformed(m) => Lie {
                block,
                check: "form",
                expected: format!("a well-formed {}", m.what),
                got: m.detail,
            },
        }
    }
}

pub fn evidence(lie: &Lie) -> rpc::Evidence {
    rpc::Evidence {
        block: lie.block,
        check: lie.check.to_owned(),
        expected: lie.expected.clone(),
        got: lie.got.clone(),
    }
}
