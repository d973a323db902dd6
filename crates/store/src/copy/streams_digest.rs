//! One hash over all streams and what hangs on them: equal in two stores that hold the same, whichever engines they have.

use std::collections::BTreeSet;

use alloy_primitives::B256;
use model::chain::ChainId;
use ring::digest::{Context, SHA256};

use super::streams::{DELIVERIES_AT_ONCE, List, ROWS_AT_ONCE};
use crate::Error;
use crate::embedded::streams::{BodyPacker, MatchRow, pack_stream};
use crate::postgres::text;
use crate::store::Store;
use crate::streams::{ListedAttempt, StoredDelivery, StreamRow};

pub(super) struct StreamsDigest {
    pub streams: u64,
    pub deliveries: u64,
    pub digest: B256,
}

/// Each row with its length in front, so that no two lists of rows are the same bytes.
struct Rows(Context);

impl Rows {
    fn add(&mut self, row: &[u8]) {
        self.0.update(&(row.len() as u64).to_be_bytes());
        self.0.update(row);
    }
}

impl Store {
    pub(super) async fn streams_digest(&self, chains: &[ChainId]) -> Result<StreamsDigest, Error> {
        let (mut rows, mut deliveries) = (Rows(Context::new(&SHA256)), 0);
        let mut streams = self.streams().await?;
        streams.sort_by_key(|stream| stream.id);
        for stream in &streams {
            deliveries += self.add_stream(&mut rows, stream, chains).await?;
        }
        let tenants: BTreeSet<&str> = streams.iter().map(|it| it.tenant.as_str()).collect();
        for tenant in tenants {
            for list in [List::Attempts, List::Failed] {
                self.add_list(&mut rows, list, tenant).await?;
            }
        }
        let mut settings = self.all_stream_settings().await?;
        settings.sort();
        for (tenant, body) in settings {
            rows.add(tenant.as_bytes());
            rows.add(&body);
        }
        let digest = B256::from_slice(rows.0.finish().as_ref());
        Ok(StreamsDigest { streams: streams.len() as u64, deliveries, digest })
    }

    /// Says how many deliveries it has.
    async fn add_stream(
        &self,
        rows: &mut Rows,
        row: &StreamRow,
        chains: &[ChainId],
    ) -> Result<u64, Error> {
        let (id, mut deliveries) = (row.id, 0);
        rows.add(id.as_slice());
        rows.add(&pack_stream(row));
        rows.add(&self.with_sums(row.clone()).await?.queue_row().pack());
        let mut after = None;
        loop {
            let some = self.stream_addresses(id, after, ROWS_AT_ONCE).await?;
            let Some(last) = some.last() else { break };
            after = Some(*last);
            some.iter().for_each(|address| rows.add(address.as_slice()));
        }
        let mut from = 0;
        loop {
            let some = self.stored_deliveries(id, from, DELIVERIES_AT_ONCE).await?;
            let Some(last) = some.last() else { break };
            from = last.delivery.seq + 1;
            deliveries += some.len() as u64;
            some.into_iter().for_each(|stored| rows.add_delivery(stored));
        }
        for chain in chains {
            for kept in self.kept_matches(*chain, 0..=u64::MAX, Some(id)).await? {
                rows.add(&[chain.0.to_be_bytes(), kept.number.to_be_bytes()].concat());
                rows.add(&MatchRow::of(kept).pack(&mut BodyPacker::default()));
            }
        }
        Ok(deliveries)
    }

    async fn add_list(&self, rows: &mut Rows, list: List, tenant: &str) -> Result<(), Error> {
        let mut below = None;
        loop {
            let page = self.listed(list, tenant, below).await?;
            let Some(last) = page.last() else { return Ok(()) };
            below = Some(last.at);
            page.into_iter().for_each(|line| rows.add_attempt(line));
        }
    }
}

impl Rows {
    fn add_delivery(&mut self, mut stored: StoredDelivery) {
        let error = &mut stored.delivery.state.error;
        *error = error.take().map(|error| text(&error));
        stored.pack().iter().for_each(|row| self.add(row));
        self.add(&stored.body);
    }

    fn add_attempt(&mut self, mut line: ListedAttempt) {
        // As every engine can store it.
        let log = &mut line.log;
        (log.webhook_url, log.tag) = (text(&log.webhook_url), text(&log.tag));
        log.error = log.error.take().map(|error| text(&error));
        self.add(line.at.stream.as_slice());
        let numbers = [line.at.at_ms, line.at.seq, u64::from(line.at.retries)];
        self.add(&numbers.map(u64::to_be_bytes).concat());
        self.add(&line.pack());
    }
}
