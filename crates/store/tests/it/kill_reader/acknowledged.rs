//! What the child was told to be stored, written down outside of the store: a kill must not lose it.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use store::Store;

use super::keeper::NAME;
use crate::sim_block::CHAIN;

/// A file is in the system's hands once it is written: it outlives the process.
pub struct Acknowledged(File);

fn path(folder: &Path) -> PathBuf {
    folder.with_extension("acknowledged")
}

impl Acknowledged {
    pub fn open(folder: &Path) -> Self {
        Acknowledged(OpenOptions::new().append(true).create(true).open(path(folder)).unwrap())
    }

    pub fn commit(&self, seq: u64) {
        self.note(b'c', seq);
    }

    /// How many steps the reader has kept.
    pub fn reader(&self, steps: u64) {
        self.note(b'r', steps);
    }

    fn note(&self, kind: u8, number: u64) {
        let mut note = vec![kind];
        note.extend(number.to_be_bytes());
        (&self.0).write_all(&note).unwrap();
    }
}

/// The store is at least there.
pub async fn check(folder: &Path, store: &Store) {
    let Ok(notes) = std::fs::read(path(folder)) else { return };
    let newest = |kind: u8| {
        let notes = notes.chunks_exact(9).filter(|note| note[0] == kind);
        notes.map(|note| u64::from_be_bytes(note[1..].try_into().unwrap())).max().unwrap_or(0)
    };
    let seq = store.version(CHAIN).await.unwrap().seq;
    assert!(seq >= newest(b'c'), "{seq}: a commit is lost");
    let view = store.view().await.unwrap();
    let steps = view.reader_rows(CHAIN, NAME, b"e", usize::MAX).await.unwrap().len() as u64;
    assert!(steps >= newest(b'r'), "{steps}: a step of the reader is lost");
}
