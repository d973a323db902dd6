//! The limits that an answer can be too large for.

/// Which limit an answer was too large for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// One answer alone: asking again gives the same.
    Answer,
    /// The answers of one batch together.
    Batch,
    /// All answers in memory at this moment: later there may be room.
    InFlight,
}
