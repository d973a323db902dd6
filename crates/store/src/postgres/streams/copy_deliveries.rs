//! Deliveries with their bodies and how far their attempts came, copied in binary form.

use bytes::Bytes;
use tokio_postgres::types::Type;

use super::delivery_row::kind_name;
use crate::Error;
use crate::embedded::streams::BodyPacker;
use crate::postgres::connection::{Columns, Connection, Param};
use crate::postgres::numbers::{sql, stored, text};
use crate::postgres::write::Copy;
use crate::streams::{Delivery, DeliveryMeta};

const COPY: &str = "copy deliveries (stream, seq, chain, number, hash, kind, part, parts, traces_missing, amends, txs, logs, \
     internal_txs, created_ms, body_bytes, digest, previous_digest, attempts, due_ms, delivered_ms, given_up, error, \
     failed_ms, failed_retries, ended_ms, body) from stdin (format binary)";
const TYPES: Columns = &[
    Type::BYTEA,
    Type::INT8,
    Type::INT8,
    Type::INT8,
    Type::BYTEA,
    Type::TEXT,
    Type::INT8,
    Type::INT8,
    Type::BOOL,
    Type::INT8,
    Type::INT8,
    Type::INT8,
    Type::INT8,
    Type::INT8,
    Type::INT8,
    Type::BYTEA,
    Type::BYTEA,
    Type::INT8,
    Type::INT8,
    Type::INT8,
    Type::BOOL,
    Type::TEXT,
    Type::INT8,
    Type::INT8,
    Type::INT8,
    Type::BYTEA,
];

/// A row to be.
pub struct DeliveryRow<'a> {
    pub delivery: &'a Delivery,
    /// Where it is listed as failed.
    pub failed: Option<(u64, u32)>,
    /// Since when it waits for nothing.
    pub ended_ms: Option<u64>,
    pub body: &'a Bytes,
}

pub async fn copy_deliveries<'a>(
    connection: &Connection,
    deliveries: impl ExactSizeIterator<Item = DeliveryRow<'a>>,
    packer: &mut BodyPacker,
) -> Result<(), Error> {
    if deliveries.len() == 0 {
        return Ok(());
    }
    let mut copy = Copy::begin(connection, COPY, TYPES).await?;
    for DeliveryRow { delivery, failed, ended_ms, body } in deliveries {
        let DeliveryMeta { part, counts, amends, .. } = &delivery.meta;
        let state = &delivery.state;
        let packed = packer.pack(body);
        let row: [Param; 26] = [
            &delivery.stream.as_slice(),
            &sql(delivery.seq),
            &sql(delivery.meta.chain.0),
            &stored("block number", delivery.meta.number)?,
            &delivery.meta.hash.as_slice(),
            &kind_name(delivery.meta.kind),
            &i64::from(part.0),
            &i64::from(part.1),
            &delivery.meta.traces_missing,
            &amends.map(sql),
            &i64::from(counts.txs),
            &i64::from(counts.logs),
            &i64::from(counts.internal_txs),
            &sql(delivery.meta.created_ms),
            &sql(delivery.body_bytes),
            &delivery.digest.as_slice(),
            &delivery.previous_digest.as_slice(),
            &i64::from(state.attempts),
            &state.due_ms.map(sql),
            &state.delivered_ms.map(sql),
            &state.given_up,
            &state.error.as_deref().map(text),
            &failed.map(|(at_ms, _)| sql(at_ms)),
            &failed.map(|(_, retries)| i64::from(retries)),
            &ended_ms.map(sql),
            &packed.as_ref(),
        ];
        copy.row(&row).await?;
    }
    copy.end().await
}
