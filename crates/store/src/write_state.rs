//! Whether the store takes writes, and if not, why and what helps.

/// Asked by whoever watches over the process. Reading goes on in every state, but for the moment in
/// which the engine is opened anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteState {
    Writable,
    /// It goes on by itself when the cause is gone.
    Paused {
        reason: String,
        advice: String,
    },
    /// It does not go on in this process.
    Failed {
        reason: String,
        advice: String,
    },
}

impl WriteState {
    pub fn is_writable(&self) -> bool {
        *self == WriteState::Writable
    }
}
