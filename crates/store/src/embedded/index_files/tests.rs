//! Index files against a sorted map that holds the same rows.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use model::chain::ChainId;
use proptest::prelude::*;

use super::file::{IndexFile, PartCache, part_cache};
use super::key_form::{KeyParts, head_bytes, put_together, take_apart};
use super::*;
use crate::Error;
use crate::coverage::Coverage;
use crate::embedded::runs::RunTable;

const CHAINS: [ChainId; 2] = [ChainId(7), ChainId(1 << 40)];

type Rows = BTreeMap<Vec<u8>, Vec<u8>>;

fn key(table: RunTable, (a, b): (u8, u8), number: u64, index: u32) -> Vec<u8> {
    let mut head = [a; 20];
    head[1] = b;
    let mut key = Vec::new();
    put_together(table, KeyParts { head: &head[..head_bytes(table)], number, index }, &mut key);
    key
}

fn full(chain: ChainId, key: &[u8]) -> Vec<u8> {
    [chain.0.to_be_bytes().as_slice(), key].concat()
}

fn write(
    folder: &Path,
    id: u64,
    cache: &Arc<PartCache>,
    chain: ChainId,
    table: RunTable,
    rows: &Rows,
) -> FileEntry {
    let numbers = rows.keys().map(|key| take_apart(table, key).unwrap().number);
    let mut blocks = Coverage::default();
    numbers.for_each(|number| blocks.insert(number));
    let path = folder.join(format!("{id}.rows"));
    let mut writer = IndexFileWriter::create(&path, blocks.oldest().unwrap_or(0)).unwrap();
    writer.begin(table).unwrap();
    rows.iter().for_each(|(key, value)| writer.put(key, value).unwrap());
    let shape = writer.finish().unwrap();
    assert_eq!(shape.bytes, path.metadata().unwrap().len());
    assert_eq!(shape.hash, crate::embedded::file_hash::hash_file(&path).unwrap());
    let file = Arc::new(IndexFile::open((id, path), &shape, cache).unwrap());
    let written_blocks = blocks.blocks();
    FileEntry::new(file, IndexFileRow { chain, level: 0, shape, written_blocks, blocks })
}

/// Without rows of blocks that `gone` has.
fn taken_out(entry: FileEntry, gone: &BTreeSet<u64>) -> FileEntry {
    let mut row = entry.row.clone();
    gone.iter().for_each(|number| row.blocks.remove(*number));
    FileEntry::new(entry.file, row)
}

fn assert_rows(mut found: FileRows, mut expected: Vec<(Vec<u8>, Vec<u8>)>, turns: &[bool]) {
    let (mut front, mut back) = (Vec::new(), Vec::new());
    for turn in turns.iter().chain(std::iter::repeat(&true)) {
        let row = if *turn { found.next() } else { found.next_back() };
        let Some(row) = row else { break };
        let (key, value) = row.unwrap();
        if *turn { &mut front } else { &mut back }.push((key.to_vec(), value.to_vec()));
    }
    front.extend(back.into_iter().rev());
    expected.sort();
    assert_eq!(front, expected);
}

/// What it is of, block, index, value.
type MadeRow = ((u8, u8), u64, u32, [u8; 2]);

