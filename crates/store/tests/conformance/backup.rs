//! A backup is the store at one moment, whatever is written meanwhile, and comes back as that or not at
//! all.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use alloy_primitives::Address;
use model::token::{Source, Token};
use store::{
    ApiKey, BackupProgress, BackupRequest, ChainMoment, Change, Error, Manifest, Origin, Reader,
    Role, Start,
};
use tempfile::TempDir;
use testkit::SimChain;

use crate::chain::*;
use crate::engine::{Choices, Engine, on_the_embedded_engine};
use crate::home::{Home, scratch};

on_the_embedded_engine!(
    a_restored_backup_is_the_store_at_that_moment,
    backups_are_whole_while_blocks_come_and_go,
    a_backup_goes_into_a_new_folder_that_its_owner_alone_can_read,
    a_backup_that_is_stopped_leaves_nothing,
    damage_is_named_and_nothing_is_restored,
    a_store_is_restored_into_an_empty_folder_only,
);

async fn take(home: &Home, folder: &Path) -> Result<Manifest, Error> {
    let request = BackupRequest { folder: folder.to_owned(), taken_at: "now".into() };
    home.store().backup(request, Arc::default()).await
}

/// The only chain's.
fn moment(manifest: &Manifest) -> &ChainMoment {
    let [chain] = manifest.chains.as_slice() else { panic!("{manifest:?}") };
    assert_eq!(chain.id, CHAIN.0);
    chain
}

async fn a_restored_backup_is_the_store_at_that_moment(engine: Engine) {
    let mut chain = chain(71, 30);
    let home = Home::indexed(engine, &chain).await;
    let old = chain.head_number();
    chain.reorg(3, 5);
    let revert = (old - 2..=old).rev().collect();
    let apply = (old - 2..=chain.head_number()).map(|number| home.at(&chain, number)).collect();
    home.commit(Change { revert, ..Change::apply(Origin::Head, apply) }).await.unwrap();
    let key = ApiKey {
        id: "one".into(),
        hash: [7; 32],
        tenant: "ours".into(),
        name: "ci".into(),
        role: Role::Admin,
        created_at: 5,
        units_per_second: None,
        methods: store::MethodRules::default(),
    };
    home.store().put_api_key(&key).await.unwrap();
    home.store().secret("cursor", || [9; 32]).await.unwrap();
    let token = Token { name: None, symbol: None, decimals: Some(7), source: Source::Contract };
    home.store().put_token(CHAIN, Address::repeat_byte(1), &token).await.unwrap();
    let mut reader = Reader::open(home.store(), "r", CHAIN, Start::Block(3)).await.unwrap();
    let event = reader.next().await.unwrap().unwrap();
    reader.commit(event.cursor, Vec::new()).await.unwrap();
    let (digest, seq) = (home.digest().await, home.seq().await);

    let scratch = scratch();
    let manifest = take(&home, &scratch.path().join("backup")).await.unwrap();
    // What comes later is not in it.
    home.revert(vec![chain.head_number()]).await.unwrap();
    home.store().remove_api_key("one").await.unwrap();
    let told = moment(&manifest);
    assert_eq!(told.digest, digest.to_string());
    assert_eq!(told.head_hash, chain.head().hash.to_string());
    assert_eq!((told.head_number, told.journal_seq), (chain.head_number(), seq));
    assert_eq!(told.coverage, format!("0-{}", chain.head_number()));
    assert!(manifest.rows() > 100);

    let (backup, place) = (scratch.path().join("backup"), scratch.path().join("elsewhere"));
    assert_eq!(engine.restore(&backup, &place).await.unwrap(), manifest);
    let store = engine.open(&place, Choices::default()).await.unwrap();
    let view = store.view().await.unwrap();
    assert_eq!(view.digest(CHAIN).await.unwrap(), digest);
    assert_eq!(view.version(CHAIN).await.unwrap().seq, seq);
    assert_eq!(view.journal_after(CHAIN, 0, usize::MAX).await.unwrap().len() as u64, seq);
    assert_eq!(view.token(CHAIN, Address::repeat_byte(1)).await.unwrap(), Some(token));
    assert_eq!(store.api_keys().await.unwrap(), [key]);
    assert_eq!(store.secret("cursor", || panic!("it is known")).await.unwrap(), [9; 32]);
    let mut reader = Reader::open(&store, "r", CHAIN, Start::Head).await.unwrap();
    assert_eq!(reader.next().await.unwrap().unwrap().number, 4, "it goes on where it was");
    // And it is written to as any other.
    let apply =
        store.prepare(CHAIN, empty_block_on(chain.head().hash, told.head_number + 1, digest));
    store.commit(CHAIN, Change::apply(Origin::Head, vec![apply])).await.unwrap();
}

/// Reverts and applies the newest blocks until it is told to stop; says how often.
async fn write_on(home: &Home, chain: &SimChain, stop: &AtomicBool) -> usize {
    let head = chain.head_number();
    let mut rounds = 0;
    while !stop.load(Ordering::Relaxed) || rounds < 5 {
        let depth = 1 + rounds as u64 % 7;
        home.revert((head - depth..=head).rev().collect()).await.unwrap();
        let apply = (head - depth..=head).map(|number| home.at(chain, number)).collect();
        home.apply(apply).await.unwrap();
        if rounds % 9 == 4 {
            // Buffers become table files, and files are merged and removed, under the backup's hands.
            home.store().compact().await.unwrap();
        }
        rounds += 1;
        tokio::task::yield_now().await;
    }
    rounds
}

