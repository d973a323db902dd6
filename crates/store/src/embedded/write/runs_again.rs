//! Makes the runs that were in memory when the store was last open, from the blocks that they are of.

use std::sync::Arc;

use model::chain::ChainId;

use super::as_stored;
use crate::Error;
use crate::coverage::Coverage;
use crate::embedded::codec::unpack_coverage;
use crate::embedded::keys;
use crate::embedded::read::View;
use crate::embedded::runs::{Run, RunBuilder};

const BROKEN: Error = Error::Broken { what: "list of new index rows" };

/// `view` is one that knows of no runs.
pub fn runs_again(view: &View) -> Result<Vec<Arc<Run>>, Error> {
    let mut rows = Vec::new();
    for item in view.snapshot.iter(&view.tables.index_runs) {
        let (key, row) = item.into_inner()?;
        let (chain, seq) = keys::chain_and_number(&key).ok_or(BROKEN)?;
        rows.push((chain, seq, unpack_coverage(&row).ok_or(BROKEN)?));
    }
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    let share = rows.len().div_ceil(threads).max(1);
    let runs = std::thread::scope(|scope| {
        let work = |rows: &[(ChainId, u64, Coverage)]| -> Vec<Arc<Run>> {
            rows.iter().map(|(chain, seq, blocks)| run_of(view, (*chain, *seq), blocks)).collect()
        };
        let parts: Vec<_> =
            rows.chunks(share).map(|rows| scope.spawn(move || work(rows))).collect();
        parts.into_iter().map(|part| part.join()).collect::<Result<Vec<_>, _>>()
    });
    runs.map(|runs| runs.into_iter().flatten().collect()).map_err(|_| BROKEN)
}

fn run_of(view: &View, (chain, seq): (ChainId, u64), blocks: &Coverage) -> Arc<Run> {
    let mut run = RunBuilder::default();
    for number in blocks.ranges().iter().flat_map(|(from, to)| *from..=*to) {
        match as_stored(view, chain, number) {
            Ok(block) => block.add_to_run(chain, &view.tables, &mut run),
            // All others can still be answered for; `check` tells of this one.
            Err(error) => {
                tracing::error!(chain.id = chain.0, number, %error, "a block cannot be found by its transactions");
            }
        }
    }
    Arc::new(run.finish(chain, seq))
}
