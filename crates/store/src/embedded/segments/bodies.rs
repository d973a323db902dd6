//! What is needed to read bodies, for as many readers as there are: files, dictionaries, and what was read of them
//! lately: unpacked frames, and transactions of pages.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use bytes::Bytes;
use model::chain::ChainId;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::dictionary::Dictionary;
use super::files::SegmentFiles;
use super::frame_kind::FrameKind;
use super::samples::Samples;
use crate::Error;
use crate::embedded::engine::{Snapshot, Table};
use crate::embedded::tx_cache::TxCache;

/// A frame is about so large, unpacked.
const FRAME_BYTES_GUESS: u64 = 10 << 10;

pub struct Bodies {
    pub files: SegmentFiles,
    pub samples: Samples,
    dictionaries: RwLock<BTreeMap<u32, Arc<Dictionary>>>,
    /// By segment and offset.
    pub frames: Cache<(u64, u64), Bytes, FrameWeight>,
    pub txs: TxCache,
    /// Held by all views that were taken since a segment was last removed.
    readers: Mutex<Arc<()>>,
}

/// Of a chain, for every kind of frame that is written.
pub type Dictionaries = [Option<Arc<Dictionary>>; FrameKind::WRITTEN.len()];

#[derive(Clone)]
pub struct FrameWeight;

impl Weighter<(u64, u64), Bytes> for FrameWeight {
    fn weight(&self, _: &(u64, u64), frame: &Bytes) -> u64 {
        frame.len() as u64 + 64
    }
}

impl Bodies {
    /// `data` is the data folder, or one that has links to its files. With bytes for unpacked frames, and for transactions.
    pub fn open(
        data: &Path,
        (snapshot, dictionaries): (&Snapshot, &Table),
        (frames_bytes, txs_bytes): (u64, u64),
    ) -> Result<Self, Error> {
        let mut known = BTreeMap::new();
        for item in snapshot.iter(dictionaries) {
            let (key, row) = item.into_inner()?;
            let id = key.as_ref().try_into().map(u32::from_be_bytes).ok();
            let dictionary = id.and_then(|id| Dictionary::unpack_row(id, &row));
            let dictionary = dictionary.ok_or(Error::Broken { what: "dictionary" })?;
            known.insert(dictionary.id, Arc::new(dictionary));
        }
        let items = usize::try_from(frames_bytes / FRAME_BYTES_GUESS).unwrap_or(1).max(16);
        Ok(Bodies {
            files: SegmentFiles::new(data),
            samples: Samples::default(),
            dictionaries: RwLock::new(known),
            frames: Cache::with_weighter(items, frames_bytes, FrameWeight),
            txs: TxCache::new(txs_bytes),
            readers: Mutex::default(),
        })
    }

    pub fn cached_bytes(&self) -> u64 {
        self.frames.weight()
    }

    pub fn dictionary(&self, id: u32) -> Option<Arc<Dictionary>> {
        self.dictionaries.read().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }

    /// Those that new bodies of a chain are packed with.
    pub fn newest_dictionaries(&self, chain: ChainId) -> Dictionaries {
        let known = self.dictionaries.read().unwrap_or_else(PoisonError::into_inner);
        FrameKind::WRITTEN.map(|kind| {
            let mut newest_first = known.values().rev();
            newest_first.find(|it| (it.chain, it.kind) == (chain, kind)).cloned()
        })
    }

    /// Kinds of frames of which nothing was learned yet.
    pub fn unlearned(dictionaries: &Dictionaries) -> impl Iterator<Item = FrameKind> {
        let kinds = FrameKind::WRITTEN.into_iter().zip(dictionaries);
        kinds.filter(|(_, dictionary)| dictionary.is_none()).map(|(kind, _)| kind)
    }

    pub fn next_dictionary_id(&self) -> u32 {
        let known = self.dictionaries.read().unwrap_or_else(PoisonError::into_inner);
        known.last_key_value().map_or(1, |(newest, _)| newest + 1)
    }

    /// Its row must be on disk: bodies that are packed with it are lost without it.
    pub fn add_dictionary(&self, dictionary: Dictionary) {
        let mut known = self.dictionaries.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(dictionary.id, Arc::new(dictionary));
    }

    /// To be held by whoever reads, and taken before the snapshot that leads to bodies.
    pub fn reading(&self) -> Arc<()> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What is held by all who may still read what nothing leads to from now on.
    pub fn end_of_readers(&self) -> Arc<()> {
        std::mem::take(&mut *self.readers.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
