//! Which of several senders is at what: a stream's first attempts are one sender's at a time, and so is a retry.
//!
//! A claim lasts for `CLAIM`, unless it is renewed; whatever a sender that died was at is another's then. A store that
//! belongs to one process gives every claim.

use std::time::Duration;

use super::{StreamId, StreamRow};
use crate::Error;
use crate::store::{Engine, Store};

pub const CLAIM: Duration = Duration::from_secs(10);

impl Store {
    /// Streams that have something to send and whom nobody is at: they are this sender's now.
    pub async fn claim_queues(&self, sender: &str, limit: usize) -> Result<Vec<StreamId>, Error> {
        match &self.engine {
            Engine::Embedded(_) => Ok(Vec::new()),
            Engine::Postgres(store) => store.claim_queues(sender, limit).await,
        }
    }

    /// Whether the stream was this sender's before; none where it is another's.
    pub async fn claim_queue(&self, sender: &str, id: StreamId) -> Result<Option<bool>, Error> {
        match &self.engine {
            Engine::Embedded(_) => Ok(Some(true)),
            Engine::Postgres(store) => store.claim_queue(sender, id).await,
        }
    }

    /// Those of them that are this sender's for another `CLAIM`.
    pub async fn renew_claims(
        &self,
        sender: &str,
        streams: Vec<StreamId>,
    ) -> Result<Vec<StreamId>, Error> {
        match &self.engine {
            Engine::Embedded(_) => Ok(streams),
            Engine::Postgres(store) => store.renew_claims(sender, &streams).await,
        }
    }

    /// All that this sender has is free for others.
    pub async fn release_claims(&self, sender: &str) -> Result<(), Error> {
        match &self.engine {
            Engine::Embedded(_) => Ok(()),
            Engine::Postgres(store) => store.release_claims(sender).await,
        }
    }

    /// Whether a retry that was seen to be due then is the caller's: for others it is due at `until_ms`.
    pub async fn claim_retry(
        &self,
        (id, seq): (StreamId, u64),
        due_ms: u64,
        until_ms: u64,
    ) -> Result<bool, Error> {
        match &self.engine {
            Engine::Embedded(_) => Ok(true),
            Engine::Postgres(store) => store.claim_retry((id, seq), due_ms, until_ms).await,
        }
    }

    /// Those of the streams that there are.
    pub async fn stream_rows(&self, ids: &[StreamId]) -> Result<Vec<StreamRow>, Error> {
        match &self.engine {
            Engine::Embedded(store) => {
                let all = store.streams()?.into_iter();
                Ok(all.filter(|row| ids.contains(&row.id)).collect())
            }
            Engine::Postgres(store) => store.stream_rows(ids).await,
        }
    }
}
