//! Keeps the facts of a server's chains those of its decoders: at start by itself where they are
//! another's, later when an admin asks. One chain at a time, beside all other work.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Result;
use api::{RedecodeControl, RedecodeRequest};
use ingest::Redecode;
use ingest::redecode::{
    self, RedecodeOptions, RedecodeOutcome, RedecodeProgress, RedecodeState, RedecodeStatus,
};
use model::chain::{Chain, ChainId};
use serde::{Deserialize, Serialize};
use store::Store;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// A chain whose facts are kept up to date.
pub struct RedecodeTarget {
    pub chain: Arc<Chain>,
    pub progress: Arc<RedecodeProgress>,
    by_itself: Redecode,
}

impl RedecodeTarget {
    pub fn new(chain: Arc<Chain>, by_itself: Redecode) -> Self {
        RedecodeTarget { chain, progress: Arc::default(), by_itself }
    }

    /// Whether stored blocks are to be looked at. Where nothing is behind, rows that an interrupted run left are removed.
    async fn declare(&self, store: &Store) -> Result<bool, store::Error> {
        let is_behind = redecode::declare(store, &self.chain).await?;
        let is_due = !is_behind || self.by_itself == Redecode::Auto;
        if is_behind {
            self.progress.set_state(if is_due {
                RedecodeState::Waiting
            } else {
                RedecodeState::Outdated
            });
        }
        if !is_due {
            tracing::warn!(
                chain.id = self.chain.id.0,
                "stored blocks were decoded by other decoders; run `headwater redecode`"
            );
        }
        Ok(is_due)
    }
}

/// How a run ended for one chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RedecodeResult {
    NothingToDo,
    Done { blocks: u64 },
    Stopped,
    Failed { error: String },
}

impl From<Result<RedecodeOutcome, ingest::Error>> for RedecodeResult {
    fn from(outcome: Result<RedecodeOutcome, ingest::Error>) -> Self {
        match outcome {
            Ok(RedecodeOutcome::NothingToDo) => RedecodeResult::NothingToDo,
            Ok(RedecodeOutcome::Done { blocks }) => RedecodeResult::Done { blocks },
            Ok(RedecodeOutcome::Stopped) => RedecodeResult::Stopped,
            Err(error) => RedecodeResult::Failed { error: error.to_string() },
        }
    }
}

/// One chain, as the admin surface shows it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ChainStatus {
    pub id: u64,
    pub name: String,
    pub progress: RedecodeStatus,
    /// Whether a run is queued or under way.
    pub is_queued: bool,
    /// How the last run ended.
    pub ended: Option<RedecodeResult>,
}

/// What the worker and those who ask it share.
struct Shared {
    targets: Vec<RedecodeTarget>,
    queue: Mutex<Queue>,
    wake: Notify,
}

#[derive(Default)]
struct Queue {
    /// Places in `targets`, and whether it is to be done in any case.
    waiting: VecDeque<(usize, bool)>,
    running: Option<usize>,
    /// By place.
    ended: Vec<Option<RedecodeResult>>,
    is_stopping: bool,
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the chains of a request are in `targets`, or why they are not decoded again.
    fn places(&self, request: &RedecodeRequest) -> Result<Vec<usize>, String> {
        if self.targets.is_empty() {
            return Err("this process reads no chain; ask one of role ingest or all".to_owned());
        }
        for id in &request.chains {
            if !self.targets.iter().any(|target| target.chain.id.0 == *id) {
                return Err(format!(
                    "this process does not decode chain {id}: it serves no such chain, or others read it; ask \
                     one of role ingest or all that does"
                ));
            }
        }
        let mut places = Vec::new();
        for (place, target) in self.targets.iter().enumerate() {
            let id = target.chain.id.0;
            if !request.chains.is_empty() && !request.chains.contains(&id) {
                continue;
            }
            let ours = redecode::fingerprint(&target.chain).to_string();
            if request.decoders.get(&id).is_some_and(|theirs| *theirs != ours) {
                return Err(format!(
                    "the running server is of another version or configuration where {} is \
                     concerned; restart it with this one, and it decodes its blocks again by itself",
                    target.chain.slug
                ));
            }
            places.push(place);
        }
        Ok(places)
    }
}

/// Asks the worker.
#[derive(Clone)]
pub struct RedecodeHandle(Arc<Shared>);

