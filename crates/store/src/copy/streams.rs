//! Streams with all that hangs on them: addresses, matches that wait, deliveries with bodies and attempts, and their queues.

use std::collections::{BTreeMap, BTreeSet};

use model::chain::ChainId;

use super::{CopiedStreams, CopyPart, CopyProgress, ProgressFn};
use crate::Error;
use crate::store::Store;
use crate::streams::{
    AttemptLog, AttemptsQuery, CopiedStream, Delivery, FailedQuery, ListAnchor, ListedAttempt,
    StreamId, StreamPart, StreamRow,
};

pub(super) const DELIVERIES_AT_ONCE: usize = 256;
pub(super) const ROWS_AT_ONCE: usize = 4096;

/// Lines of a list that belong to one stream.
type ByStream = BTreeMap<StreamId, Vec<ListedAttempt>>;

impl Store {
    pub(super) async fn copy_streams(
        &self,
        to: &Store,
        chains: &[ChainId],
        progress: ProgressFn<'_>,
    ) -> Result<CopiedStreams, Error> {
        let known: BTreeSet<StreamId> =
            to.streams().await?.into_iter().map(|stream| stream.id).collect();
        let mut missing = self.streams().await?;
        missing.retain(|stream| !known.contains(&stream.id));
        let mut now = CopyProgress { part: CopyPart::Deliveries, done: 0, total: 0 };
        for stream in &missing {
            let first = self.deliveries(stream.id, 0, 1).await?.first().map(|first| first.seq);
            let last = self.stream_queue(stream.id).await?.last_seq;
            now.total += first.map_or(0, |first| (last + 1).saturating_sub(first));
        }
        let mut copied = Vec::with_capacity(missing.len());
        for stream in missing {
            let done = |deliveries: usize| {
                now.done += deliveries as u64;
                progress(now);
            };
            copied.push(self.copy_stream(to, stream, chains, done).await?);
        }
        self.copy_lists(to, &copied).await?;
        for chain in chains {
            self.copy_readers(to, *chain).await?;
        }
        to.publish_streams(copied, self.all_stream_settings().await?).await?;
        let (mine, theirs) = (self.streams_digest(chains).await?, to.streams_digest(chains).await?);
        let (streams, deliveries) = (mine.streams, mine.deliveries);
        Ok(CopiedStreams { streams, deliveries, expected: mine.digest, digest: theirs.digest })
    }

    async fn copy_stream(
        &self,
        to: &Store,
        row: StreamRow,
        chains: &[ChainId],
        mut done: impl FnMut(usize),
    ) -> Result<CopiedStream, Error> {
        let id = row.id;
        to.begin_stream_copy(&row).await?;
        let mut after = None;
        loop {
            let some = self.stream_addresses(id, after, ROWS_AT_ONCE).await?;
            let Some(last) = some.last() else { break };
            after = Some(*last);
            to.add_stream_part(id, StreamPart::Addresses(some)).await?;
        }
        let mut from = 0;
        loop {
            let some = self.stored_deliveries(id, from, DELIVERIES_AT_ONCE).await?;
            let Some(last) = some.last() else { break };
            from = last.delivery.seq + 1;
            done(some.len());
            to.add_stream_part(id, StreamPart::Deliveries(some)).await?;
        }
        for chain in chains {
            let kept = self.kept_matches(*chain, 0..=u64::MAX, Some(id)).await?;
            if !kept.is_empty() {
                to.add_stream_part(id, StreamPart::Matches(*chain, kept)).await?;
            }
        }
        self.with_sums(row).await
    }

    /// A stream with what it adds up to.
    pub(super) async fn with_sums(&self, row: StreamRow) -> Result<CopiedStream, Error> {
        let (queue, totals) = (self.stream_queue(row.id).await?, self.stream_totals(row.id).await?);
        let addresses = self.stream_address_count(row.id).await?;
        Ok(CopiedStream { row, queue, totals, addresses })
    }

    /// Attempts are listed by tenant: each list is read once.
    async fn copy_lists(&self, to: &Store, copied: &[CopiedStream]) -> Result<(), Error> {
        let wanted: BTreeSet<StreamId> = copied.iter().map(|stream| stream.row.id).collect();
        let tenants: BTreeSet<&str> =
            copied.iter().map(|stream| stream.row.tenant.as_str()).collect();
        for tenant in tenants {
            for list in [List::Attempts, List::Failed] {
                let mut below = None;
                loop {
                    let page = self.listed(list, tenant, below).await?;
                    let Some(last) = page.last() else { break };
                    below = Some(last.at);
                    let mut by_stream = ByStream::new();
                    for line in page.into_iter().filter(|line| wanted.contains(&line.at.stream)) {
                        by_stream.entry(line.at.stream).or_default().push(line);
                    }
                    for (id, lines) in by_stream {
                        to.add_stream_part(id, list.part(lines)).await?;
                    }
                }
            }
        }
        Ok(())
    }

    /// A page of a tenant's list.
    pub(super) async fn listed(
        &self,
        list: List,
        tenant: &str,
        below: Option<ListAnchor>,
    ) -> Result<Vec<ListedAttempt>, Error> {
        let (tenant, limit) = (tenant.to_owned(), ROWS_AT_ONCE);
        let page = match list {
            List::Attempts => {
                let query = AttemptsQuery { tenant, below, limit, ..AttemptsQuery::default() };
                self.attempts_page(query).await?
            }
            List::Failed => {
                let query = FailedQuery { tenant, below, limit, ..FailedQuery::default() };
                self.failed_page(query).await?
            }
        };
        let line = |(at, delivery, log): (ListAnchor, Delivery, AttemptLog)| {
            let (chain, number) = (delivery.meta.chain, delivery.meta.number);
            ListedAttempt { at, chain, number, log }
        };
        Ok(page.into_iter().map(line).collect())
    }
}

/// The lists that tenants see.
#[derive(Clone, Copy)]
pub(super) enum List {
    Attempts,
    Failed,
}

impl List {
    fn part(self, lines: Vec<ListedAttempt>) -> StreamPart {
        match self {
            List::Attempts => StreamPart::Attempts(lines),
            List::Failed => StreamPart::Failed(lines),
        }
    }
}
