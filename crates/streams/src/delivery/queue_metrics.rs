//! What waits to be sent, over all streams, for /metrics.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::shared::Shared;

const TASK: &str = "figures of webhook queues";
const EVERY: Duration = Duration::from_secs(10);

pub(super) async fn keep(shared: Arc<Shared>) {
    let kept = shared.tasks.keep_running(TASK, || shared.is_stopping(), || run(&shared));
    shared.unless_stopping(kept).await;
}

async fn run(shared: &Shared) -> Result<(), store::Error> {
    loop {
        let began = Instant::now();
        let (deliveries, bytes) = sum(shared).await?;
        shared.tasks.recovered(TASK);
        metrics::gauge!("headwater_streams_queue_deliveries").set(deliveries as f64);
        metrics::gauge!("headwater_streams_queue_bytes").set(bytes as f64);
        // With very many streams less often.
        tokio::time::sleep(EVERY.max(began.elapsed() * 50)).await;
    }
}

async fn sum(shared: &Shared) -> Result<(u64, u64), store::Error> {
    let (mut deliveries, mut bytes) = (0, 0);
    for (index, stream) in shared.directory.all().into_iter().enumerate() {
        let queue = shared.store.stream_queue(stream).await?;
        deliveries += queue.waiting;
        bytes += queue.waiting_bytes;
        if index % 64 == 63 {
            tokio::task::yield_now().await;
        }
    }
    Ok((deliveries, bytes))
}
