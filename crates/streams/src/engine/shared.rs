//! Matches block after block for all streams of a class, as long as the server runs.

use std::collections::HashMap;
use std::sync::Arc;

use store::{Error, StreamId};

use super::Engine;
use super::matcher::Matcher;
use super::step::Progress;

/// Whatever happens to it, it is begun again.
pub async fn keep(engine: Arc<Engine>, matcher: Arc<Matcher>) {
    let start = || run(&engine, &matcher);
    engine.context.tasks.keep_running(&matcher.task, || false, start).await;
}

async fn run(engine: &Arc<Engine>, matcher: &Arc<Matcher>) -> Result<(), Error> {
    let context = &engine.context;
    let mut written = context.store.subscribe(matcher.chain);
    loop {
        written.borrow_and_update();
        let stepped = matcher.step(context).await?;
        context.tasks.recovered(&matcher.task);
        detach_full(engine, matcher, &stepped.queue_bytes).await;
        match stepped.progress {
            Progress::Moved => {}
            Progress::Waits(wait) => {
                let _ = tokio::time::timeout(wait, written.changed()).await;
            }
            // The store is gone where this fails; so is this task, soon.
            Progress::Idle if written.changed().await.is_err() => return Ok(()),
            Progress::Idle => {}
        }
    }
}

/// Streams whose queue is too long wait by themselves.
async fn detach_full(
    engine: &Arc<Engine>,
    matcher: &Arc<Matcher>,
    queue_bytes: &HashMap<StreamId, u64>,
) {
    for (id, bytes) in queue_bytes {
        // Asked once more: it was sent from meanwhile.
        if !is_too_long(engine, *bytes) || !is_full(engine, *id).await {
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
    let queue = engine.context.store.stream_queue(id).await;
    queue.is_ok_and(|queue| is_too_long(engine, queue.waiting_bytes))
}

fn is_too_long(engine: &Engine, queue_bytes: u64) -> bool {
    let max = engine.context.config.queue_bytes_max;
    max > 0 && queue_bytes > max
}
