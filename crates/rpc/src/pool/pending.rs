//! Pending transactions as one upstream tells them: nothing can be checked of them, and no two nodes tell the same.

use super::pick::Needs;
use super::shared::{Choice, Shared};
use crate::error::{Error, error_chain};
use crate::lane::Lane;
use crate::upstream::{Heard, SubscribedSocket};
use bytes::Bytes;
use tokio::time::Instant;

/// A running subscription; ends when dropped.
pub struct PendingTransactions {
    socket: SubscribedSocket,
}

impl PendingTransactions {
    /// A hash or a transaction, as JSON. After an error nothing more comes.
    pub async fn next(&mut self) -> Result<Bytes, Error> {
        loop {
            if let Heard::Told(value) = self.socket.next().await? {
                return Ok(value);
            }
        }
    }
}

/// At the best upstream that has a socket and takes it.
pub async fn subscribe(shared: &Shared, whole: bool) -> Result<PendingTransactions, Error> {
    let params =
        if whole { r#"["newPendingTransactions",true]"# } else { r#"["newPendingTransactions"]"# };
    let needs = Needs::default();
    let mut tried = Vec::new();
    let mut last = None;
    let choice = Choice { needs: &needs, lane: Lane::Interactive };
    while let Some(id) = shared.best(choice, &tried, Instant::now()) {
        tried.push(id);
        let target = shared.member(id).and_then(|member| member.upstream.heads_at());
        let Some(target) = target else { continue };
        match open(target, params).await {
            Ok(socket) => return Ok(PendingTransactions { socket }),
            Err(error) => {
                tracing::debug!(chain = %shared.chain_label, upstream = %shared.label(id), error = %error_chain(&error), "no pending transactions");
                last = Some(error);
            }
        }
    }
    Err(last.unwrap_or_else(|| shared.no_upstream(&needs)))
}

async fn open(target: &crate::upstream::Target, params: &str) -> Result<SubscribedSocket, Error> {
    let opening = async {
        let mut socket = SubscribedSocket::open(target, params).await?;
        // The first thing that it says is whether it takes it.
        socket.next().await.map(|_| socket)
    };
    let Ok(opened) = tokio::time::timeout(target.timeout, opening).await else {
        let after_ms = target.timeout.as_millis() as u64;
        return Err(Error::Timeout { upstream: target.label.clone(), after_ms });
    };
    opened
}
