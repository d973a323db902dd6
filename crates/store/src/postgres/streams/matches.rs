//! Matches that wait for their block to be confirmed.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use model::chain::ChainId;

use super::queues::{Queues, stream_id};
use crate::Error;
use crate::embedded::streams::{BROKEN_MATCH, BodyPacker, MatchRow};
use crate::postgres::connection::{Connection, Param};
use crate::postgres::numbers::{sql, stored, u64_at};
use crate::postgres::store::Store;
use crate::streams::{KeptMatch, NewMatch, StreamId};

const PUT: &str = "insert into stream_matches (stream, chain, number, hash, traces_missing, first_seq, parts, packed) \
     values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (stream, chain, number) do update set hash = excluded.hash, \
     traces_missing = excluded.traces_missing, first_seq = excluded.first_seq, parts = excluded.parts, \
     packed = excluded.packed";
const REMOVE: &str = "delete from stream_matches m using unnest($2::bytea[], $3::bigint[]) as p (stream, number) \
     where m.stream = p.stream and m.chain = $1 and m.number = p.number";
const KEPT: &str = "select m.number, m.stream, m.packed from stream_matches m join stream_queues q on q.stream = m.stream \
     where m.chain = $1 and m.number between $2 and $3 and ($4::bytea is null or m.stream = $4) and not q.is_removed \
     order by m.number, m.stream";

/// What one commit does to them.
pub struct MatchChanges {
    pub chain: ChainId,
    pub keep: Vec<NewMatch>,
    pub remove: Vec<(u64, StreamId)>,
}

impl MatchChanges {
    /// `seqs` are the numbers of the commit's deliveries.
    pub async fn write(
        self,
        connection: &Connection,
        (queues, packer): (&mut Queues, &mut BodyPacker),
        seqs: &[Option<u64>],
    ) -> Result<(), Error> {
        let kept = self.keep.into_iter().map(|new| ((new.stream, new.number), Some(new)));
        let removed = self.remove.into_iter().map(|(number, stream)| ((stream, number), None));
        // Of the same block and stream the last one counts, and what is kept before what goes.
        let changes: BTreeMap<(StreamId, u64), Option<NewMatch>> = removed.chain(kept).collect();
        let gone = changes.iter().filter(|(_, new)| new.is_none());
        let (streams, numbers): (Vec<&[u8]>, Vec<i64>) =
            gone.map(|((stream, number), _)| (stream.as_slice(), sql(*number))).unzip();
        let chain = sql(self.chain.0);
        if !streams.is_empty() {
            connection.execute(REMOVE, &[&chain, &streams, &numbers]).await?;
        }
        for ((stream, number), new) in &changes {
            let Some(new) = new.as_ref().filter(|_| queues.live(*stream).is_some()) else {
                continue;
            };
            let now = new.first_delivery.and_then(|at| seqs.get(at).copied().flatten());
            let first_seq = new.first_seq.or(now);
            let (hash, traces_missing) = (new.hash, new.traces_missing);
            let row = MatchRow { hash, traces_missing, first_seq, parts: new.parts.clone() };
            let kept = row.into_kept(*stream, *number);
            put_match(connection, self.chain, kept, packer).await?;
        }
        Ok(())
    }
}

pub async fn put_match(
    connection: &Connection,
    chain: ChainId,
    kept: KeptMatch,
    packer: &mut BodyPacker,
) -> Result<(), Error> {
    let (stream, number, row) = (kept.stream, kept.number, MatchRow::of(kept));
    let params: [Param; 8] = [
        &stream.as_slice(),
        &sql(chain.0),
        &stored("block number", number)?,
        &row.hash.as_slice(),
        &row.traces_missing,
        &row.first_seq.map(sql),
        &(row.parts.len() as i32),
        &row.pack(packer),
    ];
    connection.execute(PUT, &params).await.map(|_| ())
}

impl Store {
    pub async fn kept_matches(
        &self,
        chain: ChainId,
        blocks: RangeInclusive<u64>,
        stream: Option<StreamId>,
    ) -> Result<Vec<KeptMatch>, Error> {
        let only = stream.map(|stream| stream.to_vec());
        let params: [Param; 4] = [&sql(chain.0), &sql(*blocks.start()), &sql(*blocks.end()), &only];
        let rows = self.inner.pool.get().await?.query(KEPT, &params).await?;
        let kept = |row: &tokio_postgres::Row| {
            let found = MatchRow::unpack(row.get(2)).ok_or(BROKEN_MATCH)?;
            Ok(found.into_kept(stream_id(row.get(1)), u64_at(row, 0)))
        };
        rows.iter().map(kept).collect()
    }
}
