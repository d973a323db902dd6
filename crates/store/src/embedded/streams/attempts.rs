//! How attempts ended: the delivery's state, and everything that follows from it.

use super::attempt_row::AttemptRow;
use super::batch::StreamBatch;
use super::keys;
use super::state_row::{StateRow, is_past_first, waits};
use crate::Error;
use crate::embedded::engine::Durability;
use crate::embedded::open::Store;
use crate::streams::{AttemptOf, AttemptRecord, ListAnchor, StreamId};

impl Store {
    pub fn record_attempts(&self, records: &[AttemptRecord]) -> Result<(), Error> {
        let _one_stream_write = self.one_stream_write();
        let view = self.view()?;
        let mut batch = StreamBatch::new(&view);
        for record in records {
            batch.record(record)?;
        }
        let ops = batch.into_ops();
        if ops.is_empty() {
            return Ok(());
        }
        self.inner.write(ops, Durability::Process, None)
    }
}

impl StreamBatch<'_> {
    fn record(&mut self, record: &AttemptRecord) -> Result<(), Error> {
        let (stream, seq) = (record.stream, record.seq);
        // Whose the stream is, is known here: what a record says of it need not be asked.
        let Some(row) = self.queue(stream)? else { return Ok(()) };
        // What was not tried yet is there, whatever was forgotten meanwhile.
        let is_there = row.queue.tried_seq < seq && seq <= row.queue.last_seq;
        let tenant = keys::tenant(&row.tenant);
        let of = match record.of.filter(|_| is_there) {
            Some(of) => of,
            None => match self.view.delivery_row(stream, seq)? {
                Some(delivery) => AttemptOf::new(&delivery),
                None => return Ok(()),
            },
        };
        let old = self.state(stream, seq)?;
        let ended_ms = (!waits(&record.state)).then_some(record.at_ms);
        let mut new = StateRow { state: record.state.clone(), failed: old.failed, ended_ms };
        self.list_attempt(record, &tenant, &of, &mut new);
        self.move_listed((stream, seq), &old, &new);
        self.put_state(stream, seq, new.clone());
        let Some(row) = self.queue(stream)? else { return Ok(()) };
        let queue = &mut row.queue;
        match (waits(&old.state), waits(&new.state)) {
            (true, false) => {
                queue.waiting = queue.waiting.saturating_sub(1);
                queue.waiting_bytes = queue.waiting_bytes.saturating_sub(of.body_bytes);
            }
            (false, true) => {
                queue.waiting += 1;
                queue.waiting_bytes += of.body_bytes;
            }
            _ => {}
        }
        match record.log.as_ref().map(|log| log.error.is_some()) {
            Some(true) => row.totals.webhooks_failed += 1,
            Some(false) => row.totals.webhooks_delivered += 1,
            None => {}
        }
        self.advance_tried(stream, seq)
    }

    /// Into the list of attempts, and into or out of the list of those that failed.
    fn list_attempt(
        &mut self,
        record: &AttemptRecord,
        tenant: &[u8],
        of: &AttemptOf,
        new: &mut StateRow,
    ) {
        let (stream, seq, at_ms) = (record.stream, record.seq, record.at_ms);
        let t = self.view.tables.clone();
        let has_failed = record.log.as_ref().is_some_and(|log| log.error.is_some());
        let is_over = record.log.is_some() || new.state.delivered_ms.is_some();
        if let Some((at_ms, retries)) = new.failed.take_if(|_| is_over) {
            let at = ListAnchor { at_ms, stream, seq, retries };
            self.remove(&t.stream_failed, &keys::attempt(tenant, &at));
        }
        let Some(log) = &record.log else { return };
        let at = ListAnchor { at_ms, stream, seq, retries: log.retries };
        let key = keys::attempt(tenant, &at);
        let (chain, number) = (of.chain, of.number);
        let row = AttemptRow { chain, number, log: log.clone() }.pack();
        if has_failed {
            self.put(&t.stream_failed, &key, row.clone());
            new.failed = Some((at_ms, log.retries));
        }
        self.put(&t.stream_attempts, &key, row);
    }

    pub fn move_listed(&mut self, (stream, seq): (StreamId, u64), old: &StateRow, new: &StateRow) {
        let t = self.view.tables.clone();
        if let Some(due_ms) = old.state.due_ms {
            self.remove(&t.delivery_due, &keys::due(stream, due_ms, seq));
        }
        if let Some(due_ms) = new.state.due_ms {
            self.put(&t.delivery_due, &keys::due(stream, due_ms, seq), Vec::new());
        }
        if let Some(ended_ms) = old.ended_ms {
            self.remove(&t.delivery_ends, &keys::end(ended_ms, stream, seq));
        }
        if let Some(ended_ms) = new.ended_ms {
            self.put(&t.delivery_ends, &keys::end(ended_ms, stream, seq), Vec::new());
        }
    }

    /// Attempts end in any order; the first ones are counted as far as none is missing.
    fn advance_tried(&mut self, stream: StreamId, seq: u64) -> Result<(), Error> {
        let Some((mut tried, last)) =
            self.queue(stream)?.map(|row| (row.queue.tried_seq, row.queue.last_seq))
        else {
            return Ok(());
        };
        if seq != tried + 1 {
            return Ok(());
        }
        while tried < last && is_past_first(&self.state(stream, tried + 1)?.state) {
            tried += 1;
        }
        if let Some(row) = self.queue(stream)? {
            row.queue.tried_seq = tried;
        }
        Ok(())
    }
}
