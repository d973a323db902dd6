//! What streams matched, written with the cursor of the journal reader that matched it.

use std::collections::{BTreeSet, HashMap};

use alloy_primitives::B256;
use model::chain::ChainId;

use super::copy_deliveries::{DeliveryRow, copy_deliveries};
use super::definitions::put_row;
use super::queues::{Queues, stream_id};
use crate::Error;
use crate::embedded::streams::BodyPacker;
use crate::postgres::announce::NOTIFY;
use crate::postgres::chain_row::hash;
use crate::postgres::connection::Connection;
use crate::postgres::numbers::{option_at, sql, u64_at};
use crate::postgres::readers::{forget_reader, move_reader};
use crate::postgres::store::Store;
use crate::shared::Shared;
use crate::streams::{
    DeliveryKind, DeliveryMeta, NewDelivery, QueuedDelivery, StreamCommit, StreamId,
};

const SENT: &str = "select m.stream, m.number, m.hash, m.first_seq from \
     unnest($2::bytea[], $3::bigint[]) as p (stream, number) \
     join stream_matches m on m.stream = p.stream and m.chain = $1 and m.number = p.number";

/// Blocks of streams of which a part was sent before they were confirmed.
type Sent = HashMap<(StreamId, u64), (B256, Option<u64>)>;

impl Store {
    pub async fn commit_streams(&self, commit: StreamCommit) -> Result<Vec<QueuedDelivery>, Error> {
        let done = self.write_streams(commit).await;
        self.inner.wrote(done)
    }

    async fn write_streams(&self, commit: StreamCommit) -> Result<Vec<QueuedDelivery>, Error> {
        let StreamCommit { chain, reader, expected, cursor, change } = commit;
        let bodies = change.deliveries.iter().map(|new| &new.body);
        let kept = change.keep.iter().flat_map(|new| new.parts.iter().map(|(_, body)| body));
        // Before anything is locked.
        let mut packer = BodyPacker::with(bodies.chain(kept));
        let mut connection = self.begin().await?;
        let of_deliveries = change.deliveries.iter().map(|new| new.stream);
        let of_matches = change.keep.iter().map(|new| new.stream);
        let of_rows = change.streams.iter().map(|row| row.id);
        let streams = of_deliveries.chain(of_matches).chain(of_rows);
        let mut queues = Queues::lock(&connection, streams).await?;
        let sent = sent_before(&connection, chain, &change.deliveries).await?;
        let (mut made, mut seqs) = (Vec::new(), Vec::with_capacity(change.deliveries.len()));
        let unconfirmed = unconfirmed(&change.deliveries);
        for new in change.deliveries {
            let is_news = is_news(new.stream, &new.meta, &unconfirmed, &sent);
            let queued = queues.live(new.stream).map(|row| row.add(new, is_news));
            seqs.push(queued.as_ref().map(|queued| queued.delivery.seq));
            made.extend(queued);
        }
        queues.chain_digests(&mut made);
        let new = made.iter().map(|QueuedDelivery { delivery, body, .. }| DeliveryRow {
            delivery,
            failed: None,
            ended_ms: None,
            body,
        });
        copy_deliveries(&connection, new, &mut packer).await?;
        let matches =
            super::matches::MatchChanges { chain, keep: change.keep, remove: change.remove };
        matches.write(&connection, (&mut queues, &mut packer), &seqs).await?;
        for row in &change.streams {
            if queues.live(row.id).is_some() {
                put_row(&connection, row).await?;
            }
        }
        queues.write(&connection).await?;
        if let Some(retired) = change.retire.filter(|retired| *retired != reader) {
            forget_reader(&connection, chain, &retired).await?;
        }
        move_reader(&connection, (chain, &reader), expected, cursor).await?;
        if !made.is_empty() {
            let note = format!("{} 0", Shared::Deliveries.name());
            connection.query(NOTIFY, &[&note]).await?;
        }
        connection.commit().await?;
        Ok(made)
    }
}

fn unconfirmed(deliveries: &[NewDelivery]) -> BTreeSet<(StreamId, u64, B256)> {
    let new = deliveries.iter().filter(|new| new.meta.kind == DeliveryKind::Unconfirmed);
    new.map(|new| (new.stream, new.meta.number, new.meta.hash)).collect()
}

async fn sent_before(
    connection: &Connection,
    chain: ChainId,
    deliveries: &[NewDelivery],
) -> Result<Sent, Error> {
    let confirmed = deliveries.iter().filter(|new| new.meta.kind == DeliveryKind::Confirmed);
    let (streams, numbers): (Vec<&[u8]>, Vec<i64>) =
        confirmed.map(|new| (new.stream.as_slice(), sql(new.meta.number))).unzip();
    if streams.is_empty() {
        return Ok(Sent::new());
    }
    let rows = connection.query(SENT, &[&sql(chain.0), &streams, &numbers]).await?;
    let place = |row: &tokio_postgres::Row| {
        ((stream_id(row.get(0)), u64_at(row, 1)), (hash(row.get(2)), option_at(row, 3)))
    };
    Ok(rows.iter().map(place).collect())
}

/// Whether it is the first to tell of its items: a confirmed delivery may repeat an unconfirmed one.
fn is_news(
    stream: StreamId,
    meta: &DeliveryMeta,
    unconfirmed: &BTreeSet<(StreamId, u64, B256)>,
    sent: &Sent,
) -> bool {
    match meta.kind {
        DeliveryKind::Unconfirmed => true,
        DeliveryKind::Retracted => false,
        DeliveryKind::Confirmed if unconfirmed.contains(&(stream, meta.number, meta.hash)) => false,
        DeliveryKind::Confirmed => match sent.get(&(stream, meta.number)) {
            Some((hash, first_seq)) => *hash != meta.hash || first_seq.is_none(),
            None => true,
        },
    }
}
