//! Matches block after block for all streams of a class, as long as the server runs.

use std::sync::Arc;
use std::time::Duration;

use store::StreamId;

use super::Engine;
use super::matcher::Matcher;
use super::step::Progress;

/// After a failure of the store; it says itself when it can write again.
pub const RETRY_AFTER: Duration = Duration::from_millis(500);

pub async fn run(engine: Arc<Engine>, matcher: Arc<Matcher>) {
    let context = engine.context.clone();
    let mut written = context.store.subscribe(matcher.chain);
    loop {
        written.borrow_and_update();
        let progress = match matcher.step(&context).await {
            Ok(stepped) => {
                detach_full(&engine, &matcher, &stepped.delivered).await;
                stepped.progress
            }
            Err(error) => {
                let chain = matcher.chain.0;
                tracing::warn!(chain.id = chain, %error, "streams could not go on; trying again");
                tokio::time::sleep(RETRY_AFTER).await;
                continue;
            }
        };
        match progress {
            Progress::Moved => {}
            Progress::Waits(wait) => {
                let _ = tokio::time::timeout(wait, written.changed()).await;
            }
            // The store is gone where this fails; so is this task, soon.
            Progress::Idle if written.changed().await.is_err() => return,
            Progress::Idle => {}
        }
    }
}

/// Streams whose queue is too long wait by themselves.
async fn detach_full(engine: &Arc<Engine>, matcher: &Arc<Matcher>, delivered: &[StreamId]) {
    for id in delivered {
        if !is_full(engine, *id).await {
            continue;
        }
        match engine.hold_on(matcher.chain, *id).await {
            Ok(Some(locked)) if locked.mode != crate::registry::Mode::Own => {
                if let Err(error) = engine.detach(&locked, *id).await {
                    tracing::warn!(%error, "a stream's queue is too long, and it could not be held");
                }
            }
            _ => {}
        }
    }
}

pub async fn is_full(engine: &Engine, id: StreamId) -> bool {
    let max = engine.context.config.queue_bytes_max;
    let queue = engine.context.store.stream_queue(id).await;
    queue.is_ok_and(|queue| max > 0 && queue.waiting_bytes > max)
}
