//! A store in a folder of memory, filled from a simulated chain, and copies of that folder.

use std::ops::Range;
use std::path::{Path, PathBuf};

use alloy_primitives::Address;
use model::token::{Source, Token};
use store::{ApiKey, Change, Error, Options, Origin, Reader, ReaderRow, Role, Start, Store};
use tempfile::TempDir;
use testkit::{SimChain, SimConfig};

use crate::sim_block::{CHAIN, verified};

pub fn options(path: &Path) -> Options {
    Options { memory_bytes: 32 << 20, ..Options::new(path) }
}

pub async fn open(path: &Path) -> Result<Store, Error> {
    Store::open(&options(path), |_| ()).await
}

/// In memory where there is such a place: opening a store waits for the disk many times.
pub fn scratch() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = memory.is_dir().then(|| tempfile::tempdir_in(memory).ok()).flatten();
    made.unwrap_or_else(|| tempfile::tempdir().unwrap())
}

pub fn chain(blocks: usize) -> SimChain {
    let config = SimConfig { txs_per_block: 6, wallets: 12, ..SimConfig::seeded(7) };
    let mut chain = SimChain::new(config);
    chain.extend(blocks);
    chain
}

/// The blocks `from..to`, each a commit of its own.
pub async fn apply(store: &Store, chain: &SimChain, from: usize, to: usize) -> Result<(), Error> {
    apply_as(Origin::Head, store, chain, from..to).await
}

pub async fn apply_as(
    origin: Origin,
    store: &Store,
    chain: &SimChain,
    blocks: Range<usize>,
) -> Result<(), Error> {
    for block in &chain.blocks()[blocks] {
        let prepared = store.prepare(CHAIN, verified(chain, block.hash));
        store.commit(CHAIN, Change::apply(origin, vec![prepared])).await?;
    }
    Ok(())
}

/// Of everything something, part of it in tables and part of it in the log.
pub async fn fill(path: &Path, chain: &SimChain) {
    let store = open(path).await.unwrap();
    let half = chain.blocks().len() / 2;
    // These lie in segments, the others in the engine.
    apply_as(Origin::History, &store, chain, 0..half).await.unwrap();
    store.secret("cursor", || [7; 32]).await.unwrap();
    let name = Some("Coin".to_owned());
    let token = Token { name, symbol: None, decimals: Some(7), source: Source::Contract };
    store.put_token(CHAIN, Address::repeat_byte(1), &token).await.unwrap();
    store.compact().await.unwrap();
    apply(&store, chain, half, chain.blocks().len()).await.unwrap();
    let key = ApiKey {
        id: "one".to_owned(),
        hash: [1; 32],
        tenant: "ours".to_owned(),
        name: "a key".to_owned(),
        role: Role::Admin,
        created_at: 1,
        units_per_second: None,
        methods: store::MethodRules::default(),
    };
    store.put_api_key(&key).await.unwrap();
    let mut reader = Reader::open(&store, "reader", CHAIN, Start::Block(2)).await.unwrap();
    while let Some(event) = reader.next().await.unwrap() {
        let key = event.number.to_be_bytes().to_vec();
        let row = ReaderRow { key, value: Some(event.hash.to_vec()) };
        reader.commit(event.cursor, vec![row]).await.unwrap();
    }
}

/// All that the store says, as text: two that say the same here answer the same.
pub async fn answers(store: &Store) -> Result<String, Error> {
    let view = store.view().await?;
    let mut all = vec![format!("{:?}", view.chains().await?)];
    let coverage = view.coverage(CHAIN).await?;
    all.push(format!("{coverage} {:?}", view.version(CHAIN).await?));
    all.push(view.digest(CHAIN).await?.to_string());
    all.push(format!("{:?}", view.generations(CHAIN).await?));
    all.push(format!("{:?}", view.journal_after(CHAIN, 0, 10_000).await?));
    all.push(format!("{:?}", view.readers(CHAIN).await?));
    all.push(format!("{:?}", view.reader_rows(CHAIN, "reader", b"", 10_000).await?));
    all.push(format!("{:?}", view.token(CHAIN, Address::repeat_byte(1)).await?));
    all.push(format!("{:?}", view.pools_of(CHAIN, Address::repeat_byte(0xd0)).await?));
    for (from, to) in coverage.ranges() {
        for number in *from..=*to {
            all.push(format!("{:?}", view.whole_block(CHAIN, number).await?));
        }
    }
    drop(view);
    all.push(format!("{:?}", store.api_keys().await?));
    all.push(format!("{:?}", store.secret("cursor", || [0; 32]).await?));
    Ok(all.join("\n"))
}

pub fn files_of(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_of(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

pub use crate::copy_folder::copy_folder as copy;

/// The newest file of the log.
pub fn log_of(folder: &Path) -> PathBuf {
    let is_log = |path: &PathBuf| path.extension().is_some_and(|it| it == "jnl");
    files_of(folder).into_iter().rfind(is_log).unwrap()
}
