//! Writes how attempts ended, many at once. While the store takes no writes the results wait here, and with them
//! everybody who has one more: nothing is sent that could not be noted for long.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use store::AttemptRecord;
use store::Store;
use tasks::TaskBoard;
use tokio::sync::{Mutex, Notify, mpsc, oneshot};

use super::in_flight::Ticket;

const BATCH_MAX: usize = 256;
const GATHER: Duration = Duration::from_millis(3);

pub(super) struct AttemptWriter {
    queue: mpsc::Sender<Message>,
    /// Somebody waits for what was put so far.
    flush: Arc<Notify>,
}

enum Message {
    Ended(Box<Ended>),
    /// Answered when all before it is stored.
    Flush(oneshot::Sender<()>),
}

struct Ended {
    record: AttemptRecord,
    /// Given back when the result is stored.
    ticket: Ticket,
}

impl AttemptWriter {
    /// `retry_wake` is told when what is due may have changed.
    pub fn start(store: Store, retry_wake: Arc<Notify>, tasks: TaskBoard) -> Self {
        let (queue, results) = mpsc::channel(BATCH_MAX);
        // What waits in the queue outlives whoever writes it.
        let results = Mutex::new(results);
        let flush = Arc::new(Notify::new());
        let writer = Writer { store, tasks: tasks.clone(), retry_wake, flush: flush.clone() };
        tokio::spawn(async move {
            let start = || async {
                writer.write(&mut *results.lock().await).await;
                Ok::<_, Infallible>(())
            };
            tasks.keep_running("writing of webhook results", || false, start).await;
        });
        AttemptWriter { queue, flush }
    }

    pub async fn put(&self, record: AttemptRecord, ticket: Ticket) {
        // It ends only after all its senders did.
        let _ = self.queue.send(Message::Ended(Box::new(Ended { record, ticket }))).await;
    }

    /// Returns when everything put before is stored.
    pub async fn flush(&self) {
        let (done, stored) = oneshot::channel();
        if self.queue.send(Message::Flush(done)).await.is_ok() {
            self.flush.notify_one();
            let _ = stored.await;
        }
    }
}

struct Writer {
    store: Store,
    tasks: TaskBoard,
    retry_wake: Arc<Notify>,
    flush: Arc<Notify>,
}

impl Writer {
    /// Ends with the last who has results.
    async fn write(&self, results: &mut mpsc::Receiver<Message>) {
        let mut batch = Vec::new();
        while self.gather(results, &mut batch).await {
            let (mut records, mut tickets, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
            for message in batch.drain(..) {
                match message {
                    Message::Ended(ended) => {
                        records.push(ended.record);
                        tickets.push(ended.ticket);
                    }
                    Message::Flush(done) => waiting.push(done),
                }
            }
            let is_retry_concerned = records.iter().any(|record| record.state.due_ms.is_some())
                || tickets.iter().any(|ticket| ticket.is_retry);
            if !records.is_empty() {
                self.store_all(records).await;
            }
            drop(tickets);
            for done in waiting {
                let _ = done.send(());
            }
            if is_retry_concerned {
                self.retry_wake.notify_one();
            }
        }
    }

    /// Waits for a first one, then for a moment for others, without being woken for each. False when there will be none.
    async fn gather(
        &self,
        results: &mut mpsc::Receiver<Message>,
        batch: &mut Vec<Message>,
    ) -> bool {
        if results.recv_many(batch, 1).await == 0 {
            return false;
        }
        let are_many = results.len() >= BATCH_MAX / 2;
        if !are_many && !matches!(batch.last(), Some(Message::Flush(_))) {
            let _ = tokio::time::timeout(GATHER, self.flush.notified()).await;
        }
        while batch.len() < BATCH_MAX
            && let Ok(message) = results.try_recv()
        {
            batch.push(message);
        }
        true
    }

    /// Not given up: a result that is forgotten means a webhook that is sent again at once, over and over.
    async fn store_all(&self, records: Vec<AttemptRecord>) {
        let store_them = || self.store.record_attempts(records.clone());
        self.tasks.keep_running("storing of webhook results", || false, store_them).await;
    }
}
