//! Keeps the facts of a server's chains those of its decoders: at start by itself where they are
//! another's, later when `headwater redecode` asks. One chain at a time, beside all other work.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use ingest::Redecode;
use ingest::redecode::{self, Options, Outcome, Progress, State};
use model::chain::Chain;
use store::Store;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::request::{Ended, Files, Reply, ReplyChain, Request};

/// How often the request is looked for and the reply written.
const LOOK_EVERY: Duration = Duration::from_millis(400);

/// A chain whose facts are kept.
pub struct Kept {
    pub chain: Arc<Chain>,
    pub progress: Arc<Progress>,
    is_due: bool,
}

impl Kept {
    pub fn new(store: &Store, chain: Arc<Chain>, by_itself: Redecode) -> Result<Self> {
        let is_behind = redecode::declare(store, &chain)?;
        let progress = Arc::new(Progress::default());
        let is_due = !is_behind || by_itself == Redecode::Auto;
        if is_behind {
            progress.set_state(if is_due { State::Waiting } else { State::Outdated });
        }
        if !is_due {
            tracing::warn!(
                chain.id = chain.id.0,
                "stored blocks were read by other decoders; `headwater redecode` reads them anew"
            );
        }
        // Where nothing is behind, what a process that ended too early left behind is swept.
        Ok(Kept { chain, progress, is_due })
    }
}

/// The work under way. Dropping it stops it between two groups of blocks.
pub struct Keeper {
    all: Vec<Arc<Progress>>,
    stop: watch::Sender<bool>,
    task: Option<JoinHandle<()>>,
}

impl Keeper {
    pub fn start(store: &Store, kept: Vec<Kept>) -> Self {
        let (stop, stopped) = watch::channel(false);
        let all = kept.iter().map(|one| one.progress.clone()).collect();
        let queue = kept.iter().enumerate().filter(|(_, one)| one.is_due);
        let work = Work {
            queue: queue.map(|(place, _)| (place, false)).collect(),
            files: Files::of(store.path()),
            store: store.clone(),
            kept,
            running: None,
            open: None,
            seen: None,
        };
        let task = tokio::spawn(work.run(stopped));
        Keeper { all, stop, task: Some(task) }
    }

    /// What is under way ends where it is; the next start goes on from there.
    pub async fn stop(&mut self) {
        self.all.iter().for_each(|progress| progress.stop());
        self.stop.send_replace(true);
        if let Some(task) = self.task.take() {
            let _ = task.await;
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.all.iter().for_each(|progress| progress.stop());
        self.stop.send_replace(true);
    }
}

/// A request being answered: which chains, and how each ended.
struct Open {
    id: String,
    beat: u64,
    chains: BTreeMap<usize, Option<Ended>>,
}

struct Work {
    store: Store,
    kept: Vec<Kept>,
    files: Files,
    /// Places in `kept`, and whether it is to be done in any case.
    queue: VecDeque<(usize, bool)>,
    running: Option<(usize, JoinHandle<Result<Outcome, ingest::Error>>)>,
    open: Option<Open>,
    /// The request that was looked at last.
    seen: Option<Result<Request, String>>,
}

impl Work {
    async fn run(mut self, mut stopped: watch::Receiver<bool>) {
        let mut tick = tokio::time::interval(LOOK_EVERY);
        loop {
            let is_over = tokio::select! {
                _ = tick.tick() => false,
                _ = stopped.wait_for(|stop| *stop) => true,
            };
            self.look();
            if is_over && let Some((place, job)) = self.running.take() {
                let outcome = job.await;
                self.ended(place, outcome);
            }
            self.go_on(is_over).await;
            self.tell(is_over);
            if is_over {
                return;
            }
        }
    }

