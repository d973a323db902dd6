//! All upstreams of one chain, used as one.
//!
//! `condition` is what is known of each, `watch` keeps that fresh in the background, `pick` chooses,
//! `ask` sends what ingest wants and fails over, `forward` what clients want. Lying is for ingest to notice: see [`Pool::report_lie`].

mod ask;
mod client_record;
mod clients;
mod condition;
mod forward;
mod health;
mod hedges;
mod inspect;
mod pending;
mod pick;
mod shared;
mod standing;
mod status;
mod trace_watch;
mod watch;

pub use ask::{Fetch, Fetched, Plan};
pub use condition::Evidence;
pub use forward::{Forward, Forwarded, ForwardedTogether, Repeat, Route};
pub use health::State;
pub use inspect::{NodeFindings, NodeOutcome, NodeReport, Subscription};
pub use pending::PendingTransactions;
pub use pick::{Needs, RECENT_BLOCKS};
pub use status::{
    ErrorStatus, EvidenceStatus, HeadStatus, MethodStatus, PoolStatus, UpstreamStatus,
};

use crate::budget::ByteBudget;
use crate::call::Call;
use crate::config::{PoolConfig, UpstreamConfig};
use crate::error::Error;
use crate::head::Head;
use crate::lane::Lane;
use crate::probe::Capabilities;
use crate::upstream_id::UpstreamId;
use alloy_primitives::B256;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use shared::{Choice, Shared};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch::Receiver;
use tokio::task::JoinSet;
use tokio::time::Instant;

pub struct PoolOptions {
    pub chain_id: u64,
    /// The chain's name in logs, metrics and errors.
    pub chain_label: String,
    pub upstreams: Vec<UpstreamConfig>,
    pub config: PoolConfig,
    /// How often to look for a new head where there is no socket; about the chain's block time.
    pub poll_interval: Duration,
}

/// What is asked of nodes. Boxed, so that all of it is compiled here: an async function is compiled anew in every
/// crate that awaits it, with all that it awaits.
pub type Asked<'a, T> = BoxFuture<'a, Result<T, Error>>;

pub struct Pool {
    shared: Arc<Shared>,
    /// Ends with the pool: dropping the set aborts its tasks.
    tasks: Mutex<JoinSet<()>>,
}

impl Pool {
    /// Starts watching; must be called inside a tokio runtime. Fails only on a configuration that
    /// can never work.
    pub fn start(options: PoolOptions) -> Result<Arc<Self>, Error> {
        let shared = Arc::new(Shared::new(options)?);
        let mut tasks = JoinSet::new();
        for id in shared.ids() {
            tasks.spawn(watch::keep(shared.clone(), id));
            tasks.spawn(trace_watch::keep(shared.clone(), id));
        }
        Ok(Arc::new(Self { shared, tasks: Mutex::new(tasks) }))
    }

    /// Whether a pool could be started with these: refuses exactly what `start` does.
    pub fn check(options: PoolOptions) -> Result<(), Error> {
        Shared::new(options).map(drop)
    }

