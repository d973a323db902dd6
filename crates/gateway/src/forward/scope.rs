//! What the calls of one request share: the head that `latest` means, the way to a node, where answers came from.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use tokio::sync::OnceCell;

use super::together::Together;

/// Where an answer came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Known without looking, or refused.
    Gateway,
    Store,
    Cache,
    Node,
}

impl Source {
    pub const ALL: [Source; 4] = [Source::Gateway, Source::Store, Source::Cache, Source::Node];

    pub fn name(self) -> &'static str {
        match self {
            Source::Gateway => "gateway",
            Source::Store => "store",
            Source::Cache => "cache",
            Source::Node => "node",
        }
    }
}

#[derive(Default)]
pub struct RequestScope {
    /// None for a call that comes alone: it is answered by whatever head its node has.
    batch: Option<BatchScope>,
    sources: AtomicU8,
    is_put_off: AtomicBool,
}

#[derive(Default)]
pub(crate) struct BatchScope {
    /// What `latest` means in it; zero where nobody knows.
    pub head: OnceCell<u64>,
    pub together: Arc<Together>,
}

impl RequestScope {
    pub fn of_batch() -> Self {
        RequestScope { batch: Some(BatchScope::default()), ..RequestScope::default() }
    }

    pub(crate) fn batch(&self) -> Option<&BatchScope> {
        self.batch.as_ref()
    }

    pub(crate) fn note(&self, source: Source) {
        self.sources.fetch_or(1 << source as u8, Ordering::Relaxed);
    }

    pub(crate) fn put_off(&self) {
        self.is_put_off.store(true, Ordering::Relaxed);
    }

    /// Whether the store could not be asked, and can be later.
    pub fn is_put_off(&self) -> bool {
        self.is_put_off.load(Ordering::Relaxed)
    }

    /// Where the answers so far came from, each place once.
    pub fn sources(&self) -> impl Iterator<Item = Source> + use<> {
        let seen = self.sources.load(Ordering::Relaxed);
        Source::ALL.into_iter().filter(move |source| seen & (1 << *source as u8) != 0)
    }
}