    /// Takes up a request that is new, unless it was answered before this process started.
    fn look(&mut self) {
        let request = self.files.request();
        if request == self.seen {
            return;
        }
        self.seen.clone_from(&request);
        let request = match request {
            Some(Ok(request)) => request,
            Some(Err(_)) => {
                return tracing::warn!("the request in redecode.json is not one of this build");
            }
            None => return,
        };
        if self.files.reply().is_some_and(|it| it.id == request.id && it.is_final()) {
            return;
        }
        match self.places(&request) {
            Ok(places) => {
                for place in &places {
                    let is_on = self.running.as_ref().is_some_and(|(one, _)| one == place)
                        || self.queue.iter().any(|(one, _)| one == place);
                    if is_on {
                        continue;
                    }
                    self.queue.push_back((*place, request.force));
                }
                let chains = places.into_iter().map(|place| (place, None)).collect();
                self.open = Some(Open { id: request.id, beat: 0, chains });
            }
            Err(refused) => {
                tracing::warn!(reason = %refused, "a request to read stored blocks anew is refused");
                let reply = Reply { id: request.id, refused: Some(refused), ..Reply::default() };
                self.write(&reply);
            }
        }
    }

    /// Where the asked chains are in `kept`, or why they are not read anew.
    fn places(&self, request: &Request) -> Result<Vec<usize>, String> {
        let is_asked =
            |chain: &Chain| request.chains.is_empty() || request.chains.contains(&chain.id.0);
        for id in &request.chains {
            if !self.kept.iter().any(|one| one.chain.id.0 == *id) {
                return Err(format!("the running server does not serve chain {id}"));
            }
        }
        let asked = self.kept.iter().enumerate().filter(|(_, one)| is_asked(&one.chain));
        let mut places = Vec::new();
        for (place, one) in asked {
            let theirs = request.decoders.get(&one.chain.id.0);
            if theirs.is_some_and(|it| *it != redecode::fingerprint(&one.chain).to_string()) {
                return Err(format!(
                    "the running server is of another version or configuration where {} is \
                     concerned; restart it with this one, and it reads its blocks anew by itself",
                    one.chain.slug
                ));
            }
            places.push(place);
        }
        Ok(places)
    }

    /// Notes what ended, and begins what is next.
    async fn go_on(&mut self, is_over: bool) {
        if self.running.as_ref().is_some_and(|(_, job)| job.is_finished())
            && let Some((place, job)) = self.running.take()
        {
            let outcome = job.await;
            self.ended(place, outcome);
        }
        if self.running.is_some() || is_over {
            return;
        }
        let Some((place, force)) = self.queue.pop_front() else { return };
        let Some(one) = self.kept.get(place) else { return };
        let (store, chain, progress) =
            (self.store.clone(), one.chain.clone(), one.progress.clone());
        // Half of the processors: requests and new blocks want theirs.
        let processors = std::thread::available_parallelism().map_or(1, |n| n.get());
        let options = Options { force, threads: (processors / 2).max(1) };
        let job = tokio::task::spawn_blocking(move || {
            redecode::redecode(&store, &chain, options, &progress)
        });
        self.running = Some((place, job));
    }

    fn ended(
        &mut self,
        place: usize,
        outcome: Result<Result<Outcome, ingest::Error>, tokio::task::JoinError>,
    ) {
        let outcome = outcome.unwrap_or(Err(ingest::Error::Stopped));
        if let (Err(error), Some(one)) = (&outcome, self.kept.get(place)) {
            tracing::error!(chain.id = one.chain.id.0, %error, "reading stored blocks anew failed");
        }
        let open = self.open.as_mut().and_then(|open| open.chains.get_mut(&place));
        if let Some(ended) = open {
            *ended = Some(outcome.into());
        }
    }

    /// Writes how far the request is, until it is done.
    fn tell(&mut self, is_over: bool) {
        let Some(open) = &mut self.open else { return };
        open.beat += 1;
        let mut reply =
            Reply { id: open.id.clone(), beat: open.beat, refused: None, chains: Vec::new() };
        for (place, ended) in &open.chains {
            let Some(one) = self.kept.get(*place) else { continue };
            let ended = match ended {
                None if is_over => Some(Ended::Stopped),
                known => known.clone(),
            };
            reply.chains.push(ReplyChain {
                id: one.chain.id.0,
                name: one.chain.slug.clone(),
                progress: one.progress.snapshot(),
                ended,
            });
        }
        if reply.is_final() {
            self.open = None;
        }
        self.write(&reply);
    }

    fn write(&self, reply: &Reply) {
        if let Err(error) = self.files.answer(reply) {
            tracing::warn!(error = %format!("{error:#}"), "the reply to a request cannot be written");
        }
    }
}
