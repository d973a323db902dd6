//! A delivery as a row: what it is, and how far its attempts came.

use model::chain::ChainId;
use tokio_postgres::Row;

use super::queues::stream_id;
use crate::postgres::chain_row::hash;
use crate::postgres::numbers::{option_at, u64_at};
use crate::streams::{Delivery, DeliveryKind, DeliveryMeta, DeliveryState, RecordCounts};

/// In the order in which `read` takes them; the table is `d`.
macro_rules! delivery_columns {
    () => {
        "d.stream, d.seq, d.chain, d.number, d.hash, d.kind, d.part, d.parts, d.traces_missing, d.amends, d.txs, d.logs, \
         d.internal_txs, d.created_ms, d.body_bytes, d.digest, d.previous_digest, d.attempts, d.due_ms, d.delivered_ms, \
         d.given_up, d.error"
    };
}
pub(super) use delivery_columns;

pub const COLUMNS: usize = 22;

pub fn kind_name(kind: DeliveryKind) -> &'static str {
    match kind {
        DeliveryKind::Unconfirmed => "unconfirmed",
        DeliveryKind::Confirmed => "confirmed",
        DeliveryKind::Retracted => "retracted",
    }
}

fn u32_of(row: &Row, column: usize) -> u32 {
    u32::try_from(u64_at(row, column)).unwrap_or(u32::MAX)
}

pub fn read(row: &Row) -> Delivery {
    let meta = DeliveryMeta {
        chain: ChainId(u64_at(row, 2)),
        number: u64_at(row, 3),
        hash: hash(row.get(4)),
        kind: match row.get::<_, &str>(5) {
            "unconfirmed" => DeliveryKind::Unconfirmed,
            "confirmed" => DeliveryKind::Confirmed,
            _ => DeliveryKind::Retracted,
        },
        part: (u32_of(row, 6), u32_of(row, 7)),
        traces_missing: row.get(8),
        amends: option_at(row, 9),
        counts: RecordCounts {
            txs: u32_of(row, 10),
            logs: u32_of(row, 11),
            internal_txs: u32_of(row, 12),
        },
        created_ms: u64_at(row, 13),
    };
    let state = DeliveryState {
        attempts: u32_of(row, 17),
        due_ms: option_at(row, 18),
        delivered_ms: option_at(row, 19),
        given_up: row.get(20),
        error: row.get(21),
    };
    Delivery {
        stream: stream_id(row.get(0)),
        seq: u64_at(row, 1),
        meta,
        body_bytes: u64_at(row, 14),
        digest: hash(row.get(15)),
        previous_digest: hash(row.get(16)),
        state,
    }
}

/// A delivery, where it is listed as failed, and since when it waits for nothing.
pub struct Known {
    pub delivery: Delivery,
    pub failed: Option<(u64, u32)>,
    pub ended_ms: Option<u64>,
}

/// With `failed_ms`, `failed_retries` and `ended_ms` behind its columns.
pub fn read_known(row: &Row) -> Known {
    let retries = option_at(row, COLUMNS + 1).and_then(|it| u32::try_from(it).ok());
    let failed = option_at(row, COLUMNS).zip(retries);
    Known { delivery: read(row), failed, ended_ms: option_at(row, COLUMNS + 2) }
}
