//! What a request to a node is for, and so whose turn it is where not all can be asked at once.

/// In the order of their turns: see `limiter::gate` for what each may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Following the head: polls, probes, the newest blocks.
    Head,
    /// A client waits for the answer; waits for its turn no longer than a request may take.
    Interactive,
    /// Pushed to clients, nobody waits at this moment.
    Stream,
    /// Filling history, tracing stored blocks, checking: waits as long as it takes.
    History,
}

impl Lane {
    pub(crate) const ALL: [Lane; 4] = [Lane::Head, Lane::Interactive, Lane::Stream, Lane::History];

    /// Asked for by ourselves. What clients and streams ask is theirs to choose, so what a node says to it
    /// tells nothing about how the node treats us.
    pub(crate) fn is_ingest(self) -> bool {
        matches!(self, Lane::Head | Lane::History)
    }
}

/// One of something for every lane.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PerLane<T> {
    head: T,
    interactive: T,
    stream: T,
    history: T,
}

impl<T> PerLane<T> {
    pub fn get(&self, lane: Lane) -> &T {
        match lane {
            Lane::Head => &self.head,
            Lane::Interactive => &self.interactive,
            Lane::Stream => &self.stream,
            Lane::History => &self.history,
        }
    }

    pub fn get_mut(&mut self, lane: Lane) -> &mut T {
        match lane {
            Lane::Head => &mut self.head,
            Lane::Interactive => &mut self.interactive,
            Lane::Stream => &mut self.stream,
            Lane::History => &mut self.history,
        }
    }
}