impl RedecodeHandle {
    /// Says whose facts this process commits of a chain, and looks at those that are stored where that is due.
    pub async fn declare(&self, store: &Store, chain: ChainId) -> Result<(), store::Error> {
        let mut targets = self.0.targets.iter().enumerate();
        let Some((place, target)) = targets.find(|(_, target)| target.chain.id == chain) else {
            return Ok(());
        };
        if target.declare(store).await? {
            let mut queue = self.0.queue();
            if queue.waiting.iter().all(|(waiting, _)| *waiting != place) {
                queue.waiting.push_back((place, false));
            }
            drop(queue);
            self.0.wake.notify_one();
        }
        Ok(())
    }
}

impl RedecodeControl for RedecodeHandle {
    fn request(&self, request: RedecodeRequest) -> Result<Vec<u64>, String> {
        let places = self.0.places(&request)?;
        let mut queue = self.0.queue();
        if queue.is_stopping {
            return Err("the server is stopping".to_owned());
        }
        for place in &places {
            let is_queued = queue.running == Some(*place)
                || queue.waiting.iter().any(|(waiting, _)| waiting == place);
            if let Some(ended) = queue.ended.get_mut(*place) {
                *ended = None;
            }
            if !is_queued {
                queue.waiting.push_back((*place, request.force));
            }
        }
        drop(queue);
        self.0.wake.notify_one();
        let id = |place: &usize| self.0.targets.get(*place).map(|target| target.chain.id.0);
        Ok(places.iter().filter_map(id).collect())
    }

    fn status(&self) -> serde_json::Value {
        let queue = self.0.queue();
        let status = |(place, target): (usize, &RedecodeTarget)| ChainStatus {
            id: target.chain.id.0,
            name: target.chain.slug.clone(),
            progress: target.progress.snapshot(),
            is_queued: queue.running == Some(place)
                || queue.waiting.iter().any(|(waiting, _)| *waiting == place),
            ended: queue.ended.get(place).cloned().flatten(),
        };
        let all: Vec<ChainStatus> = self.0.targets.iter().enumerate().map(status).collect();
        serde_json::to_value(all).unwrap_or_default()
    }
}

/// The work under way. Dropping it stops it between two groups of blocks.
pub struct RedecodeWorker {
    shared: Arc<Shared>,
    task: Option<JoinHandle<()>>,
}

impl RedecodeWorker {
    pub fn start(store: &Store, targets: Vec<RedecodeTarget>) -> Self {
        let ended = targets.iter().map(|_| None).collect();
        let queue = Mutex::new(Queue { ended, ..Queue::default() });
        let shared = Arc::new(Shared { targets, queue, wake: Notify::new() });
        let task = tokio::spawn(run(store.clone(), shared.clone()));
        RedecodeWorker { shared, task: Some(task) }
    }

    pub fn handle(&self) -> RedecodeHandle {
        RedecodeHandle(self.shared.clone())
    }

    /// What is under way ends where it is; the next start goes on from there.
    pub async fn stop(&mut self) {
        self.ask_to_stop();
        if let Some(task) = self.task.take() {
            let _ = task.await;
        }
    }

    fn ask_to_stop(&self) {
        self.shared.queue().is_stopping = true;
        self.shared.targets.iter().for_each(|target| target.progress.stop());
        self.shared.wake.notify_one();
    }
}

impl Drop for RedecodeWorker {
    fn drop(&mut self) {
        self.ask_to_stop();
    }
}

async fn run(store: Store, shared: Arc<Shared>) {
    loop {
        let next = {
            let mut queue = shared.queue();
            if queue.is_stopping {
                return;
            }
            let next = queue.waiting.pop_front();
            queue.running = next.map(|(place, _)| place);
            next
        };
        let Some((place, force)) = next else {
            shared.wake.notified().await;
            continue;
        };
        let Some(target) = shared.targets.get(place) else { continue };
        // Half of the processors: requests and new blocks want theirs.
        let processors = std::thread::available_parallelism().map_or(1, |n| n.get());
        let options = RedecodeOptions { force, threads: (processors / 2).max(1) };
        let (store, chain, progress) =
            (store.clone(), target.chain.clone(), target.progress.clone());
        // A task of its own: its panic is the end of this run, not of the worker.
        let run = async move { redecode::redecode(&store, &chain, options, &progress).await };
        let outcome = tokio::spawn(run).await.unwrap_or_else(|error| {
            let (doing, message) = ("redecode".to_owned(), error.to_string());
            Err(ingest::Error::Panicked { doing, message })
        });
        if let Err(error) = &outcome {
            tracing::error!(chain.id = target.chain.id.0, %error, "redecode failed");
        }
        let mut queue = shared.queue();
        queue.running = None;
        if let Some(ended) = queue.ended.get_mut(place) {
            *ended = Some(outcome.into());
        }
    }
}
