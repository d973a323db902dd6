//! Taking a backup of a store, and making a store of one.

use std::path::Path;
use std::sync::Arc;

use crate::Error;
use crate::backup::{BackupProgress, BackupRequest, Manifest, refuse};
use crate::options::Options;
use crate::store::{Engine, Store};
use crate::{embedded, postgres};

/// What PostgreSQL brings along is what its operators know.
const USE_ITS_OWN: &str = "use the database's own tools: pg_dump, or pg_basebackup with archived WAL \
     (docs/operating.md)";

impl Store {
    /// Copies everything as it is now. Commits wait only while the moment is taken; what is written
    /// later is not part of it. On disk when this returns; a backup that fails leaves no folder.
    pub async fn backup(
        &self,
        request: BackupRequest,
        progress: Arc<BackupProgress>,
    ) -> Result<Manifest, Error> {
        match &self.engine {
            Engine::Embedded(store) => {
                store.run(move |store| store.backup(&request, &progress)).await
            }
            Engine::Postgres(_) => Err(postgres::not_offered("take a backup", USE_ITS_OWN)),
        }
    }

    /// Makes a store of a backup in an empty folder, reads it back, and holds it against the manifest.
    pub async fn restore(
        options: &Options,
        from: &Path,
        progress: Arc<BackupProgress>,
    ) -> Result<Manifest, Error> {
        if !options.url.is_empty() {
            return Err(postgres::not_offered("restore a backup", USE_ITS_OWN));
        }
        let (options, from) = (options.clone(), from.to_owned());
        let place = options.path.clone();
        let work = move || embedded::restore(&options, &from, &progress);
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|stopped| Err(refuse(&place, format!("was not filled: {stopped}"))))
    }
}