fn rows_of() -> impl Strategy<Value = Vec<MadeRow>> {
    prop::collection::vec(((0u8..3, 0u8..40), 5u64..60, 0u32..4, any::<[u8; 2]>()), 0..1500)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn files_are_read_as_one_sorted_map_and_merged_into_the_same(
        table in prop::sample::select(RunTable::ALL.to_vec()),
        parts in prop::collection::vec(rows_of(), 1..5),
        gone in prop::collection::btree_set(20u64..240, 0..60),
        ends in (0u8..3, 0u8..40, 20u64..240, 20u64..240),
        turns in prop::collection::vec(any::<bool>(), 800),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let cache = part_cache(1 << 16);
        let has_value = table == RunTable::LogWords;
        let mut expected = Rows::new();
        let mut entries = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            // No two have the same block; the last is of another chain.
            let chain = CHAINS[usize::from(at == 3)];
            let row = |(head, number, index, value): &MadeRow| {
                let value = if has_value { value.to_vec() } else { Vec::new() };
                (key(table, *head, number * 4 + at as u64, *index), value)
            };
            let rows: Rows = part.iter().map(row).collect();
            let is_left = |key: &[u8]| !gone.contains(&take_apart(table, key).unwrap().number);
            expected.extend(rows.iter().filter(|(key, _)| is_left(key)).map(|(k, v)| (full(chain, k), v.clone())));
            entries.push(Arc::new(taken_out(write(folder.path(), at as u64, &cache, chain, table, &rows), &gone)));
        }
        let all = |rows: &Rows| rows.iter().map(|(k, v)| (k.clone(), v.clone())).collect::<Vec<_>>();
        let set = FileSet::new(1, entries.clone());
        assert_rows(FileRows::with_prefix(&set, Some(table), &[]), all(&expected), &turns);
        let (low, high) = {
            let ends = [key(table, (ends.0, ends.1), ends.2, 0), key(table, (ends.0, ends.1), ends.3, 3)];
            let [a, b] = ends.map(|key| full(CHAINS[0], &key));
            (a.clone().min(b.clone()), a.max(b))
        };
        for bounds in [
            (Bound::Included(low.as_slice()), Bound::Included(high.as_slice())),
            (Bound::Excluded(low.as_slice()), Bound::Unbounded),
            (Bound::Unbounded, Bound::Excluded(high.as_slice())),
            (Bound::Included(&low[..8]), Bound::Excluded(&high[..9])),
        ] {
            let inside: Rows = expected.range::<[u8], _>(bounds).map(|(k, v)| (k.clone(), v.clone())).collect();
            assert_rows(FileRows::in_range(&set, Some(table), bounds), all(&inside), &turns);
        }
        for prefix in [&low[..4], &low[..8], &low[..10], &low[..]] {
            let inside = expected.iter().filter(|(key, _)| key.starts_with(prefix));
            let inside: Rows = inside.map(|(k, v)| (k.clone(), v.clone())).collect();
            assert_rows(FileRows::with_prefix(&set, Some(table), prefix), all(&inside), &turns);
        }
        for (key, value) in expected.iter().step_by(37) {
            let found = set.get(table, key).unwrap();
            prop_assert_eq!(found.as_deref(), Some(value.as_slice()));
        }
        prop_assert!(set.get(table, &low).unwrap().is_some() == expected.contains_key(&low));

        let (from, to) = (ends.2.min(ends.3), ends.2.max(ends.3));
        let of_block = |key: &[u8]| take_apart(table, &key[8..]).unwrap().number;
        let is_inside = |key: &[u8]| key.starts_with(&low[..8 + head_bytes(table)]) && (from..=to).contains(&of_block(key));
        let head = &low[8..8 + head_bytes(table)];
        let counted = set.count(table, (CHAINS[0], head), (from, to)).unwrap();
        prop_assert_eq!(counted, expected.keys().filter(|key| is_inside(key)).count() as u64);

        let first: Vec<_> = set.of_chain(CHAINS[0]).cloned().collect();
        let blocks = blocks_of(first.iter());
        let path = folder.path().join("9.rows");
        let writer = IndexFileWriter::create(&path, blocks.oldest().unwrap_or(0)).unwrap();
        let shape = merge(&first, writer, &mut || Ok(true)).unwrap().unwrap();
        let file = Arc::new(IndexFile::open((9, path), &shape, &cache).unwrap());
        let written_blocks = blocks.blocks();
        let row = IndexFileRow { chain: CHAINS[0], level: 1, shape, written_blocks, blocks };
        let merged = FileSet::new(2, vec![Arc::new(FileEntry::new(file, row))]);
        let of_first = |key: &[u8]| key.starts_with(&CHAINS[0].0.to_be_bytes());
        let inside: Rows = expected.iter().filter(|(key, _)| of_first(key)).map(|(k, v)| (k.clone(), v.clone())).collect();
        prop_assert_eq!(merged.all()[0].row.rows(), inside.len() as u64);
        assert_rows(FileRows::with_prefix(&merged, Some(table), &[]), all(&inside), &turns);
        prop_assert_eq!(merged.count(table, (CHAINS[0], head), (from, to)).unwrap(), counted);
    }
}