async fn backups_are_whole_while_blocks_come_and_go(engine: Engine) {
    let chain = chain(72, 60);
    let home = Home::with(engine, Choices { durable: true, ..Choices::default() }).await;
    home.apply(home.all(&chain)).await.unwrap();
    let scratch = scratch();
    let stop = AtomicBool::new(false);
    let backups = async {
        let mut seqs = Vec::new();
        for n in 0..6 {
            let backup = scratch.path().join(format!("backup-{n}"));
            let manifest = take(&home, &backup).await.unwrap();
            let place = scratch.path().join(format!("store-{n}"));
            // Every row is read back, and held against the manifest.
            engine.restore(&backup, &place).await.unwrap();
            let told = moment(&manifest);
            let store = engine.open(&place, Choices::default()).await.unwrap();
            let straight = Home::new(engine).await;
            let blocks = (0..=told.head_number).map(|number| straight.at(&chain, number));
            straight.apply(blocks.collect()).await.unwrap();
            let digest = store.view().await.unwrap().digest(CHAIN).await.unwrap();
            assert_eq!(straight.digest().await, digest, "{told:?}");
            assert_eq!(told.digest, digest.to_string());
            seqs.push(told.journal_seq);
        }
        stop.store(true, Ordering::Relaxed);
        seqs
    };
    let (seqs, rounds) = tokio::join!(backups, write_on(&home, &chain, &stop));
    assert!(seqs.windows(2).any(|pair| pair[0] < pair[1]), "{seqs:?} in {rounds} rounds");
    assert_eq!(names(scratch.path()).len(), 12, "nothing else is left");
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

async fn a_backup_goes_into_a_new_folder_that_its_owner_alone_can_read(engine: Engine) {
    let home = Home::indexed(engine, &small_chain(73, 5)).await;
    let scratch = scratch();
    let folder = scratch.path().join("deep/er/backup");
    // Of a process that was killed.
    std::fs::create_dir_all(scratch.path().join("deep/er/backup.unfinished")).unwrap();
    std::fs::write(scratch.path().join("deep/er/backup.unfinished/txs.rows"), "half").unwrap();
    take(&home, &folder).await.unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    assert!(names(&folder).len() > 10);
    for name in names(&folder) {
        assert_eq!(mode(&folder.join(&name)), 0o600, "{name}");
    }
    assert_eq!(names(&scratch.path().join("deep/er")), ["backup"]);
    let error = take(&home, &folder).await.unwrap_err().to_string();
    assert!(error.contains("backup is not empty: it holds"), "{error}");
    // An empty one will do; a file will not, and what is not ours is left alone.
    let empty = scratch.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    take(&home, &empty).await.unwrap();
    let file = scratch.path().join("file");
    std::fs::write(&file, "").unwrap();
    assert!(take(&home, &file).await.is_err());
    std::fs::create_dir(scratch.path().join("new.unfinished")).unwrap();
    std::fs::write(scratch.path().join("new.unfinished/diary"), "").unwrap();
    let error = take(&home, &scratch.path().join("new")).await.unwrap_err().to_string();
    assert!(error.contains("new.unfinished is in the way, and holds diary"), "{error}");
}

async fn a_backup_that_is_stopped_leaves_nothing(engine: Engine) {
    let home = Home::indexed(engine, &chain(74, 400)).await;
    let scratch = scratch();
    let progress = Arc::new(BackupProgress::default());
    progress.stop();
    let request = BackupRequest { folder: scratch.path().join("b"), taken_at: String::new() };
    let error = home.store().backup(request, progress.clone()).await.unwrap_err().to_string();
    assert!(error.contains("stopped before its end"), "{error}");
    assert!(progress.rows() > 0 && progress.rows() < progress.rows_total());
    assert_eq!(names(scratch.path()), Vec::<String>::new());
}

async fn backed_up(engine: Engine, seed: u64) -> TempDir {
    let home = Home::indexed(engine, &small_chain(seed, 12)).await;
    let scratch = scratch();
    take(&home, &scratch.path().join("backup")).await.unwrap();
    scratch
}

async fn damage_is_named_and_nothing_is_restored(engine: Engine) {
    let scratch = backed_up(engine, 75).await;
    let backup = scratch.path().join("backup");
    let place = scratch.path().join("place");
    for name in names(&backup) {
        let path = backup.join(&name);
        let good = std::fs::read(&path).unwrap();
        let mut bad = good.clone();
        bad[good.len() / 2] ^= 4;
        for bytes in [bad, good[..good.len() - 3].to_vec()] {
            std::fs::write(&path, bytes).unwrap();
            let error = engine.restore(&backup, &place).await.unwrap_err().to_string();
            assert!(error.contains(&name) && error.contains("damaged"), "{name}: {error}");
        }
        std::fs::remove_file(&path).unwrap();
        let error = engine.restore(&backup, &place).await.unwrap_err().to_string();
        assert!(error.contains(&name), "{name}: {error}");
        std::fs::write(&path, good).unwrap();
    }
    // After all that there is room for the good one.
    engine.restore(&backup, &place).await.unwrap();
}

async fn a_store_is_restored_into_an_empty_folder_only(engine: Engine) {
    let scratch = backed_up(engine, 76).await;
    let backup = scratch.path().join("backup");
    let place = scratch.path().join("place");
    engine.restore(&backup, &place).await.unwrap();
    let error = engine.restore(&backup, &place).await.unwrap_err().to_string();
    assert!(error.contains("is not empty"), "{error}");
    engine.open(&place, Choices::default()).await.unwrap();
    let nothing = engine.restore(scratch.path(), &scratch.path().join("other")).await;
    assert!(nothing.unwrap_err().to_string().contains("has no manifest.json"));
}
