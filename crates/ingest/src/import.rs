//! Blocks from files into the store, verified like any other.
//!
//! A record that cannot be read or does not add up is reported and passed over; all others go in.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};

use decode::Decoder;
use model::chain::Chain;
use model::proof::{Level, Proof};
use model::raw::Block;
use store::{Change, Prepared, Store};

use crate::source::files::{self, FileError};
use crate::verify::{Lie, Rules, Senders, verify};

/// Blocks handed over but not yet written, per reader.
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

struct Ready {
    prepared: Prepared,
    proof: Proof,
}

/// Reads files on as many threads as there are processors; one writer commits. Everything is on
/// disk when this returns; a store opened without `durable` makes it quicker until then.
pub fn import(
    store: &Store,
    chain: &Chain,
    files: &[PathBuf],
    tell: &(dyn Fn(Event) + Sync),
) -> Result<Summary, store::Error> {
    crate::redecode::declare(store, chain)?;
    let rules =
        Rules { verification: chain.verification, chain_id: chain.id.0, senders: Senders::All };
    let reading = Reading { chain, rules, decoder: Decoder::new(chain) };
    let next = AtomicUsize::new(0);
    let refused = Mutex::new(Vec::new());
    let (sender, receiver) = sync_channel::<Ready>(QUEUE);
    let threads =
        std::thread::available_parallelism().map_or(1, |n| n.get()).min(files.len()).max(1);
    let refuse = |refusal: Refusal| {
        tell(Event::Refused(&refusal));
        refused.lock().unwrap_or_else(|e| e.into_inner()).push(refusal);
    };
    let mut summary = Summary::default();
    let written = std::thread::scope(|scope| {
        for _ in 0..threads {
            let sender = sender.clone();
            scope.spawn(|| {
                let sender = sender;
                while let Some(path) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    read_file(path, &reading, &sender, &refuse);
                    tell(Event::FileDone(path));
                }
            });
        }
        drop(sender);
        write_all(store, chain, receiver, &mut summary, tell, &refuse)
    });
    summary.refused = refused.into_inner().unwrap_or_else(|e| e.into_inner());
    written.map(|()| summary)
}

/// What makes a record a block of this chain.
struct Reading<'a> {
    chain: &'a Chain,
    rules: Rules,
    decoder: Decoder,
}

fn read_file(path: &Path, reading: &Reading, sender: &SyncSender<Ready>, refuse: &dyn Fn(Refusal)) {
    let records = match files::open(path) {
        Ok(records) => records,
        Err(error) => return refuse(error.into()),
    };
    for record in records {
        let block: Block = match record {
            Ok(block) => block,
            Err(error) => {
                refuse(error.into());
                continue;
            }
        };
        match verify(&block, &reading.rules) {
            Ok(proof) => {
                let facts = crate::facts::decode(&reading.decoder, &reading.chain.slug, &block);
                let prepared = store::prepare(reading.chain.id, block, proof, facts);
                if sender.send(Ready { prepared, proof }).is_err() {
                    return;
                }
            }
            Err(lie) => refuse(Refusal::Lie { path: path.to_owned(), lie }),
        }
    }
}

fn write_all(
    store: &Store,
    chain: &Chain,
    // Owned: readers that wait to hand over a block must notice when writing ends early.
    receiver: std::sync::mpsc::Receiver<Ready>,
    summary: &mut Summary,
    tell: &(dyn Fn(Event) + Sync),
    refuse: &dyn Fn(Refusal),
) -> Result<(), store::Error> {
    // One by one, so that a block that does not fit keeps no other out.
    for Ready { prepared, proof } in receiver {
        let (number, txs) = (prepared.number, u64::from(prepared.tx_count));
        let change = Change { revert: Vec::new(), apply: vec![prepared] };
        match store.commit(chain.id, change) {
            Ok(_) => {
                summary.blocks += 1;
                summary.transactions += txs;
                match proof.level() {
                    Level::Verified => summary.verified += 1,
                    Level::Partial => summary.partial += 1,
                    Level::Unverified => summary.unverified += 1,
                }
                tell(Event::Blocks { blocks: 1, transactions: txs });
            }
            Err(source @ (store::Error::Detached { .. } | store::Error::Occupied { .. })) => {
                refuse(Refusal::Store { number, source });
            }
            Err(error) => return Err(error),
        }
    }
    store.persist()
}
