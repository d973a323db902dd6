//! `headwater serve`: reads the configured chains and answers requests until told to stop.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use ingest::ChainIngest;

use super::signals::stop_asked;
use crate::cli::{Role, ServeArgs};
use crate::config::{Flags, Settings};
use crate::progress_bar::Bar;
use crate::server::{Server, shown};
use crate::{say, telemetry};

pub fn run(args: &ServeArgs) -> Result<ExitCode> {
    let settings = Settings::load(&Flags::from(args))?;
    telemetry::logs(&settings.log)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let stop = stop_asked()?;
        let server = Server::start(&settings, args.role == Role::All).await?;
        for address in &server.addresses {
            say(&format!("headwater listens on http://{address}"))?;
        }
        tracing::info!(data = %shown(&settings.store.path), chains = settings.chains.len(), "started");
        let bars: Vec<_> = server.ingests.iter().map(|i| tokio::spawn(show(i.clone()))).collect();
        stop.await;
        tracing::info!("stopping");
        bars.iter().for_each(tokio::task::JoinHandle::abort);
        server.stop().await
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The filling of a chain's history, from when it starts until it is done.
async fn show(ingest: Arc<ChainIngest>) {
    let mut bar: Option<Bar> = None;
    let mut tick = tokio::time::interval(Duration::from_millis(500));
    loop {
        tick.tick().await;
        let now = ingest.progress.snapshot();
        if now.blocks_missing == 0 {
            if let Some(bar) = bar.take() {
                bar.finish();
                tracing::info!(chain = %ingest.chain.slug, from_block = ingest.from_block, "history is complete");
            }
            continue;
        }
        let total = now.blocks_applied + now.blocks_missing;
        let bar = bar.get_or_insert_with(|| Bar::new(&ingest.chain.slug, total));
        bar.set(now.blocks_applied, total, now.transactions_applied);
    }
}
