//! What sending has to know of streams, and what it says of them; whoever keeps them answers.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use store::StreamId;

use crate::signature::Secrets;

#[derive(Clone, Debug)]
pub struct TargetInfo {
    pub tenant: String,
    pub webhook_url: String,
    pub tag: String,
    /// False while it is paused or in error: what it has to send waits.
    pub is_sending: bool,
    pub secrets: Secrets,
    pub region: String,
    /// As `record_rate` said last; 100 at first.
    pub success_rate: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusChange {
    /// Too much failed.
    Error,
    /// The receiver says that it is gone.
    Paused,
}

pub trait Directory: Send + Sync {
    fn target(&self, id: StreamId) -> Option<TargetInfo>;

    /// The same question without the rest of the answer.
    fn is_sending(&self, id: StreamId) -> bool {
        self.target(id).is_some_and(|target| target.is_sending)
    }

    /// How a stream does that is being sent.
    fn rate(&self, id: StreamId) -> Option<u8> {
        self.target(id).filter(|target| target.is_sending).map(|target| target.success_rate)
    }

    /// Whoever does not know all streams learns of these; `target` is asked next.
    fn prepare<'a>(&'a self, _streams: &'a [StreamId]) -> BoxFuture<'a, Result<(), store::Error>> {
        std::future::ready(Ok(())).boxed()
    }

    /// All streams that are to be sent.
    fn sending(&self) -> Vec<StreamId>;

    /// All streams, those that wait among them; for adding up queues.
    fn all(&self) -> Vec<StreamId> {
        self.sending()
    }

    /// Sending stops with it: `is_sending` is false when it returns.
    fn change_status(&self, id: StreamId, to: StatusChange, message: String) -> BoxFuture<'_, ()>;

    fn record_rate(&self, id: StreamId, rate: u8);
}
