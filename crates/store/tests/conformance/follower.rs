//! A journal reader that keeps what it saw as rows of its own, and finds every step that cannot be right.

use std::collections::BTreeMap;

use alloy_primitives::B256;
use store::{Event, EventKind, Reader, ReaderRow, Start, Store};

use crate::chain::CHAIN;

pub struct Follower {
    pub reader: Reader,
    /// What it saw: by number, the block's hash and whether it had traces.
    pub seen: BTreeMap<u64, (B256, bool)>,
    /// Steps since the last commit.
    open: Vec<Event>,
}

impl Follower {
    pub async fn open(store: &Store, name: &str, start: Start) -> Self {
        let reader = Reader::open(store, name, CHAIN, start).await.unwrap();
        let rows = reader.rows(&[], usize::MAX).await.unwrap();
        let seen = rows.iter().map(|row| {
            let number = u64::from_be_bytes(row.key.as_slice().try_into().unwrap());
            let (has_traces, hash) = row.value.as_ref().unwrap().split_last().unwrap();
            (number, (B256::from_slice(hash), *has_traces == 1))
        });
        Follower { seen: seen.collect(), reader, open: Vec::new() }
    }

    /// The next step, checked; none where there is nothing new.
    pub async fn step(&mut self) -> Option<Event> {
        let event = self.reader.next().await.unwrap()?;
        let Event { kind, number, hash, cursor } = event;
        let last = self.seen.last_key_value().map(|(number, seen)| (*number, seen.0));
        match kind {
            EventKind::Apply => {
                let (block, _) = self.reader.block_if(number, hash).await.unwrap().unwrap();
                match last {
                    Some(last) => assert_eq!((number - 1, block.parent_hash), last),
                    None => assert_eq!(number, cursor.start, "the first block that it asked for"),
                }
                self.seen.insert(number, (hash, block.traces.is_some()));
                assert_eq!(cursor.next, number + 1);
            }
            EventKind::Revert => {
                assert_eq!(last, Some((number, hash)), "newest first, and nothing it did not see");
                self.seen.remove(&number);
                assert_eq!(cursor.next, number);
            }
            EventKind::Amend => {
                // A later revert of it may be written already; then that comes next.
                let block = self.reader.block_if(number, hash).await.unwrap();
                let has_traces = block.is_none_or(|(block, _)| block.traces.is_some());
                let seen = self.seen.get_mut(&number).unwrap();
                assert_eq!(seen.0, hash);
                seen.1 = has_traces;
            }
        }
        self.open.push(event);
        Some(event)
    }

    /// Every step that there is; says how many.
    pub async fn drain(&mut self) -> usize {
        let mut steps = 0;
        while self.step().await.is_some() {
            steps += 1;
        }
        steps
    }

    /// What it saw since the last commit, and its place, in one write.
    pub async fn commit(&mut self) {
        let Some(last) = self.open.last() else { return };
        let rows = self.open.iter().map(|event| {
            let value = self
                .seen
                .get(&event.number)
                .map(|(hash, has_traces)| [hash.as_slice(), &[u8::from(*has_traces)]].concat());
            ReaderRow { key: event.number.to_be_bytes().to_vec(), value }
        });
        self.reader.commit(last.cursor, rows.collect()).await.unwrap();
        self.open.clear();
    }

    /// As `Model::run_from` says it.
    pub fn run(&self) -> Vec<(u64, B256, bool)> {
        self.seen.iter().map(|(number, (hash, traces))| (*number, *hash, *traces)).collect()
    }
}
