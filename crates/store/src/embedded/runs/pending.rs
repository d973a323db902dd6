//! The runs that are not in a file yet.

use std::ops::RangeInclusive;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use model::chain::ChainId;

use super::run::Run;
use crate::Error;
use crate::embedded::codec::journal::unpack_version;
use crate::embedded::engine::{Snapshot, Table};
use crate::embedded::keys;

pub struct PendingRuns {
    state: RwLock<Arc<Pending>>,
}

/// As it was at one moment.
#[derive(Clone, Default)]
pub struct Pending {
    /// The oldest first.
    runs: Vec<Arc<Run>>,
    /// Up to which commit the runs of each chain are gone from the list above.
    gone: Vec<(ChainId, u64)>,
    newest: Option<Instant>,
}

impl PendingRuns {
    /// Runs as they were when the store was last open.
    pub fn new(runs: Vec<Arc<Run>>) -> Self {
        let pending = Pending { runs, gone: Vec::new(), newest: Some(Instant::now()) };
        PendingRuns { state: RwLock::new(Arc::new(pending)) }
    }

    pub fn now(&self) -> Arc<Pending> {
        self.state.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change(&self, change: impl FnOnce(&mut Pending)) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut state));
    }

    /// Before the engine has it: no snapshot shows a commit whose run is not here.
    pub fn push(&self, run: Arc<Run>) {
        self.change(|pending| {
            pending.runs.push(run);
            pending.newest = Some(Instant::now());
        });
    }

    /// The engine did not take it.
    pub fn withdraw(&self, chain: ChainId, seq: u64) {
        self.change(|pending| pending.runs.retain(|run| (run.chain, run.seq) != (chain, seq)));
    }

    /// Up to this one. The engine says so, too.
    pub fn folded(&self, chain: ChainId, seq: u64) {
        self.change(|pending| {
            pending.runs.retain(|run| run.chain != chain || run.seq > seq);
            pending.gone.retain(|(of, _)| *of != chain);
            pending.gone.push((chain, seq));
        });
    }

    /// A snapshot with the runs that no file of it has.
    pub fn snapshot(&self, take: impl Fn() -> Snapshot, meta: &Table) -> Result<Snapshot, Error> {
        loop {
            let snapshot = take();
            let pending = self.now();
            if let Some(runs) = pending.of_snapshot(&snapshot, meta)? {
                return Ok(snapshot.with_runs(runs));
            }
        }
    }
}

impl Pending {
    pub fn bytes(&self) -> u64 {
        self.runs.iter().map(|run| run.bytes()).sum()
    }

    /// The oldest first.
    pub fn all(&self) -> &[Arc<Run>] {
        &self.runs
    }

    /// When the newest came.
    pub fn newest(&self) -> Option<Instant> {
        self.newest.filter(|_| !self.runs.is_empty())
    }

    pub fn chains(&self) -> Vec<ChainId> {
        let mut chains: Vec<ChainId> = self.runs.iter().map(|run| run.chain).collect();
        chains.sort();
        chains.dedup();
        chains
    }

    pub fn of_chain(&self, chain: ChainId) -> Vec<Arc<Run>> {
        self.runs.iter().filter(|run| run.chain == chain).cloned().collect()
    }

    /// Whether any run of the chain has blocks in one of the ranges.
    pub fn holds_any(&self, chain: ChainId, numbers: &[RangeInclusive<u64>]) -> bool {
        let overlaps = |(low, high): &(u64, u64)| {
            numbers.iter().any(|range| range.start() <= high && range.end() >= low)
        };
        let of_chain = self.runs.iter().filter(|run| run.chain == chain);
        of_chain.flat_map(|run| run.blocks.ranges()).any(overlaps)
    }

    /// None where runs that the snapshot needs are gone: they were written into a file since.
    fn of_snapshot(
        &self,
        snapshot: &Snapshot,
        meta: &Table,
    ) -> Result<Option<Vec<Arc<Run>>>, Error> {
        for (chain, seq) in &self.gone {
            if folded_upto(snapshot, meta, *chain)? < *seq {
                return Ok(None);
            }
        }
        let mut runs = Vec::with_capacity(self.runs.len());
        let mut of: Option<(ChainId, u64, u64)> = None;
        for run in &self.runs {
            let (_, above, upto) = match of {
                Some(known @ (chain, ..)) if chain == run.chain => known,
                _ => {
                    let above = folded_upto(snapshot, meta, run.chain)?;
                    let upto = version_of(snapshot, meta, run.chain)?;
                    *of.insert((run.chain, above, upto))
                }
            };
            if run.seq > above && run.seq <= upto {
                runs.push(run.clone());
            }
        }
        Ok(Some(runs))
    }
}

fn folded_upto(snapshot: &Snapshot, meta: &Table, chain: ChainId) -> Result<u64, Error> {
    let row = snapshot.get(meta, keys::folded(chain))?;
    Ok(row.and_then(|row| keys::last_number(&row)).unwrap_or(0))
}

fn version_of(snapshot: &Snapshot, meta: &Table, chain: ChainId) -> Result<u64, Error> {
    let Some(row) = snapshot.get(meta, keys::version(chain))? else { return Ok(0) };
    let version = unpack_version(&row).ok_or(Error::Broken { what: "version of a chain" })?;
    Ok(version.seq)
}
