//! Opens the store of the configuration; a store of an older format is upgraded with a bar.

use std::sync::Mutex;
use std::time::Duration;

use anyhow::Result;
use store::{Options, Store, UpgradeProgress};

use crate::config::{Settings, placed};
use crate::file_limit;
use crate::progress_bar::Bar;

/// As the configuration has it.
pub fn options(settings: &Settings) -> Options {
    let store = &settings.store;
    Options {
        memory_bytes: store.memory_bytes,
        journal_entries_min: store.journal_entries_min,
        free_bytes_min: Some(store.free_bytes_min).filter(|bytes| *bytes > 0),
        commit_stall: Duration::from_secs(store.commit_stall_s),
        url: store.url.clone(),
        connections_max: store.connections_max,
        open_files_max: Some(file_limit::plan(settings.node_files()).store_files),
        ..Options::new(&store.path)
    }
}

pub async fn open_store(settings: &Settings, durable: bool) -> Result<Store> {
    open(settings, Options { durable, ..options(settings) }).await
}

/// For a process that answers: views may be of read replicas.
pub async fn open_replicated_store(settings: &Settings) -> Result<Store> {
    let read_urls = settings.store.read_urls.clone();
    open(settings, Options { read_urls, ..options(settings) }).await
}

/// For commands that only look: a mistyped folder is an error, not a new store.
pub async fn open_existing_store(settings: &Settings) -> Result<Store> {
    open(settings, Options { create: false, ..options(settings) }).await
}

async fn open(settings: &Settings, options: Options) -> Result<Store> {
    let bar: Mutex<Option<Bar>> = Mutex::new(None);
    let progress = |now: UpgradeProgress| {
        let mut bar = bar.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let bar = bar.get_or_insert_with(|| {
            tracing::info!(
                from_format = now.from_format,
                to_format = now.to_format,
                "upgrading the store in place; an upgrade that is cut off goes on at the next start"
            );
            Bar::new("upgrade", now.total)
        });
        bar.set(now.done, now.total, 0);
    };
    let options = Options { placed: placed(settings)?, ..options };
    let store = Store::open(&options, progress).await?;
    if let Some(bar) = bar.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        bar.finish();
        tracing::info!("the store is upgraded");
    }
    // Keys of older builds are in a file beside it.
    let taken = api::keys::take_in_old_file(&store, &settings.store.path).await?;
    if taken > 0 {
        tracing::info!(keys = taken, "keys.json was imported into the store and renamed");
    }
    Ok(store)
}
