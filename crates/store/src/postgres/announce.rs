//! What other processes write is told to those who wait in this one: by notification, and by a look every second where
//! one was missed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use model::chain::ChainId;
use tokio::sync::watch;
use tokio_postgres::Client;

use super::connection::Connection;
use super::inner::Inner;
use super::server::Messages;
use crate::Error;
use crate::embedded::announcements::Announcements;
use crate::shared::Shared;

const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How much room the database takes changes slowly, and costs a look at every file of it.
const MEASURE_EVERY_LOOKS: u64 = 30;
pub const NOTIFY: &str = "select pg_notify('headwater', $1)";
const CHANGED: &str = "insert into changes (what, version) values ($1, 1) \
     on conflict (what) do update set version = changes.version + 1 returning version";
pub const ALL_CHANGES: &str = "select what, version from changes";

/// The newest sequence of each chain that this process knows of.
#[derive(Default)]
pub struct Newest {
    seqs: Mutex<HashMap<ChainId, u64>>,
    announcements: Announcements,
    keys: watch::Sender<u64>,
    streams: watch::Sender<u64>,
    calls: watch::Sender<u64>,
    answers: watch::Sender<u64>,
    deliveries: watch::Sender<u64>,
}

impl Newest {
    pub fn subscribe(&self, chain: ChainId) -> watch::Receiver<u64> {
        let seqs = self.seqs.lock().unwrap_or_else(PoisonError::into_inner);
        let known = seqs.get(&chain).copied().unwrap_or_default();
        self.announcements.subscribe(chain, || known)
    }

    /// The newest sequence of every chain that is known of.
    pub fn all(&self) -> Vec<(ChainId, u64)> {
        let seqs = self.seqs.lock().unwrap_or_else(PoisonError::into_inner);
        seqs.iter().map(|(chain, seq)| (*chain, *seq)).collect()
    }

    pub fn watch(&self, shared: Shared) -> watch::Receiver<u64> {
        self.version_of(shared).subscribe()
    }

    fn version_of(&self, shared: Shared) -> &watch::Sender<u64> {
        match shared {
            Shared::Keys => &self.keys,
            Shared::Streams => &self.streams,
            Shared::StreamCalls => &self.calls,
            Shared::StreamAnswers => &self.answers,
            Shared::Deliveries => &self.deliveries,
        }
    }

    /// Of what a row of `changes` or a note says.
    pub fn tell_changed(&self, what: &str, version: u64) {
        let Some(shared) = Shared::ALL.into_iter().find(|shared| shared.name() == what) else {
            return;
        };
        // Calls are answered in any order: there every note is news.
        let is_counted = matches!(shared, Shared::Keys | Shared::Streams);
        self.version_of(shared).send_if_modified(|known| {
            let is_new = *known < version || !is_counted;
            *known = version.max(*known);
            is_new
        });
    }

    /// Says nothing of what is known.
    pub fn tell(&self, chain: ChainId, seq: u64) {
        let mut seqs = self.seqs.lock().unwrap_or_else(PoisonError::into_inner);
        let known = seqs.entry(chain).or_default();
        if *known < seq {
            *known = seq;
            self.announcements.announce(chain, seq);
        }
    }
}

/// As it is sent.
pub fn note(chain: ChainId, seq: u64) -> String {
    format!("{} {seq}", chain.0)
}

/// Notes in a transaction that other processes will have to look again at what they have of this in memory.
pub async fn note_change(connection: &Connection, shared: Shared) -> Result<(), Error> {
    let what = shared.name();
    let row = connection.first(CHANGED, &[&what]).await?;
    let version: i64 = row.map(|row| row.get(0)).unwrap_or_default();
    connection.query(NOTIFY, &[&format!("{what} {version}")]).await.map(|_| ())
}

fn read_note(note: &str) -> Option<(ChainId, u64)> {
    let (chain, seq) = note.split_once(' ')?;
    Some((ChainId(chain.parse().ok()?), seq.parse().ok()?))
}

/// Goes on until the last handle of the store is gone.
pub fn listen(inner: &Arc<Inner>, mut is_open: watch::Receiver<()>) {
    let inner = Arc::downgrade(inner);
    tokio::spawn(async move {
        let mut session: Option<(Client, Messages)> = None;
        let mut looks = 0u64;
        loop {
            if session.as_ref().is_none_or(|(client, _)| client.is_closed()) {
                session = begin(&inner).await;
            }
            let messages = session.as_mut().map(|(_, messages)| messages);
            tokio::select! {
                ended = is_open.changed() => if ended.is_err() { return },
                told = next(messages) => {
                    let Some(inner) = inner.upgrade() else { return };
                    let note = told.unwrap_or_default();
                    match (read_note(&note), note.split_once(' ')) {
                        (Some((chain, seq)), _) => inner.newest.tell(chain, seq),
                        (None, Some((what, version))) => {
                            inner.newest.tell_changed(what, version.parse().unwrap_or_default());
                        }
                        (None, None) => {}
                    }
                }
                () = tokio::time::sleep(LOOK_EVERY) => {
                    let Some(inner) = inner.upgrade() else { return };
                    // Where the server cannot be reached now, the next look may reach it.
                    let looked = inner.look().await;
                    if looked.is_ok() && inner.leases.has_none() {
                        // Whoever has nothing to write would never find out that writes are taken again.
                        let _ = inner.wrote(Ok(()));
                    }
                    looks += 1;
                    if looks.is_multiple_of(MEASURE_EVERY_LOOKS) {
                        let _ = inner.measure().await;
                    }
                }
            }
        }
    });
}

async fn begin(inner: &Weak<Inner>) -> Option<(Client, Messages)> {
    let server = inner.upgrade()?.pool.server.clone();
    let (client, messages) = server.connect_and_listen().await.ok()?;
    client.batch_execute("listen headwater").await.ok()?;
    Some((client, messages))
}

async fn next(messages: Option<&mut Messages>) -> Option<String> {
    match messages {
        Some(messages) => match messages.recv().await {
            Some(note) => Some(note),
            // The session is over; the look every second goes on meanwhile.
            None => std::future::pending().await,
        },
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_come_back_and_others_say_nothing() {
        assert_eq!(read_note(&note(ChainId(7), 9)), Some((ChainId(7), 9)));
        assert_eq!((read_note("7"), read_note("x 9"), read_note("")), (None, None, None));
    }
}
