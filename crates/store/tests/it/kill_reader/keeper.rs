//! The reader in the child: it keeps a row for every step, chained by a digest, and a row for every block
//! it has seen, in the same write as its place.

use alloy_primitives::{B256, keccak256};
use store::{Event, EventKind, Reader, ReaderRow, Start, Store};

use super::acknowledged::Acknowledged;
use super::script::Dice;
use crate::sim_block::CHAIN;

pub const NAME: &str = "keeper";
/// Below the first block that is written: it waits for history at first.
pub const START: u64 = 35;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    Killed,
    NothingIsLeft,
}

/// A step as it is kept: how often the reader was told anything before, and what now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kept {
    pub kind: u8,
    pub number: u64,
    pub hash: B256,
    /// Of the journal, when the step was told.
    pub seq: u64,
    /// Of this step and all before it.
    pub digest: B256,
}

impl Kept {
    fn after(digest: B256, event: &Event) -> Self {
        let kind = match event.kind {
            EventKind::Apply => b'a',
            EventKind::Revert => b'r',
            EventKind::Amend => b'm',
        };
        let Event { number, hash, .. } = *event;
        let kept = Kept { kind, number, hash, seq: event.cursor.seq, digest };
        Kept { digest: kept.chained(digest), ..kept }
    }

    pub fn chained(&self, before: B256) -> B256 {
        let (number, seq) = (self.number.to_be_bytes(), self.seq.to_be_bytes());
        let parts = [before.as_slice(), &[self.kind], &number, self.hash.as_slice(), &seq];
        keccak256(parts.concat())
    }

    fn pack(&self) -> Vec<u8> {
        let (number, seq) = (self.number.to_be_bytes(), self.seq.to_be_bytes());
        [&[self.kind], &number[..], self.hash.as_slice(), &seq, self.digest.as_slice()].concat()
    }

    pub fn unpack(row: &[u8]) -> Self {
        let number = |bytes: &[u8]| u64::from_be_bytes(bytes.try_into().unwrap());
        Kept {
            kind: row[0],
            number: number(&row[1..9]),
            hash: B256::from_slice(&row[9..41]),
            seq: number(&row[41..49]),
            digest: B256::from_slice(&row[49..81]),
        }
    }
}

/// `e` and how many came before; or `b` and the block's number.
pub fn key(kind: u8, number: u64) -> Vec<u8> {
    [&[kind], &number.to_be_bytes()[..]].concat()
}

pub async fn read(store: &Store, done: &Acknowledged, until: Until) {
    let mut reader = Reader::open(store, NAME, CHAIN, Start::Block(START)).await.unwrap();
    let rows = reader.rows(b"e", usize::MAX).await.unwrap();
    let last = rows.last().map(|row| Kept::unpack(row.value.as_ref().unwrap()));
    let (mut count, mut digest) = (rows.len() as u64, last.map_or(B256::ZERO, |kept| kept.digest));
    let mut dice = Dice(count);
    let (mut open, mut at) = (Vec::new(), None);
    loop {
        let Some(event) = reader.next().await.unwrap() else {
            if let Some(cursor) = at.take() {
                reader.commit(cursor, std::mem::take(&mut open)).await.unwrap();
                done.reader(count);
            }
            if until == Until::NothingIsLeft {
                return;
            }
            reader.wait().await;
            continue;
        };
        let kept = Kept::after(digest, &event);
        open.push(ReaderRow { key: key(b'e', count), value: Some(kept.pack()) });
        open.push(block_row(&reader, &event).await);
        (count, digest, at) = (count + 1, kept.digest, Some(event.cursor));
        if dice.below(2) == 0 {
            reader.commit(event.cursor, std::mem::take(&mut open)).await.unwrap();
            done.reader(count);
            at = None;
        }
    }
}

/// The block as it is now; where it is gone, a later step says so.
async fn block_row(reader: &Reader, event: &Event) -> ReaderRow {
    let Event { kind, number, hash, .. } = *event;
    let value = if kind == EventKind::Revert {
        None
    } else {
        let block = reader.block_if(number, hash).await.unwrap();
        let has_traces = block.is_some_and(|(block, _)| block.traces.is_some());
        Some([hash.as_slice(), &[u8::from(has_traces)]].concat())
    };
    ReaderRow { key: key(b'b', number), value }
}
