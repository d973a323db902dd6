//! What the store says to a call.

pub enum LocalAnswer {
    /// The exact answer, as JSON.
    Known(Vec<u8>),
    AskNode,
}
