//! Blocks from files into the store, verified like any other.
//!
//! A record that cannot be read or does not add up is reported and passed over; all others go in. A
//! block that is stored without receipts or traces gets those that a file brings.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use model::chain::Chain;
use model::proof::Level;
use store::{Origin, PreparedBlock, Store};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::commit::Committer;
use crate::error::Error;
use crate::pipeline::Pipeline;
use crate::source::files::{self, FileError};
use crate::verify::{Lie, Senders};

/// Blocks handed over but not yet written.
const QUEUE: usize = 64;

#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{path}: {lie}")]
    Lie { path: PathBuf, lie: Lie },
    #[error("block {number}: {source}")]
    Store { number: u64, source: store::Error },
}

#[derive(Debug, Default)]
pub struct Summary {
    pub blocks: u64,
    pub transactions: u64,
    pub verified: u64,
    pub partial: u64,
    pub unverified: u64,
    pub refused: Vec<Refusal>,
}

/// Told as the work goes on.
pub enum Event<'a> {
    FileDone(&'a Path),
    Blocks { blocks: u64, transactions: u64 },
    Refused(&'a Refusal),
}

pub type EventFn<'a> = &'a (dyn Fn(Event) + Send + Sync);

/// What readers hand to the writer.
enum Message {
    Block(PreparedBlock),
    Refused(Refusal),
    FileDone(PathBuf),
}

/// Reads files on as many threads as there are processors; one writer commits. Everything is on
/// disk when this returns; a store opened without `durable` makes it quicker until then.
pub async fn import(
    store: &Store,
    chain: &Chain,
    files: &[PathBuf],
    tell: EventFn<'_>,
) -> Result<Summary, Error> {
    crate::redecode::declare(store, chain).await?;
    let chain = Arc::new(chain.clone());
    let reading = Arc::new(Reading {
        pipeline: Pipeline::new(store.clone(), chain.clone()),
        files: files.to_vec(),
        next: AtomicUsize::new(0),
    });
    let threads =
        std::thread::available_parallelism().map_or(1, |n| n.get()).min(files.len()).max(1);
    let (sender, receiver) = mpsc::channel(QUEUE);
    let mut readers = JoinSet::new();
    for _ in 0..threads {
        let (reading, sender) = (reading.clone(), sender.clone());
        readers.spawn_blocking(move || reading.run(&sender));
    }
    drop(sender);
    let committer = Committer::new(store.clone(), chain, Arc::default());
    let summary = Writing { committer, tell, summary: Summary::default() }.run(receiver).await?;
    while let Some(ended) = readers.join_next().await {
        ended.map_err(|_| Error::Stopped)?;
    }
    store.flush().await?;
    Ok(summary)
}

/// The files, shared by the threads that read them.
struct Reading {
    pipeline: Pipeline,
    files: Vec<PathBuf>,
    /// The first file that nobody has taken.
    next: AtomicUsize,
}

/// The writer has gone.
struct Unwanted;

impl Reading {
    /// Ends when all files are read, or nobody wants more.
    fn run(&self, sender: &mpsc::Sender<Message>) {
        while let Some(path) = self.files.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let send = |message| sender.blocking_send(message).map_err(|_| Unwanted);
            let read = self.read_file(path, &send);
            if read.and_then(|()| send(Message::FileDone(path.clone()))).is_err() {
                return;
            }
        }
    }

    fn read_file(
        &self,
        path: &Path,
        send: &dyn Fn(Message) -> Result<(), Unwanted>,
    ) -> Result<(), Unwanted> {
        let records = match files::open(path) {
            Ok(records) => records,
            Err(error) => return send(Message::Refused(error.into())),
        };
        for record in records {
            let block = match record {
                Ok(block) => block,
                Err(error) => {
                    send(Message::Refused(error.into()))?;
                    continue;
                }
            };
            send(match self.pipeline.run(block, Senders::All) {
                Ok(block) => Message::Block(block),
                Err(lie) => Message::Refused(Refusal::Lie { path: path.to_owned(), lie }),
            })?;
        }
        Ok(())
    }
}

struct Writing<'a> {
    committer: Committer,
    tell: EventFn<'a>,
    summary: Summary,
}

impl Writing<'_> {
    // The receiver is owned: readers that wait to hand over a block must notice when writing ends early.
    async fn run(mut self, mut receiver: mpsc::Receiver<Message>) -> Result<Summary, Error> {
        while let Some(message) = receiver.recv().await {
            match message {
                Message::Block(block) => self.write(block).await?,
                Message::Refused(refusal) => self.refuse(refusal),
                Message::FileDone(path) => (self.tell)(Event::FileDone(&path)),
            }
        }
        Ok(self.summary)
    }

    fn refuse(&mut self, refusal: Refusal) {
        (self.tell)(Event::Refused(&refusal));
        self.summary.refused.push(refusal);
    }

    /// One by one, so that a block that does not fit keeps no other out.
    async fn write(&mut self, block: PreparedBlock) -> Result<(), Error> {
        let (number, proof) = (block.number, block.proof);
        let transactions = u64::from(block.tx_count);
        let turn = self.committer.turn().await;
        let written = turn.put(Origin::Import, block).await;
        drop(turn);
        match written {
            Ok(()) => {
                self.summary.blocks += 1;
                self.summary.transactions += transactions;
                match proof.level() {
                    Level::Verified => self.summary.verified += 1,
                    Level::Partial => self.summary.partial += 1,
                    Level::Unverified => self.summary.unverified += 1,
                }
                (self.tell)(Event::Blocks { blocks: 1, transactions });
                Ok(())
            }
            Err(Error::Store(source)) if does_not_fit(&source) => {
                self.refuse(Refusal::Store { number, source });
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

fn does_not_fit(error: &store::Error) -> bool {
    matches!(error, store::Error::Detached { .. } | store::Error::Occupied { .. })
}