/// Hundreds of parts, several lists of them.
fn large(folder: &Path, cache: &Arc<PartCache>) -> (FileEntry, Rows) {
    let key = |n: u32| {
        key(RunTable::WalletTxs, ((n >> 10) as u8, (n >> 2) as u8), u64::from(n % 4 + 9), n % 7)
    };
    let rows: Rows = (0..100_000).map(|n| (key(n), Vec::new())).collect();
    (write(folder, 1, cache, CHAINS[0], RunTable::WalletTxs, &rows), rows)
}

#[test]
fn every_byte_that_is_read_is_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let (entry, rows) = large(folder.path(), &part_cache(1 << 20));
    assert!(entry.row.shape.tables[0].parts > 130, "{:?}", entry.row.shape);
    let row = entry.row.clone();
    let path = entry.file.path().to_owned();
    drop(entry);
    let whole = std::fs::read(&path).unwrap();
    let read = || -> Result<usize, Error> {
        let file = IndexFile::open((1, path.clone()), &row.shape, &part_cache(1 << 20))?;
        let set = FileSet::new(1, vec![Arc::new(FileEntry::new(Arc::new(file), row.clone()))]);
        let found: Result<Vec<_>, _> =
            FileRows::with_prefix(&set, Some(RunTable::WalletTxs), &[]).collect();
        Ok(found?.len())
    };
    assert_eq!(read().unwrap(), rows.len());
    for at in (0..whole.len()).step_by(whole.len() / 97) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        std::fs::write(&path, &damaged).unwrap();
        let error = read().unwrap_err().to_string();
        assert!(
            error.contains("1.rows") && error.contains("not what was written"),
            "{at}: {error}"
        );
    }
    std::fs::write(&path, &whole[1..]).unwrap();
    assert!(read().unwrap_err().to_string().contains("bytes, and"), "too short");
    std::fs::remove_file(&path).unwrap();
    assert!(read().unwrap_err().to_string().contains("it is missing"));
}

#[test]
fn a_file_that_is_doomed_goes_with_its_last_reader() {
    let folder = tempfile::tempdir().unwrap();
    let (entry, _) = large(folder.path(), &part_cache(1 << 20));
    let (path, reader) = (entry.file.path().to_owned(), entry.file.clone());
    entry.file.doom();
    drop(entry);
    assert!(path.exists());
    drop(reader);
    assert!(!path.exists());
}

#[test]
fn four_files_of_a_size_are_merged_small_ones_first() {
    let folder = tempfile::tempdir().unwrap();
    let cache = part_cache(1 << 20);
    let entry = |id: u64, chain, level| {
        let rows = Rows::from([(key(RunTable::TxByHash, (1, 2), id, 0), Vec::new())]);
        let mut entry = write(folder.path(), id, &cache, chain, RunTable::TxByHash, &rows);
        entry.row.level = level;
        Arc::new(entry)
    };
    let ids =
        |entries: Vec<Arc<FileEntry>>| entries.iter().map(|it| it.file.id).collect::<Vec<_>>();
    let mut files: Vec<_> = (1..=3).map(|id| entry(id, CHAINS[0], 0)).collect();
    files.extend((4..=6).map(|id| entry(id, CHAINS[1], 0)));
    files.extend((7..=10).map(|id| entry(id, CHAINS[1], 1)));
    let set = FileSet::new(1, files.clone());
    assert_eq!(due(&set, u8::MAX).map(ids), Some(vec![7, 8, 9, 10]));
    assert_eq!(due(&set, 1).map(ids), None, "only smaller ones are asked for");
    files.push(entry(11, CHAINS[0], 0));
    let set = FileSet::new(2, files);
    let some = due(&set, u8::MAX).unwrap();
    assert_eq!(level_of(&some), 1);
    assert_eq!(ids(some), [1, 2, 3, 11]);
    let mut dead = write(
        folder.path(),
        12,
        &cache,
        CHAINS[0],
        RunTable::TxByHash,
        &Rows::from([(key(RunTable::TxByHash, (1, 2), 20, 0), Vec::new())]),
    );
    dead.row.written_blocks = 4;
    let alone = due(&FileSet::new(3, vec![Arc::new(dead)]), u8::MAX).unwrap();
    assert_eq!((alone.len(), level_of(&alone)), (1, 0));
}
