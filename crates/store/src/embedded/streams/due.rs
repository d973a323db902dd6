//! Retries whose time has come.

use std::collections::BTreeSet;

use super::{BROKEN_STATE, keys};
use crate::Error;
use crate::embedded::open::Store;
use crate::embedded::read::View;
use crate::streams::StreamId;

/// When, stream, number: so the most overdue is the first.
type Due = (u64, StreamId, u64);

impl Store {
    pub fn due_retries(
        &self,
        until_ms: u64,
        passed_over: &BTreeSet<StreamId>,
        limit: usize,
    ) -> Result<Vec<Due>, Error> {
        let view = self.view()?;
        let mut search = DueSearch { view: &view, until_ms, limit, found: BTreeSet::new() };
        let mut from = Some(StreamId::ZERO.to_vec());
        while let Some(key) = from.filter(|_| limit > 0) {
            let mut rows = view.snapshot.range(&view.tables.delivery_due, key..);
            let Some(key) = rows.next().map(|item| item.key()).transpose()? else { break };
            let (stream, ..) = keys::parts_of_due(&key).ok_or(BROKEN_STATE)?;
            if !passed_over.contains(&stream) {
                search.take_of(stream)?;
            }
            from = keys::after_all_of(stream.as_slice());
        }
        Ok(search.found.into_iter().collect())
    }
}

struct DueSearch<'a> {
    view: &'a View,
    until_ms: u64,
    limit: usize,
    found: BTreeSet<Due>,
}

impl DueSearch<'_> {
    fn take_of(&mut self, stream: StreamId) -> Result<(), Error> {
        // Those of a stream that is being removed are on their way out.
        if self.view.live_queue(stream)?.is_none() {
            return Ok(());
        }
        for item in self.view.snapshot.prefix(&self.view.tables.delivery_due, stream) {
            let (_, due_ms, seq) = keys::parts_of_due(&item.key()?).ok_or(BROKEN_STATE)?;
            let due = (due_ms, stream, seq);
            let is_late = self.found.len() >= self.limit && self.found.last() < Some(&due);
            if due_ms > self.until_ms || is_late {
                break;
            }
            self.found.insert(due);
            if self.found.len() > self.limit {
                self.found.pop_last();
            }
        }
        Ok(())
    }
}
