//! `streams.parity_termination`: a stream that was in error for a day ends, as with the hosted service.

use std::sync::Arc;
use std::time::Duration;

use tasks::endless;

use crate::clock;
use crate::engine::Context;
use crate::record::Status;

const LOOK_EVERY: Duration = Duration::from_secs(60);
const ERROR_MAX_MS: u64 = 86_400_000;
const TERMINATED: &str = "Stream was terminated: it was in error for 24 hours";

pub async fn keep_watching(context: Arc<Context>) {
    if context.config.parity_termination {
        let start = || endless(watch(&context));
        context.tasks.keep_running("ending of streams in error", || false, start).await;
    }
}

async fn watch(context: &Context) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        terminate(context, clock::now_ms()).await;
    }
}

async fn terminate(context: &Context, now_ms: u64) {
    let mut rows = Vec::new();
    {
        let mut registry = context.registry.write();
        let overdue: Vec<_> = registry
            .all()
            .filter(|it| it.record.status == Status::Error)
            .filter(|it| {
                it.record.error_since_ms.is_some_and(|since| now_ms >= since + ERROR_MAX_MS)
            })
            .map(|it| it.id)
            .collect();
        for id in overdue {
            if let Some(entry) = registry.get_mut(id) {
                entry.record.set_status(Status::Terminated, TERMINATED.to_owned());
                rows.push(entry.record.row(id, &entry.tenant));
            }
        }
    }
    for row in rows {
        if let Err(error) = context.store.put_stream(row).await {
            tracing::warn!(%error, "a stream was terminated, which could not be written");
        }
    }
}