    /// Looks at each node once, without a pool: for an operator who asks whether they will do.
    pub fn inspect(options: PoolOptions) -> Asked<'static, Vec<NodeReport>> {
        inspect::inspect(options).boxed()
    }

    /// The best head over the healthy upstreams, as it is: it can go down or sideways, and
    /// consumers find reorgs by hash. Keeps its last value while nobody is healthy.
    pub fn heads(&self) -> Receiver<Option<Head>> {
        self.shared.heads()
    }

    /// Sends calls to one upstream that fits, failing over on what another might do better. A
    /// `null` is an answer; whoever expects a block asks again with `not`.
    pub fn fetch<'a>(&'a self, fetch: Fetch<'a>) -> Asked<'a, Fetched> {
        async move { ask::ask(&self.shared, &fetch, None).await }.boxed()
    }

    /// The same for calls that depend on the upstream: methods differ between nodes.
    pub fn fetch_planned<'a>(&'a self, plan: Plan<'a>) -> Asked<'a, Fetched> {
        async move { ask::ask_planned(&self.shared, &plan, None).await }.boxed()
    }

    /// One call of a user. The node's errors pass unchanged; transport failures go to the next.
    pub fn forward<'a>(&'a self, forward: impl Into<Forward<'a>>) -> Asked<'a, Forwarded> {
        self.forward_one(forward.into())
    }

    fn forward_one<'a>(&'a self, forward: Forward<'a>) -> Asked<'a, Forwarded> {
        forward::forward(&self.shared, forward).boxed()
    }

    /// The same, with the head of the node that answered, where it said so.
    pub fn forward_with_head<'a>(
        &'a self,
        forward: Forward<'a>,
    ) -> Asked<'a, (Forwarded, Option<u64>)> {
        forward::forward_with_head(&self.shared, forward).boxed()
    }

    /// Several calls of a user, answered by one upstream. What it refuses is not asked of another.
    pub fn forward_together<'a>(
        &'a self,
        calls: &'a [Call],
        route: Route<'a>,
        batch: Option<&'a Arc<ByteBudget>>,
    ) -> Asked<'a, ForwardedTogether> {
        forward::forward_together(&self.shared, calls, route, batch).boxed()
    }

    /// For writes: a second node is asked only when the first certainly did not take it, or where that does
    /// no harm.
    pub fn forward_once<'a>(
        &'a self,
        forward: impl Into<Forward<'a>>,
        repeat: Repeat,
    ) -> Asked<'a, Forwarded> {
        self.write_one(forward.into(), repeat)
    }

    fn write_one<'a>(&'a self, forward: Forward<'a>, repeat: Repeat) -> Asked<'a, Forwarded> {
        forward::forward_once(&self.shared, forward, repeat).boxed()
    }

    /// Pending transactions, whole or by their hashes, as an upstream that has a socket tells them.
    pub async fn pending_transactions(&self, whole: bool) -> Result<PendingTransactions, Error> {
        pending::subscribe(&self.shared, whole).await
    }

    /// Whether any upstream that is not left out fits these needs now.
    pub fn can(&self, needs: &Needs) -> bool {
        self.shared.pick(Choice { needs, lane: Lane::History }, &[]).is_some()
    }

    pub fn capabilities(&self, id: UpstreamId) -> Option<Capabilities> {
        self.shared.capabilities(id)
    }

    pub fn upstreams(&self) -> Vec<UpstreamId> {
        self.shared.ids().collect()
    }

    /// Those that are in use, in the order in which a client's call would go to them.
    pub fn ranked(&self, needs: &Needs) -> Vec<UpstreamId> {
        let choice = Choice { needs, lane: Lane::Interactive };
        let mut ranked = Vec::new();
        while let Some(id) = self.shared.best(choice, &ranked, Instant::now()) {
            ranked.push(id);
        }
        ranked
    }

    /// Everyone but the one who is to be asked.
    pub fn others(&self, one: UpstreamId) -> Vec<UpstreamId> {
        self.shared.ids().filter(|id| *id != one).collect()
    }

    /// Changes whenever an upstream comes into use or goes out of it.
    pub fn changes(&self) -> Receiver<u64> {
        self.shared.changes()
    }

    /// Whether this is a chain of the operator's own that bears the id of a public one: its nodes are on this
    /// machine or in the private network, and their block 0 is not the public chain's.
    pub fn is_dev_chain(&self, genesis: B256) -> bool {
        self.shared.is_dev_chain(genesis)
    }

    /// Whether all of its nodes are on this machine or in the private network, as those of dev chains are.
    pub fn are_all_near(&self) -> bool {
        self.shared.are_all_near()
    }

    /// The oldest block that an upstream in use can trace; none where none traces.
    pub fn traceable_from(&self) -> Option<u64> {
        self.shared.traceable_from()
    }

    /// How an upstream is called in logs; never its whole URL.
    pub fn label(&self, id: UpstreamId) -> &str {
        self.shared.label(id)
    }

    /// From now on a head counts only when its block was given (`delivered`): whoever follows the heads says so.
    pub fn expect_deliveries(&self) {
        self.shared.expect_deliveries();
    }

    /// This block was given by the upstream and verified; it counts for everybody whose head it is.
    pub fn delivered(&self, id: UpstreamId, number: u64, hash: B256) {
        self.shared.delivered(id, number, hash);
    }

    /// It announced this block and did not give it. Others' heads come first for a while, longer each time; one
    /// that goes on is left out, unless it is alone.
    pub fn not_delivered(&self, id: UpstreamId, number: u64) {
        self.shared.not_delivered(id, number);
    }

    /// Others' heads come first for so long: what this one announced has to be looked into.
    pub fn doubt(&self, id: UpstreamId, pause: Duration) {
        self.shared.doubt(id, pause);
    }

    /// The number of the best head, as far as it was given; zero before there is one.
    pub fn head_number(&self) -> u64 {
        let announced = self.shared.heads().borrow().map_or(0, |head| head.number);
        match self.shared.newest_delivered() {
            Some(given @ 1..) => announced.min(given),
            _ => announced,
        }
    }

    /// Asks the upstream once more which chain it serves; one that serves another by now is left out.
    pub async fn check_chain(&self, id: UpstreamId) -> Result<(), Error> {
        watch::check_chain(&self.shared, id).await
    }

    /// Verification caught this upstream: it is left out, with the evidence kept for /status.
    pub fn report_lie(&self, id: UpstreamId, evidence: Evidence) {
        self.shared.report_lie(id, evidence);
    }

    /// It answered a client's call with what is not true: clients' calls go elsewhere for a while, if they can, and
    /// the evidence is kept for /status. Ingest verifies for itself.
    pub fn distrust(&self, id: UpstreamId, evidence: Evidence) {
        self.shared.distrust(id, evidence);
    }

    /// For /status alone: the upstream stays in use.
    pub fn keep_evidence(&self, id: UpstreamId, evidence: Evidence) {
        self.shared.keep_evidence(id, evidence);
    }

    /// Sends nothing more to this upstream; what is under way ends.
    pub fn drain(&self, id: UpstreamId) {
        self.shared.drain(id);
    }

    /// Probes it at once, whatever left it out: a drain, failures, lies.
    pub fn retry(&self, id: UpstreamId) {
        self.shared.try_again(id);
    }

    pub fn status(&self) -> PoolStatus {
        status::of(&self.shared)
    }

    /// Stops watching; calls under way end as they will, new ones fail.
    pub fn shutdown(&self) {
        self.shared.close();
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
    }
}
