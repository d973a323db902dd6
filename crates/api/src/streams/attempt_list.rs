//! A page of attempts, newest first: of all, or of deliveries whose last one failed.

use bytes::Bytes;
use store::{AttemptLog, AttemptsQuery, Delivery, FailedQuery, ListAnchor};
use streams::StreamError;

use super::attempt_filter::AttemptFilter;
use super::caller::Caller;
use super::list_page::ListPage;
use super::refused::Refused;

pub type Attempt = (ListAnchor, Delivery, AttemptLog);

/// `total` is exact up to this: counting costs as much as reading.
const COUNTED_MAX: usize = 1_000;
/// How many deliveries and bytes of bodies are searched for a transaction before the page ends.
const SEARCHED_MAX: usize = 1_000;
const SEARCHED_BYTES_MAX: usize = 64 << 20;
const BATCH: usize = 100;

pub struct AttemptList<'a> {
    pub caller: &'a Caller,
    pub filter: AttemptFilter,
    /// Only what still stands as failed.
    pub only_failed: bool,
}

pub struct AttemptPage {
    pub rows: Vec<Attempt>,
    /// The last row's place, or how far was searched, where more may follow.
    pub next: Option<ListAnchor>,
    pub total: u64,
}

impl AttemptList<'_> {
    pub async fn page(&self, page: &ListPage<ListAnchor>) -> Result<AttemptPage, Refused> {
        match &self.filter.transaction_hash {
            Some(hash) => self.searched(page, hash).await,
            None => self.plain(page).await,
        }
    }

    /// The first page counts, the others remember.
    async fn plain(&self, page: &ListPage<ListAnchor>) -> Result<AttemptPage, Refused> {
        let asked = if page.total.is_some() { page.limit + 1 } else { COUNTED_MAX };
        let mut rows = self.read(page.after, asked).await?;
        let total = page.total.unwrap_or(rows.len() as u64);
        let more = rows.len() > page.limit;
        rows.truncate(page.limit);
        let next = rows.last().map(|(anchor, ..)| *anchor).filter(|_| more);
        Ok(AttemptPage { rows, next, total })
    }

    /// No index leads from a transaction to its deliveries, so their bodies are looked at, within bounds: a page may
    /// be short, and still not the last one.
    async fn searched(
        &self,
        page: &ListPage<ListAnchor>,
        hash: &str,
    ) -> Result<AttemptPage, Refused> {
        let (mut rows, mut below, mut searched, mut bytes) = (Vec::new(), page.after, 0, 0);
        let next = 'search: loop {
            let batch = self.read(below, BATCH).await?;
            let is_last = batch.len() < BATCH;
            for attempt in batch {
                let anchor = attempt.0;
                below = Some(anchor);
                let body = self.body(&attempt.1).await?.unwrap_or_default();
                (searched, bytes) = (searched + 1, bytes + body.len());
                if holds(&body, hash.as_bytes()) {
                    rows.push(attempt);
                }
                let is_enough = rows.len() == page.limit
                    || searched >= SEARCHED_MAX
                    || bytes > SEARCHED_BYTES_MAX;
                if is_enough {
                    break 'search Some(anchor);
                }
            }
            if is_last {
                break None;
            }
        };
        let total = page.seen.saturating_add(rows.len() as u64);
        Ok(AttemptPage { rows, next, total })
    }

    /// None also where the stream went away meanwhile.
    pub async fn body(&self, delivery: &Delivery) -> Result<Option<Bytes>, Refused> {
        let Caller { streams, .. } = self.caller;
        match streams.body(self.caller.tenant(), delivery.stream, delivery.seq).await {
            Err(StreamError::NotFound(_)) => Ok(None),
            body => Ok(body?),
        }
    }

    async fn read(&self, below: Option<ListAnchor>, limit: usize) -> Result<Vec<Attempt>, Refused> {
        let AttemptFilter { stream, chains, numbers, from_ms, to_ms, failed, .. } =
            self.filter.clone();
        let tenant = self.caller.tenant().to_owned();
        let streams = &self.caller.streams;
        let rows = if self.only_failed {
            let query =
                FailedQuery { tenant, stream, chains, numbers, from_ms, to_ms, below, limit };
            streams.failed(query).await?
        } else {
            let query = AttemptsQuery {
                tenant,
                stream,
                chains,
                numbers,
                failed,
                from_ms,
                to_ms,
                below,
                limit,
            };
            streams.attempts(query).await?
        };
        Ok(rows)
    }
}

/// Whether the text stands in the body.
fn holds(body: &[u8], text: &[u8]) -> bool {
    body.windows(text.len()).any(|window| window == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_is_found_wherever_it_stands() {
        let body = br#"{"txs":[{"hash":"0xab"}]}"#;
        assert!(holds(body, b"0xab"));
        assert!(!holds(body, b"0xac"));
        assert!(!holds(b"", b"0xab"));
    }
}
