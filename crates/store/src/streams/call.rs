//! Requests about streams on their way to the process that has them, by way of the store that all have in common.

use std::time::Duration;

use bytes::Bytes;

use crate::Error;
use crate::store::{Engine, Store};

/// A request as it came, from somebody who was let in already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamCall {
    pub tenant: String,
    pub method: String,
    /// With its query.
    pub path: String,
    pub content_type: Option<String>,
    pub body: Bytes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamAnswer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

impl Store {
    /// None where nobody answered within that time, or whoever was about to has ended: then nobody knows what was done.
    pub async fn call_streams(
        &self,
        call: &StreamCall,
        within: Duration,
    ) -> Result<Option<StreamAnswer>, Error> {
        match &self.engine {
            Engine::Embedded(_) => Ok(None),
            Engine::Postgres(store) => store.call_streams(call, within).await,
        }
    }

    /// Calls that nobody has taken up, which are this process's now. Waits until there is one, or a moment.
    pub async fn take_stream_calls(&self) -> Result<Vec<(String, StreamCall)>, Error> {
        match &self.engine {
            Engine::Embedded(_) => std::future::pending().await,
            Engine::Postgres(store) => store.take_stream_calls().await,
        }
    }

    pub async fn answer_stream_call(&self, id: &str, answer: &StreamAnswer) -> Result<(), Error> {
        match &self.engine {
            Engine::Embedded(_) => Ok(()),
            Engine::Postgres(store) => store.answer_stream_call(id, answer).await,
        }
    }
}
