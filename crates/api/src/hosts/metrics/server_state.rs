//! Whether the server does its work, what the store takes, how streams are.

use store::DiskRoom;

use super::exposition::{Exposition, Metric};
use crate::app::App;
use crate::readiness::problems;

const READY: Metric =
    ("headwater_ready", "What /health/ready says: 1 ready, 0 not ready or stopping.");
const PROBLEMS: Metric = ("headwater_problems", "How many problems /health/ready names.");
const WRITABLE: Metric = ("headwater_store_writable", "Whether the store takes writes.");
const BYTES: Metric = ("headwater_store_bytes", "What the store takes on disk.");
const TABLE_BYTES: Metric =
    ("headwater_store_table_bytes", "What a table of the store takes on disk.");
const TABLE_ROWS: Metric = ("headwater_store_table_rows", "Rows of a table, estimated.");
const DISK_SIZE: Metric =
    ("headwater_disk_size_bytes", "Size of the file system of the data folder.");
const DISK_FREE: Metric =
    ("headwater_disk_free_bytes", "What is free on the file system of the data folder.");
const DISK_FREE_MIN: Metric =
    ("headwater_disk_free_min_bytes", "Below this many free bytes writing pauses.");
const STREAMS: Metric = ("headwater_streams", "Streams by status.");

pub async fn look(app: &App) -> Exposition {
    let mut out = Exposition::default();
    let problems = problems(app).await.len();
    let is_ready = problems == 0 && !app.is_stopping();
    out.gauge(READY, &[], f64::from(u8::from(is_ready)));
    out.gauge(PROBLEMS, &[], problems as f64);
    of_store(app, &mut out).await;
    // The process that matches them tells of them.
    let streams = app.parts.streams.as_ref().and_then(|slot| slot.get());
    for (status, count) in streams.iter().flat_map(|streams| streams.count_by_status()) {
        out.gauge(STREAMS, &[("status", status.name())], count as f64);
    }
    out
}

/// Where all of it takes too long: nobody can say that the server is ready.
pub fn unknown() -> Exposition {
    let mut out = Exposition::default();
    out.gauge(READY, &[], 0.0);
    out
}

async fn of_store(app: &App, out: &mut Exposition) {
    let store = &app.parts.store;
    out.gauge(WRITABLE, &[], f64::from(u8::from(store.write_state().is_writable())));
    out.gauge(BYTES, &[], store.disk_bytes() as f64);
    if let Some(DiskRoom { size_bytes, free_bytes, free_bytes_min }) = store.disk_room() {
        out.gauge(DISK_SIZE, &[], size_bytes as f64);
        out.gauge(DISK_FREE, &[], free_bytes as f64);
        out.gauge(DISK_FREE_MIN, &[], free_bytes_min as f64);
    }
    // Other parts of the process tell theirs by the recorder, and a name can be told in one place only.
    for share in store.memory_use() {
        metrics::gauge!("headwater_memory_bytes", "part" => share.part).set(share.bytes as f64);
        metrics::gauge!("headwater_memory_budget_bytes", "part" => share.part)
            .set(share.bytes_max as f64);
    }
    for table in store.table_sizes().await {
        let of_table = [("table", table.name)];
        out.gauge(TABLE_BYTES, &of_table, table.disk_bytes as f64);
        out.gauge(TABLE_ROWS, &of_table, table.rows as f64);
    }
}
