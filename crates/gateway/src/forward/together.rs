//! Calls of one batch that go to the nodes at the same moment travel in one request.
//!
//! Whoever comes first waits until all others that are ready have come, and asks for them. Nobody waits for time.

use std::sync::{Arc, Mutex, PoisonError};

use rpc::{Call, CallResult, Error, Needs, Pool, Route, UpstreamId};
use tokio::sync::oneshot;

/// A node's answer, and whose it is; none where the calls could not be sent together.
type Part = Option<(UpstreamId, CallResult)>;

/// As many calls as can be ready in one round of a batch.
const ROUNDS: usize = 3;

#[derive(Default)]
pub struct Together {
    waiting: Mutex<Vec<(Call, oneshot::Sender<Part>)>>,
}

impl Together {
    /// None where the call has to be asked for alone.
    pub async fn ask(self: Arc<Self>, pool: &Pool, call: Call, head: Option<u64>) -> Part {
        let (tell, told) = oneshot::channel();
        let is_first = {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.push((call, tell));
            waiting.len() == 1
        };
        if is_first {
            for _ in 0..ROUNDS {
                tokio::task::yield_now().await;
            }
            let parts = {
                let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
                std::mem::take(&mut *waiting)
            };
            send(pool, parts, head).await;
        }
        // Whoever asked for it may have gone away.
        told.await.ok().flatten()
    }
}

async fn send(pool: &Pool, parts: Vec<(Call, oneshot::Sender<Part>)>, head: Option<u64>) {
    let (calls, tells): (Vec<Call>, Vec<_>) = parts.into_iter().unzip();
    if calls.len() < 2 {
        return;
    }
    let needs = Needs { block: head, ..Needs::default() };
    let route = Route { needs, not: &[], may_hedge: true };
    match pool.forward_together(&calls, route, None).await {
        Ok(together) => {
            for (tell, answer) in tells.into_iter().zip(together.answers) {
                let _ = tell.send(Some((together.upstream, answer)));
            }
        }
        Err(error) => note(&error, calls.len()),
    }
}

/// They are asked for one by one then.
fn note(error: &Error, calls: usize) {
    tracing::debug!(%error, calls, "calls of a batch could not be sent together");
}
