//! What waits to be sent, over all streams, for /metrics.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::shared::Shared;

const EVERY: Duration = Duration::from_secs(10);

pub(super) async fn run(shared: Arc<Shared>) {
    loop {
        let began = Instant::now();
        match sum(&shared).await {
            Ok((deliveries, bytes)) => {
                metrics::gauge!("headwater_streams_queue_deliveries").set(deliveries as f64);
                metrics::gauge!("headwater_streams_queue_bytes").set(bytes as f64);
            }
            Err(error) => tracing::debug!(%error, "queues of streams cannot be added up"),
        }
        // With very many streams less often.
        let pause = EVERY.max(began.elapsed() * 50);
        if shared.unless_stopping(tokio::time::sleep(pause)).await.is_none() {
            return;
        }
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
