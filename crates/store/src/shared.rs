//! What several processes on one store have in memory and must look at again when one of them changed it.

use tokio::sync::watch;

use crate::store::{Engine, Store};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shared {
    /// API keys.
    Keys,
    /// Streams and what tenants set for them.
    Streams,
    /// Requests about streams, on their way to who has them.
    StreamCalls,
    StreamAnswers,
    /// Deliveries that wait for their first attempt.
    Deliveries,
}

impl Shared {
    pub(crate) const ALL: [Shared; 5] = [
        Shared::Keys,
        Shared::Streams,
        Shared::StreamCalls,
        Shared::StreamAnswers,
        Shared::Deliveries,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Shared::Keys => "keys",
            Shared::Streams => "streams",
            Shared::StreamCalls => "calls",
            Shared::StreamAnswers => "answers",
            Shared::Deliveries => "deliveries",
        }
    }
}

impl Store {
    /// Changes within a second after another process, or this one, wrote some of it. None where there is no other.
    pub fn watch_shared(&self, shared: Shared) -> Option<watch::Receiver<u64>> {
        match &self.engine {
            Engine::Embedded(_) => None,
            Engine::Postgres(store) => Some(store.watch_shared(shared)),
        }
    }
}
