//! Streams, where this process has them. Of several processes one does; the others hand requests on to it.

use std::sync::{Arc, RwLock};

use streams::Streams;

use crate::lock;

/// Cheap to clone; all clones are the same place.
#[derive(Clone, Default)]
pub struct StreamsSlot(Arc<RwLock<Option<Streams>>>);

impl StreamsSlot {
    pub fn new(streams: Streams) -> Self {
        StreamsSlot(Arc::new(RwLock::new(Some(streams))))
    }

    pub fn get(&self) -> Option<Streams> {
        lock::read(&self.0).clone()
    }

    pub fn set(&self, streams: Option<Streams>) {
        *lock::write(&self.0) = streams;
    }
}
