//! Blocks from files into the store, verified like any other.
//!
//! A record that cannot be read or does not add up is reported and passed over; all others go in. A
//! block that is stored without receipts, traces or proof gets those that a file brings.

mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use model::chain::Chain;
use store::{PreparedBlock, Store};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::commit::Committer;
use crate::error::Error;
use crate::pipeline::{Pipeline, decoder_of};
use crate::source::files::{self, BlockFileError};
use crate::verify::{Lie, Senders};
use writer::ImportWriter;

/// Blocks handed over but not yet written.
const QUEUE: usize = 64;

#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error(transparent)]
    File(#[from] BlockFileError),
    #[error("{path}: {lie}")]
    Lie { path: PathBuf, lie: Lie },
    #[error("block {number}: {source}")]
    Store { number: u64, source: store::Error },
}

#[derive(Debug, Default)]
pub struct Summary {
    /// New in the store.
    pub blocks: u64,
    /// Of these.
    pub transactions: u64,
    /// Stored before, and now with receipts, traces or proof that they lacked.
    pub completed: u64,
    /// Stored before, or given twice, and nothing to add.
    pub already_stored: u64,
    /// Of the new and the completed ones: without internal transactions.
    pub untraced: u64,
    /// Writes to the store: coverage is written anew with each.
    pub commits: u64,
    pub verified: u64,
    pub partial: u64,
    pub unverified: u64,
    pub refused: Vec<Refusal>,
}

/// Told as the work goes on.
pub enum ImportEvent<'a> {
    FileDone(&'a Path),
    Blocks { blocks: u64, transactions: u64 },
    Refused(&'a Refusal),
}

pub type EventFn<'a> = &'a (dyn Fn(ImportEvent) + Send + Sync);

/// What readers hand to the writer.
enum FromReader {
    Block(Box<PreparedBlock>),
    Refused(Refusal),
    FileDone(PathBuf),
}

/// Reads files on as many threads as there are processors; one writer commits. Everything is on
/// disk when this returns; a store opened without `durable` makes it quicker until then.
pub fn import<'a>(
    store: &'a Store,
    chain: &'a Chain,
    files: &'a [PathBuf],
    tell: EventFn<'a>,
) -> BoxFuture<'a, Result<Summary, Error>> {
    read_and_write(store, chain, files, tell).boxed()
}

async fn read_and_write(
    store: &Store,
    chain: &Chain,
    files: &[PathBuf],
    tell: EventFn<'_>,
) -> Result<Summary, Error> {
    crate::redecode::declare(store, chain).await?;
    let chain = Arc::new(chain.clone());
    let reading = Arc::new(FileReaders {
        pipeline: Pipeline::new(
            store.clone(),
            chain.clone(),
            decoder_of(&chain),
            Box::new(|| false),
        ),
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
    let id = chain.id;
    let committer = Committer::new(store.clone(), chain, Arc::default());
    let summary = ImportWriter::new(store, id, &committer, tell).run(receiver).await?;
    while let Some(ended) = readers.join_next().await {
        ended.map_err(|_| Error::Stopped)?;
    }
    store.flush().await?;
    Ok(summary)
}

/// The files, shared by the threads that read them.
struct FileReaders {
    pipeline: Pipeline,
    files: Vec<PathBuf>,
    /// The first file that nobody has taken.
    next: AtomicUsize,
}

/// The writer has gone.
struct Unwanted;

impl FileReaders {
    /// Ends when all files are read, or nobody wants more.
    fn run(&self, sender: &mpsc::Sender<FromReader>) {
        while let Some(path) = self.files.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let send = |message| sender.blocking_send(message).map_err(|_| Unwanted);
            let read = self.read_file(path, &send);
            if read.and_then(|()| send(FromReader::FileDone(path.clone()))).is_err() {
                return;
            }
        }
    }

    fn read_file(
        &self,
        path: &Path,
        send: &dyn Fn(FromReader) -> Result<(), Unwanted>,
    ) -> Result<(), Unwanted> {
        let records = match files::open(path) {
            Ok(records) => records,
            Err(error) => return send(FromReader::Refused(error.into())),
        };
        for record in records {
            let block = match record {
                Ok(block) => block,
                Err(error) => {
                    send(FromReader::Refused(error.into()))?;
                    continue;
                }
            };
            send(match self.pipeline.run(block, Senders::All) {
                Ok(block) => FromReader::Block(Box::new(block)),
                Err(no) => FromReader::Refused(Refusal::Lie { path: path.to_owned(), lie: no.lie }),
            })?;
        }
        Ok(())
    }
}
