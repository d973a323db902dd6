//! Why a block came without traces, for whoever stores it or asks again.

pub(super) const UNBOUND: &str = "the traces do not say of which block they are";

/// Why a block came without traces.
#[derive(Clone, Debug, PartialEq)]
pub enum NoTraces {
    /// Nobody was asked: none traces, or such blocks, or none for the moment.
    NotAsked,
    /// The node says that it no longer has the state of such old blocks.
    StateGone,
    /// They came, and do not say of which block: asked for by hash, the same node's will do.
    Unbound,
    /// Too early, too short, too large: another try or another node may have them.
    Failed(String),
    /// The head did not wait for them.
    TooSlow(String),
}

impl NoTraces {
    /// Whether somebody was asked who should have had them.
    pub fn is_failure(&self) -> bool {
        self.reason().is_some()
    }

    /// What became of it, where somebody was asked who should have had them.
    pub fn reason(&self) -> Option<&str> {
        match self {
            NoTraces::Failed(why) | NoTraces::TooSlow(why) => Some(why),
            NoTraces::Unbound => Some(UNBOUND),
            NoTraces::NotAsked | NoTraces::StateGone => None,
        }
    }
}
