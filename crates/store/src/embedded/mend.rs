//! Watches the engine and opens it anew when it has closed itself.
//!
//! After one write that failed the engine takes no other: it cannot know what of it is on disk. What is
//! on disk is whole, though, so opening it again is all that is needed, once the cause is gone. Views of
//! the old one must be gone first, since it writes out its log when the last of them is.

use std::fs::OpenOptions;
use std::io::Write;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use super::engine;
use super::health::{HealthNews, WriteProblem};
use super::inner::Inner;
use super::open_db::OpenDb;
use super::worker_thread::WorkerThread;
use super::write_turn::WriteTurn;
use crate::Error;

const LOOK_EVERY: Duration = Duration::from_millis(500);
const POLL: Duration = Duration::from_millis(5);
/// Views may take so long to end, and longer with every try; meanwhile new ones wait.
const VIEWS_WAIT: Duration = Duration::from_secs(2);
const VIEWS_WAIT_MAX: Duration = Duration::from_secs(30);
/// Between two tries.
const PAUSE: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// Opening that failed so often will not succeed.
const TRIES_MAX: u32 = 8;
/// Files that must be to be had before the engine is closed: it needs many to open.
const PROBE_FILES: usize = 32;
const PROBE_BYTES: usize = 64 << 10;

pub fn start(inner: &Arc<Inner>) -> std::io::Result<WorkerThread> {
    let (inner, mut tries) = (inner.clone(), Tries::default());
    WorkerThread::start("store", LOOK_EVERY, move |_| {
        inner.look(&mut tries);
        LOOK_EVERY
    })
}

#[derive(Default)]
struct Tries {
    failed: u32,
    waited_for_views: u32,
    next: Option<Instant>,
}

impl Tries {
    fn pause(&mut self) {
        let pause = PAUSE * 2u32.saturating_pow(self.failed + self.waited_for_views);
        self.next = Some(Instant::now() + pause.min(PAUSE_MAX));
    }
}

impl Inner {
    fn look(&self, tries: &mut Tries) {
        let room = self.space.check();
        self.health.set_full(room.as_ref().err());
        self.look_for_poison();
        if self.health.needs_mending() {
            let is_due = tries.next.is_none_or(|next| Instant::now() >= next);
            if room.is_ok() && is_due {
                self.mend(tries);
            }
        } else {
            *tries = Tries::default();
        }
        self.health.tell();
        self.log_news();
        self.measure();
    }

    fn log_news(&self) {
        let data = self.options.path.display();
        match self.health.news() {
            Some(HealthNews::WriteHangs(busy)) => {
                let seconds = busy.as_secs();
                tracing::warn!(%data, seconds, "a write hangs; look at the disk's load and health");
            }
            Some(HealthNews::WriteEnded) => {
                tracing::info!(%data, "the write that hung has ended; writing goes on");
            }
            Some(HealthNews::RoomAgain) => {
                tracing::info!(%data, "there is room again; writing goes on")
            }
            None => {}
        }
    }

    /// Work of the engine that nobody waits for may fail, too.
    fn look_for_poison(&self) {
        if self.health.is_writing() || self.health.refusal().is_some() {
            return;
        }
        let Ok(open) = self.database() else { return };
        if engine::is_poisoned(&open.db) {
            let error = "work in the background failed, and the engine takes no writes any more";
            tracing::error!(data = %self.options.path.display(), "{error}");
            let advice = "make sure that the disk has room and files can be opened";
            self.health.set_engine(Some(WriteProblem::of(error, advice)));
        }
    }

    fn mend(&self, tries: &mut Tries) {
        let folder = self.options.path.display();
        if let Err(error) = self.probe() {
            let reason = format!("the folder cannot be written to: {error}");
            let advice = engine::cause_of(&fjall::Error::Io(error)).advice();
            self.health.set_engine(Some(WriteProblem::of(reason, advice)));
            return tries.pause();
        }
        // A write that does not end keeps it; `Health` tells.
        let Some(_one_at_a_time) = self.nobody_writes() else { return tries.pause() };
        if !self.close(tries) {
            tries.waited_for_views += 1;
            tracing::warn!(data = %folder, "the engine waits for reads to end before it is opened anew");
            return tries.pause();
        }
        match self.open_anew() {
            Ok(()) => {
                *tries = Tries::default();
                tracing::info!(data = %folder, "the engine was opened anew; writing goes on");
            }
            Err(error) => {
                tries.failed += 1;
                tries.pause();
                tracing::error!(data = %folder, %error, tries = tries.failed, "the engine could not be opened anew");
                let trouble =
                    WriteProblem::of(error.to_string(), "look at the log and start again");
                if tries.failed >= TRIES_MAX || matches!(error, Error::Damaged { .. }) {
                    self.health.fail(trouble);
                } else {
                    self.health.set_engine(Some(trouble));
                }
            }
        }
    }

    fn nobody_writes(&self) -> Option<WriteTurn<'_>> {
        let deadline = Instant::now() + VIEWS_WAIT;
        loop {
            match self.writing.try_take() {
                Some(turn) => return Some(turn),
                None if Instant::now() >= deadline => return None,
                None => std::thread::sleep(POLL),
            }
        }
    }

    /// False where views did not end; they go on then, and new ones are given.
    fn close(&self, tries: &Tries) -> bool {
        let taken = self.current.write().unwrap_or_else(PoisonError::into_inner).take();
        let Some(open) = taken else { return true };
        self.is_open.send_replace(false);
        let wait = VIEWS_WAIT * 2u32.saturating_pow(tries.waited_for_views);
        let deadline = Instant::now() + wait.min(VIEWS_WAIT_MAX);
        let is_free = || Arc::strong_count(&open) == 1 && open.is_free();
        while !is_free() && Instant::now() < deadline {
            std::thread::sleep(POLL);
        }
        let is_closed = is_free();
        if !is_closed {
            self.put(open);
        }
        is_closed
    }

    fn put(&self, open: Arc<OpenDb>) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(open);
        self.is_open.send_replace(true);
    }

    fn open_anew(&self) -> Result<(), Error> {
        let open = OpenDb::open(&self.options, &|_, _| Ok(()))?;
        self.known_pools.clear();
        self.versions.replace(open.versions()?);
        self.health.set_engine(None);
        self.put(Arc::new(open));
        self.announcements.announce_all(|chain| self.versions.get(chain).map(|known| known.seq));
        Ok(())
    }

    /// Whether files can be opened and written. There is no way back once the engine is closed.
    fn probe(&self) -> std::io::Result<()> {
        let path = self.options.path.join("probe");
        let tried = (|| {
            let mut file =
                OpenOptions::new().create(true).truncate(true).write(true).open(&path)?;
            file.write_all(&vec![1; PROBE_BYTES])?;
            file.sync_all()?;
            let again = || std::fs::File::open(&path);
            (0..PROBE_FILES).map(|_| again()).collect::<Result<Vec<_>, _>>().map(drop)
        })();
        let _ = std::fs::remove_file(&path);
        tried
    }
}
