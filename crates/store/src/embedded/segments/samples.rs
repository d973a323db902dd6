//! Rows of a chain's first blocks, from which its dictionaries are trained.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use alloy_primitives::map::HashSet;
use model::chain::ChainId;

use super::frame_kind::FrameKind;
use super::pack::{BodyGroups, by_group};

/// Of one kind. More makes training longer and dictionaries hardly better.
const SAMPLE_BYTES: usize = 2 << 20;
const DICTIONARY_BYTES: usize = 112 << 10;

#[derive(Default)]
pub struct Samples {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    taken: HashMap<(ChainId, FrameKind), Sample>,
    /// Once is enough: a chain whose rows cannot be learned from is left alone.
    done: HashSet<(ChainId, FrameKind)>,
}

#[derive(Default)]
pub struct Sample {
    rows: Vec<Vec<u8>>,
    bytes: usize,
}

impl Sample {
    fn is_full(&self) -> bool {
        self.bytes >= SAMPLE_BYTES
    }
}

impl Samples {
    /// `kinds` are those that have no dictionary.
    pub fn add(
        &self,
        chain: ChainId,
        kinds: impl IntoIterator<Item = FrameKind>,
        groups: &BodyGroups,
    ) {
        for kind in kinds {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if state.done.contains(&(chain, kind)) {
                continue;
            }
            let sample = state.taken.entry((chain, kind)).or_default();
            for (_, rows) in by_group(kind, groups) {
                if !sample.is_full() {
                    let row = rows.concat();
                    sample.bytes += row.len();
                    sample.rows.push(row);
                }
            }
        }
    }

    /// Whether there is a sample to train with.
    pub fn is_full(&self, chain: ChainId) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let of_chain = FrameKind::WRITTEN.map(|kind| state.taken.get(&(chain, kind)));
        of_chain.into_iter().flatten().any(Sample::is_full)
    }

    /// Samples that are large enough; each is given once.
    pub fn take_full(&self, chain: ChainId) -> Vec<(FrameKind, Sample)> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut full = Vec::new();
        for kind in FrameKind::WRITTEN {
            if state.taken.get(&(chain, kind)).is_some_and(Sample::is_full) {
                full.extend(state.taken.remove(&(chain, kind)).map(|sample| (kind, sample)));
                state.done.insert((chain, kind));
            }
        }
        full
    }
}

/// None where nothing can be learned from it. A quarter of a second of computing, which everything else goes before.
pub fn train(sample: Sample) -> Option<Vec<u8>> {
    let (done, trained) = std::sync::mpsc::channel();
    let work = move || done.send(zstd::dict::from_samples(&sample.rows, DICTIONARY_BYTES).ok());
    tasks::spawn_background(work);
    trained.recv().ok().flatten()
}
