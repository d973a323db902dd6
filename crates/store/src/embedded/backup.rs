//! Writes every row of the store into the files of a backup, from one moment.

use alloy_primitives::B256;
use model::chain::ChainId;

use super::digest::ChainDigest;
use super::engine::Table;
use super::folder::WRITES_KEY;
use super::format::{FORMAT, FORMAT_KEY};
use super::frozen::Frozen;
use super::keys;
use super::open::Store;
use super::open_db::IDENTITY_KEY;
use super::read::View;
use super::segments::Kind;
use crate::Error;
use crate::backup::{
    BackupProgress, BackupRequest, ChainMoment, Manifest, RowsWriter, TableFile, UnfinishedFolder,
};

/// In the manifest.
pub const ENGINE: &str = "embedded";
/// The format is told by the manifest, and written last by whoever restores; the number of writes, the identity and the
/// set of index files are another folder's.
const OWN_KEYS: [&[u8]; 4] =
    [FORMAT_KEY.as_bytes(), WRITES_KEY, IDENTITY_KEY, keys::INDEX_FILES_VERSION];
/// How bodies and new index rows lie in this folder. A backup has their rows, as tables had them before there were
/// segments, and the counts of all wallets: any build that reads those can make a store of it, and lays them out its
/// own way.
const LAYOUT: [&str; 6] =
    ["bodies", "unfrozen", "segments", "dictionaries", "index_runs", "index_files"];
/// Rows between two looks at whether somebody said stop.
const ROWS_AT_ONCE: u64 = 4096;

impl Store {
    pub fn backup(
        &self,
        request: &BackupRequest,
        progress: &BackupProgress,
    ) -> Result<Manifest, Error> {
        let folder = UnfinishedFolder::create(&request.folder)?;
        let frozen = Frozen::of(self)?;
        // Where there are no links, a snapshot must do: what is written meanwhile then costs memory.
        let view = match frozen.as_ref().and_then(Frozen::view) {
            Some(view) => view?,
            None => self.view()?,
        };
        let manifest = Copy { view: &view, folder: &folder, progress }.run(request)?;
        drop(view);
        drop(frozen);
        folder.finish()?;
        Ok(manifest)
    }
}

struct Copy<'a> {
    view: &'a View,
    folder: &'a UnfinishedFolder,
    progress: &'a BackupProgress,
}

impl Copy<'_> {
    fn run(&self, request: &BackupRequest) -> Result<Manifest, Error> {
        let tables = self.view.tables.all();
        self.progress.begin(tables.iter().map(|(_, table)| table.rows()).sum());
        let mut manifest = Manifest::new(ENGINE, FORMAT, request.taken_at.clone());
        let mut digests = Vec::new();
        for chain in self.view.chains()? {
            digests.push((chain, ChainDigest::new(self.view, chain)?));
        }
        for (name, table) in tables.into_iter().filter(|(name, _)| !LAYOUT.contains(name)) {
            let file = self.table(name, table, &mut digests)?;
            manifest.tables.push(file);
        }
        for (chain, digest) in digests {
            manifest.chains.push(moment(self.view, chain, digest.finish())?);
        }
        manifest.write(self.folder.path())?;
        Ok(manifest)
    }

    fn table(
        &self,
        name: &'static str,
        table: &Table,
        digests: &mut [(ChainId, ChainDigest)],
    ) -> Result<TableFile, Error> {
        let mut file = RowsWriter::create(self.folder.path(), name)?;
        let mut counted: Vec<(Vec<u8>, &mut ChainDigest)> = digests
            .iter_mut()
            .filter_map(|(_, digest)| digest.begin(name).map(|prefix| (prefix, digest)))
            .collect();
        let mut rows = 0;
        let mut put = |key: &[u8], value: &[u8]| {
            if name == "meta" && is_own(key) {
                return Ok(());
            }
            for (prefix, digest) in &mut counted {
                if let Some(rest) = key.strip_prefix(prefix.as_slice()) {
                    digest.add(name, rest, value)?;
                }
            }
            file.put(key, value)?;
            rows += 1;
            if rows == ROWS_AT_ONCE {
                self.progress.add(std::mem::take(&mut rows));
                self.progress.check(self.folder.path())?;
            }
            Ok::<(), Error>(())
        };
        if let Some(kind) = Kind::of_table(name) {
            for row in self.view.body_rows(kind, &[]) {
                let (key, value) = row?;
                put(&key, &value)?;
            }
        } else if name == "wallet_counts" {
            for row in self.view.all_wallet_counts(&[]) {
                let (key, count) = row?;
                put(&key, &count.pack())?;
            }
        } else {
            for item in self.view.snapshot.iter(table) {
                let (key, value) = item.into_inner()?;
                put(&key, &value)?;
            }
        }
        self.progress.add(rows);
        file.finish()
    }
}

fn is_own(key: &[u8]) -> bool {
    OWN_KEYS.contains(&key) || key.starts_with(keys::FOLDED)
}

/// What a manifest says of a chain.
pub fn moment(view: &View, chain: ChainId, digest: B256) -> Result<ChainMoment, Error> {
    let head = view.head(chain)?.ok_or(Error::Broken { what: "head" })?;
    let version = view.version(chain)?;
    Ok(ChainMoment {
        id: chain.0,
        head_number: head.number,
        head_hash: head.hash.to_string(),
        coverage: view.coverage(chain)?.to_string(),
        journal_seq: version.seq,
        generation: version.generation,
        digest: digest.to_string(),
    })
}
