//! Blocks from files into the store, verified like any other.
//!
//! A record that cannot be read or does not add up is reported and passed over; all others go in.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use decode::Decoder;
use model::chain::Chain;
use model::proof::{Level, Proof};
use store::{Change, Origin, PreparedBlock, Store, VerifiedBlock};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::error::Error;
use crate::source::files::{self, FileError};
use crate::verify::{Lie, Rules, Senders, verify};

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
    Block(PreparedBlock, Proof),
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
    let rules =
        Rules { verification: chain.verification, chain_id: chain.id.0, senders: Senders::All };
    let reading = Arc::new(Reading {
        store: store.clone(),
        chain: chain.clone(),
        rules,
        decoder: Decoder::new(chain),
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
    let summary = Writing { store, chain, tell, summary: Summary::default() }.run(receiver).await?;
    while let Some(ended) = readers.join_next().await {
        ended.map_err(|_| Error::Stopped)?;
    }
    store.flush().await?;
    Ok(summary)
}

/// What makes a record a block of this chain.
struct Reading {
    store: Store,
    chain: Chain,
    rules: Rules,
    decoder: Decoder,
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
            send(match verify(&block, &self.rules) {
                Ok(proof) => {
                    let facts = crate::facts::decode(&self.decoder, &self.chain.slug, &block);
                    let block = VerifiedBlock { block, proof, facts };
                    Message::Block(self.store.prepare(self.chain.id, block), proof)
                }
                Err(lie) => Message::Refused(Refusal::Lie { path: path.to_owned(), lie }),
            })?;
        }
        Ok(())
    }
}

struct Writing<'a> {
    store: &'a Store,
    chain: &'a Chain,
    tell: EventFn<'a>,
    summary: Summary,
}

impl Writing<'_> {
    // The receiver is owned: readers that wait to hand over a block must notice when writing ends early.
    async fn run(mut self, mut receiver: mpsc::Receiver<Message>) -> Result<Summary, Error> {
        while let Some(message) = receiver.recv().await {
            match message {
                Message::Block(block, proof) => self.write(block, proof).await?,
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
    async fn write(&mut self, block: PreparedBlock, proof: Proof) -> Result<(), Error> {
        let (number, transactions) = (block.number, u64::from(block.tx_count));
        let change = Change::apply(Origin::Import, vec![block]);
        match self.store.commit(self.chain.id, change).await {
            Ok(_) => {
                self.summary.blocks += 1;
                self.summary.transactions += transactions;
                match proof.level() {
                    Level::Verified => self.summary.verified += 1,
                    Level::Partial => self.summary.partial += 1,
                    Level::Unverified => self.summary.unverified += 1,
                }
                (self.tell)(Event::Blocks { blocks: 1, transactions });
            }
            Err(source @ (store::Error::Detached { .. } | store::Error::Occupied { .. })) => {
                self.refuse(Refusal::Store { number, source });
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}
