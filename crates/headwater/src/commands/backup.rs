//! `headwater backup DIR`: the store of a data folder as it is at one moment. Where a server runs on it,
//! that server copies, and the command shows its progress.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use api::{BackupOrder, BackupState, BackupStatus};
use model::chain::ChainTable;
use store::{BackupProgress, BackupRequest, Manifest, Store};

use super::run_async;
use crate::admin::{Client, StoreAccess};
use crate::cli::BackupArgs;
use crate::config::{Flags, Settings, table};
use crate::progress_bar::Bar;
use crate::{say, telemetry};

const LOOK_EVERY: Duration = Duration::from_millis(100);

pub fn run(args: &BackupArgs) -> Result<ExitCode> {
    let settings = Settings::load(&Flags::from(&args.place))?;
    telemetry::logs(&settings.log)?;
    let table = table(&settings)?;
    let data = &settings.store.path;
    anyhow::ensure!(data.is_dir(), "there is no data folder {}", data.display());
    // The server may have been started anywhere.
    let folder = std::path::absolute(&args.folder)
        .with_context(|| format!("the folder {}", args.folder.display()))?;
    run_async(async {
        let manifest = match StoreAccess::to(&settings).await? {
            StoreAccess::Store(store) => here(&store, &folder).await?,
            StoreAccess::Server(server) => there(&server, &folder).await?,
        };
        say(&format!("{} holds the store as it was at {}", folder.display(), manifest.taken_at))?;
        tell(&manifest, &table)?;
        Ok(ExitCode::SUCCESS)
    })
}

/// The moment that a backup holds, a line for each chain.
pub fn tell(manifest: &Manifest, table: &ChainTable) -> Result<()> {
    for chain in &manifest.chains {
        let known = table.get(model::chain::ChainId(chain.id));
        let name = known.map_or_else(|| format!("chain-{}", chain.id), |known| known.slug.clone());
        say(&format!(
            "{name}: head {} {}, blocks {}, journal {}, digest {}",
            chain.head_number, chain.head_hash, chain.coverage, chain.journal_seq, chain.digest
        ))?;
    }
    Ok(())
}

/// In this process.
async fn here(store: &Store, folder: &Path) -> Result<Manifest> {
    let progress = Arc::new(BackupProgress::default());
    let taken_at = api::date::iso_millis_utc(api::clock::now_s());
    let request = BackupRequest { folder: folder.to_owned(), taken_at };
    with_bar("backup", &progress, store.backup(request, progress.clone())).await
}

pub async fn with_bar(
    what: &str,
    progress: &BackupProgress,
    work: impl Future<Output = Result<Manifest, store::Error>>,
) -> Result<Manifest> {
    let bar = Bar::of("rows", what, 0);
    tokio::pin!(work);
    loop {
        tokio::select! {
            outcome = &mut work => return Ok(outcome?),
            () = tokio::time::sleep(LOOK_EVERY) => {
                bar.set(progress.rows(), progress.rows_total(), 0);
            }
        }
    }
}

/// In the server that has the data folder.
async fn there(server: &Client, folder: &Path) -> Result<Manifest> {
    let order = BackupOrder { folder: folder.to_owned() };
    server.order("/admin/v1/backup", &order).await?;
    let bar = Bar::of("rows", "backup", 0);
    loop {
        let status: Result<BackupStatus> = server.get("/admin/v1/backup").await;
        let status = status.context("the server went away, and the backup with it")?;
        bar.set(status.rows_done, status.rows_total, 0);
        match (status.state, status.manifest) {
            (BackupState::Done, Some(manifest)) => return Ok(manifest),
            (BackupState::Running, _) => tokio::time::sleep(LOOK_EVERY).await,
            _ => anyhow::bail!("{}", status.error.unwrap_or_else(|| "no backup was made".into())),
        }
    }
}
