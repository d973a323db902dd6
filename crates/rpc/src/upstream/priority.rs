//! Whose turn it is when a node may not be asked more at once.

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// Ingest: waits for room as long as it takes; its latency steers the limit.
    Bulk,
    /// A user is waiting: waits for room no longer than the timeout.
    Interactive,
    /// Head polls and probes: do not queue behind the others.
    Immediate,
}
