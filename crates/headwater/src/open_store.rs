//! Opens the store of the configuration; a store of an older format is upgraded with a bar.

use std::sync::Mutex;

use anyhow::Result;
use store::{Options, Store, UpgradeProgress};

use crate::config::Settings;
use crate::file_limit;
use crate::progress_bar::Bar;

pub async fn open_store(settings: &Settings, durable: bool) -> Result<Store> {
    let mut options = Options::new(&settings.store.path);
    options.cache_bytes = settings.store.cache_bytes;
    options.journal_entries_min = settings.store.journal_entries_min;
    options.durable = durable;
    options.open_files_max = Some(file_limit::plan(settings.node_files()).store_files);
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
