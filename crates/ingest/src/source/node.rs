//! The nodes of a chain, as ingest uses them.

use std::sync::Arc;

use model::chain::Chain;
use rpc::{Lane, Pool, UpstreamId};
use store::Store;
use tokio::sync::Semaphore;

use crate::config::TraceUse;
use crate::error::{Error, evidence};
use crate::pipeline::Pipeline;
use crate::verify::Lie;

#[derive(Clone)]
pub(crate) struct NodeSource {
    pub pool: Arc<Pool>,
    pub chain: Arc<Chain>,
    /// What the nodes are asked for.
    pub(super) lane: Lane,
    pub(super) traces: TraceUse,
    pub(super) pipeline: Arc<Pipeline>,
    /// As many readers as there are processors: more would only hold more blocks in memory.
    pub(super) readers: Arc<Semaphore>,
}

impl NodeSource {
    pub fn new(pool: Arc<Pool>, chain: Arc<Chain>, store: Store, traces: TraceUse) -> Self {
        let processors = std::thread::available_parallelism().map_or(2, |n| n.get());
        let readers = Arc::new(Semaphore::new(processors));
        let pipeline = Arc::new(Pipeline::new(store, chain.clone()));
        NodeSource { pool, chain, lane: Lane::History, traces, pipeline, readers }
    }

    /// The same nodes, asked before everybody else.
    pub fn for_head(self) -> Self {
        NodeSource { lane: Lane::Head, ..self }
    }

    /// Tells the pool who lied, and about what.
    pub(super) fn report(&self, upstream: UpstreamId, lie: Lie) -> Error {
        let slug = self.chain.slug.clone();
        metrics::counter!("headwater_lies_total", "chain" => slug, "check" => lie.check)
            .increment(1);
        self.pool.report_lie(upstream, evidence(&lie));
        Error::Lie { upstream: self.pool.label(upstream).to_owned(), lie }
    }
}
