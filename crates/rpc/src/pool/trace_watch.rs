//! The background task that probes one upstream for traces again while it is in doubt whether it traces.
//!
//! Apart from `watch`: a tracer may take long, and the head must be followed meanwhile.

use super::shared::Shared;
use crate::error::error_chain;
use crate::probe::{self, Failure, TraceDoubt, TraceProbe, Traces};
use crate::upstream_id::UpstreamId;
use std::sync::Arc;
use tasks::{TaskEnd, endless, keep_running};
use tokio::time::{Instant, sleep_until};

pub async fn keep(shared: Arc<Shared>, id: UpstreamId) {
    let tell = |end: TaskEnd| shared.watcher_ended(id, &end);
    let start = || endless(run(&shared, id));
    keep_running(shared.backoff(), || shared.is_closed(), start, tell).await;
}

async fn run(shared: &Shared, id: UpstreamId) {
    let mut changes = shared.changes();
    loop {
        changes.mark_unchanged();
        let due = shared.trace_probe_at(id);
        if due.is_some_and(|at| at <= Instant::now()) {
            probe(shared, id).await;
            continue;
        }
        let time = async {
            match due {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = time => {}
            changed = changes.changed() => if changed.is_err() { return },
        }
    }
}

async fn probe(shared: &Shared, id: UpstreamId) {
    let (Some(member), Some(able)) = (shared.member(id), shared.capabilities(id)) else { return };
    let Some(head) = shared.condition(id).and_then(|condition| condition.head) else { return };
    let choice = shared.expected(member).traces;
    let found = probe::probe_traces(&member.upstream, choice, &able, head.number).await;
    let undecided = |why| {
        let doubt = Some(TraceDoubt::Failed(why));
        TraceProbe { traces: Traces::None, old_blocks: false, doubt }
    };
    let found = found.unwrap_or_else(|failure| match failure {
        Failure::WrongChain { got } => undecided(format!("serves chain id {got}")),
        Failure::Useless(why) => undecided(why),
        Failure::Unreachable(error) => undecided(error_chain(&error)),
    });
    shared.traces_probed(id, found);
}
