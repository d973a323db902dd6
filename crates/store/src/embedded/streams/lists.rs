//! The lists of attempts and of failed deliveries that tenants see.

use std::ops::Bound;

use model::chain::ChainId;

use super::attempt_row::AttemptRow;
use super::{BROKEN_ATTEMPT, keys};
use crate::Error;
use crate::embedded::engine::Table;
use crate::embedded::open::Store;
use crate::embedded::read::View;
use crate::streams::{AttemptLog, AttemptsQuery, Delivery, FailedQuery, ListAnchor, StreamId};

type Listed = (ListAnchor, Delivery, AttemptLog);
type KeyRange = (Bound<Vec<u8>>, Bound<Vec<u8>>);

impl Store {
    pub fn attempts_page(&self, query: &AttemptsQuery) -> Result<Vec<Listed>, Error> {
        let AttemptsQuery { tenant, stream, chains, numbers, failed, .. } = query;
        let filter = ListFilter { stream: *stream, chains, numbers, failed: *failed };
        let range = ListRange {
            tenant: keys::tenant(tenant),
            from_ms: query.from_ms,
            to_ms: query.to_ms,
            below: query.below,
        };
        let view = self.view()?;
        view.listed(&view.tables.stream_attempts, (&range, &filter), query.limit)
    }

    pub fn failed_page(&self, query: &FailedQuery) -> Result<Vec<Listed>, Error> {
        let FailedQuery { tenant, stream, chains, numbers, .. } = query;
        let filter = ListFilter { stream: *stream, chains, numbers, failed: None };
        let range = ListRange {
            tenant: keys::tenant(tenant),
            from_ms: query.from_ms,
            to_ms: query.to_ms,
            below: query.below,
        };
        let view = self.view()?;
        view.listed(&view.tables.stream_failed, (&range, &filter), query.limit)
    }
}

struct ListFilter<'a> {
    stream: Option<StreamId>,
    chains: &'a [ChainId],
    numbers: &'a [u64],
    failed: Option<bool>,
}

impl ListFilter<'_> {
    fn takes(&self, row: &AttemptRow) -> bool {
        (self.chains.is_empty() || self.chains.contains(&row.chain))
            && (self.numbers.is_empty() || self.numbers.contains(&row.number))
            && self.failed.is_none_or(|failed| failed == row.log.error.is_some())
    }
}

struct ListRange {
    tenant: Vec<u8>,
    from_ms: Option<u64>,
    to_ms: Option<u64>,
    below: Option<ListAnchor>,
}

impl ListRange {
    /// None where nothing can be in it.
    fn keys(&self) -> Option<KeyRange> {
        let newest = match self.to_ms {
            Some(to_ms) => keys::attempts_until(&self.tenant, to_ms),
            None => self.tenant.clone(),
        };
        let below = self.below.map(|below| keys::attempt(&self.tenant, &below));
        let oldest = match self.from_ms.and_then(|from_ms| from_ms.checked_sub(1)) {
            Some(too_old_ms) => keys::attempts_until(&self.tenant, too_old_ms),
            // Lengths stand in front: there is a key after those of any tenant.
            None => keys::after_all_of(&self.tenant)?,
        };
        let first = match below.filter(|below| *below >= newest) {
            Some(below) => Bound::Excluded(below),
            None => Bound::Included(newest),
        };
        let (Bound::Included(start) | Bound::Excluded(start)) = &first else { return None };
        (*start < oldest).then_some((first, Bound::Excluded(oldest)))
    }
}

impl View {
    /// What is left of a stream or a delivery that is gone is not shown.
    fn listed(
        &self,
        table: &Table,
        (range, filter): (&ListRange, &ListFilter),
        limit: usize,
    ) -> Result<Vec<Listed>, Error> {
        let mut listed = Vec::new();
        let Some(keys) = range.keys().filter(|_| limit > 0) else { return Ok(listed) };
        for item in self.snapshot.range(table, keys) {
            let (key, row) = item.into_inner()?;
            let rest = key.strip_prefix(range.tenant.as_slice());
            let at = rest.and_then(keys::anchor).ok_or(BROKEN_ATTEMPT)?;
            if filter.stream.is_some_and(|stream| stream != at.stream) {
                continue;
            }
            let row = AttemptRow::unpack(&row).ok_or(BROKEN_ATTEMPT)?;
            if !filter.takes(&row) || self.live_queue(at.stream)?.is_none() {
                continue;
            }
            let Some(delivery) = self.whole_delivery(at.stream, at.seq)? else { continue };
            listed.push((at, delivery, row.log));
            if listed.len() == limit {
                break;
            }
        }
        Ok(listed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_that_holds_nothing_is_none() {
        let at = |at_ms| ListAnchor { at_ms, stream: StreamId::ZERO, seq: 1, retries: 0 };
        let is_some = |from_ms, to_ms, below: Option<ListAnchor>| {
            ListRange { tenant: keys::tenant("t"), from_ms, to_ms, below }.keys().is_some()
        };
        assert!(is_some(None, None, None) && is_some(Some(0), Some(0), None));
        assert!(is_some(Some(5), Some(5), None) && !is_some(Some(6), Some(5), None));
        assert!(is_some(Some(5), None, Some(at(5))), "others of the same millisecond");
        assert!(!is_some(Some(6), None, Some(at(5))));
        assert!(is_some(None, Some(3), Some(at(5))) && is_some(None, Some(9), Some(at(0))));
    }
}
