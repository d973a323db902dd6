//! `headwater serve`: reads the configured chains and answers requests until told to stop.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;

use super::config;
use super::signals::stop_asked;
use super::watchdog::Watchdog;
use crate::cli::{Role, ServeArgs};
use crate::config::{Flags, Settings};
use crate::otlp::Exporter;
use crate::progress_bar::Bar;
use crate::server::{IngestSlot, Server, shown};
use crate::telemetry::Metrics;
use crate::{log_writer, say, telemetry, told};

/// How long a server may take to stop in order: one that failed in all, one that was told to after its clients are gone.
const STOP_MAX: Duration = Duration::from_secs(20);

/// How long until a database that was away is tried again.
const DATABASE_PAUSE: Duration = Duration::from_secs(1);

pub fn run(args: &ServeArgs) -> Result<ExitCode> {
    let settings = Settings::load(&Flags::from(args))?;
    let traces = telemetry::logs_and_traces(&settings)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    // Until the end of this function: what hangs may do so only then.
    let mut watchdog = None;
    let mut has_failed = false;
    let served = runtime.block_on(async {
        let stop = stop_asked()?;
        // Before the store is opened: a configuration that is refused has started nothing.
        config::check(&settings)?;
        let traces = traces.map(Exporter::spawn);
        let mut server = started(&settings, args.role).await?;
        for address in &server.addresses {
            // A stdout that is closed is no reason not to serve.
            let _ = say(&format!("headwater listens on http://{address}"));
        }
        tracing::info!(data = %shown(&settings.store.path), chains = settings.chains.len(), "started");
        let bars: Vec<_> = server.ingests.iter().map(|i| tokio::spawn(show(i.clone()))).collect();
        let failure = tokio::select! {
            () = stop => None,
            error = server.failed() => Some(error),
        };
        bars.iter().for_each(tokio::task::JoinHandle::abort);
        let Some(error) = failure else {
            tracing::info!("stopping");
            let listen = &settings.listen;
            let clients = Duration::from_millis(listen.drain_notice_ms + listen.drain_timeout_ms);
            watchdog = Some(Watchdog::start(clients + STOP_MAX, end_at_once)?);
            let stopped = server.stop().await;
            if let Some(traces) = traces {
                traces.stop().await;
            }
            return stopped;
        };
        tracing::error!(%error, "stopping: this process cannot go on");
        // Before anything that may hang as what has failed does.
        eprintln!("headwater: {}", told(&error));
        log_writer::flush();
        has_failed = true;
        watchdog = Some(Watchdog::start(STOP_MAX, end_at_once)?);
        let _ = tokio::time::timeout(STOP_MAX, server.stop()).await;
        Ok(())
    });
    // A write that hangs would be waited for here.
    runtime.shutdown_timeout(STOP_MAX);
    drop(watchdog);
    served.map(|()| if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Waits for a database that is away or starting; whatever else is wrong ends the process.
async fn started(settings: &Settings, role: Role) -> Result<Server> {
    let metrics = Metrics::start()?;
    loop {
        let error = match Server::start(settings, role, &metrics).await {
            Ok(server) => return Ok(server),
            Err(error) => error,
        };
        let cause = error.downcast_ref::<store::Error>();
        if settings.store.url.is_empty() || !cause.is_some_and(store::Error::is_retryable) {
            return Err(error);
        }
        tracing::warn!(%error, "waiting for the database");
        tokio::time::sleep(DATABASE_PAUSE).await;
    }
}

fn end_at_once() {
    tracing::error!("it does not stop in order, and ends now");
    log_writer::flush();
    std::process::exit(1);
}

/// The filling of a chain's history, from when it starts until it is done.
async fn show(slot: Arc<IngestSlot>) {
    let mut bar: Option<Bar> = None;
    let mut history = History::default();
    let mut tick = tokio::time::interval(Duration::from_millis(500));
    loop {
        tick.tick().await;
        let Some(ingest) = slot.running() else {
            (bar, history) = (None, History::default());
            continue;
        };
        let now = ingest.progress.snapshot();
        if now.history_ends_at.is_some() {
            // Nothing is filled until some node has more.
            bar = None;
            continue;
        }
        match history.step(now.blocks_missing) {
            Step::Nothing => {}
            Step::Filling => {
                let total = now.blocks_applied + now.blocks_missing;
                let bar = bar.get_or_insert_with(|| Bar::new(&ingest.chain.slug, total));
                bar.set(now.blocks_applied, total, now.transactions_applied);
            }
            Step::Complete => {
                bar = None;
                tracing::info!(chain = %ingest.chain.slug, from_block = ingest.from_block, "history is complete");
            }
        }
    }
}

/// A head that is this far above the store is caught up with by following; only a wider gap is history
/// again.
const FOLLOW_GAP_BLOCKS: u64 = 64;

/// Tells history that is being filled from the few blocks that are missing between two heads.
#[derive(Default)]
struct History {
    is_filling: bool,
    was_complete: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Step {
    Nothing,
    Filling,
    /// Said once each time it was filled.
    Complete,
}

impl History {
    fn step(&mut self, blocks_missing: u64) -> Step {
        if blocks_missing == 0 {
            let has_ended = std::mem::take(&mut self.is_filling);
            self.was_complete |= has_ended;
            return if has_ended { Step::Complete } else { Step::Nothing };
        }
        self.is_filling |= !self.was_complete || blocks_missing > FOLLOW_GAP_BLOCKS;
        if self.is_filling { Step::Filling } else { Step::Nothing }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn history_is_complete_once_and_not_after_every_block() {
        let mut history = History::default();
        let mut steps = |missing: &[u64]| -> Vec<Step> {
            missing.iter().map(|blocks| history.step(*blocks)).collect()
        };
        use Step::{Complete, Filling, Nothing};
        assert_eq!(steps(&[0, 3, 1, 0]), [Nothing, Filling, Filling, Complete], "a short history");
        assert_eq!(steps(&[1, 0, 64, 0]), [Nothing, Nothing, Nothing, Nothing], "following");
        assert_eq!(steps(&[65, 2, 0]), [Filling, Filling, Complete], "after a long stop");
    }
}
