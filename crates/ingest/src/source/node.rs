//! The nodes of a chain, as ingest uses them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use model::chain::Chain;
use rpc::{Lane, Pool, UpstreamId};

use super::trace_breaker::TraceBreaker;
use crate::audit::Doubts;
use crate::config::{Config, TraceUse};
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
    /// How long the head waits for the traces of its blocks.
    pub(super) head_traces_within: Duration,
    /// How long a node may take for history with traces before it is asked without.
    pub(super) history_traces_within: Duration,
    pub(super) trace_breaker: Arc<Mutex<TraceBreaker>>,
    pub pipeline: Arc<Pipeline>,
    /// Traces that the state contradicts.
    pub doubts: Arc<Doubts>,
}

impl NodeSource {
    pub fn new(pool: Arc<Pool>, chain: Arc<Chain>, pipeline: Pipeline, config: &Config) -> Self {
        let pipeline = Arc::new(pipeline);
        let head_traces_within = Duration::from_millis(config.head_trace_ms.max(1));
        let history_traces_within = Duration::from_millis(config.history_trace_ms.max(1));
        let (traces, trace_breaker) = (config.traces, Arc::default());
        let lane = Lane::History;
        NodeSource {
            pool,
            chain,
            lane,
            traces,
            head_traces_within,
            history_traces_within,
            trace_breaker,
            pipeline,
            doubts: Arc::default(),
        }
    }

    /// The same nodes, asked before everybody else.
    pub fn for_head(self) -> Self {
        NodeSource { lane: Lane::Head, ..self }
    }

    /// Tells the pool who lied, and about what.
    pub(crate) fn report(&self, upstream: UpstreamId, lie: Lie) -> Error {
        self.count_lie(&lie);
        self.pool.report_lie(upstream, evidence(&lie));
        Error::Lie { upstream: self.pool.label(upstream).to_owned(), lie }
    }

    /// The block itself holds: the node stays in use.
    pub(super) fn report_traces(&self, upstream: UpstreamId, lie: &Lie) {
        self.count_lie(lie);
        self.pool.keep_evidence(upstream, evidence(lie));
    }

    fn count_lie(&self, lie: &Lie) {
        let slug = self.chain.slug.clone();
        metrics::counter!("headwater_lies_total", "chain" => slug, "check" => lie.check)
            .increment(1);
    }
}
