//! Stores of older formats open, are brought up, and answer as before.

use std::sync::Mutex;

use model::chain::ChainId;
use store::{
    Change, EntryKind, EventKind, LogsQuery, Options, Origin, Reader, Start, Store,
    UpgradeProgress, Version,
};

use crate::unpack::unpack;

const FORMAT_3: (&[u8], &str) =
    (include_bytes!("../formats/3/store.tar.gz"), include_str!("../formats/3/answers.txt"));

/// The same store, as the last builds of formats 4 to 8 brought it up.
const FORMAT_4: (&[u8], &str) =
    (include_bytes!("../formats/4/store.tar.gz"), include_str!("../formats/4/answers.txt"));
const FORMAT_5: (&[u8], &str) =
    (include_bytes!("../formats/5/store.tar.gz"), include_str!("../formats/5/answers.txt"));
const FORMAT_6: (&[u8], &str) =
    (include_bytes!("../formats/6/store.tar.gz"), include_str!("../formats/6/answers.txt"));
const FORMAT_7: (&[u8], &str) =
    (include_bytes!("../formats/7/store.tar.gz"), include_str!("../formats/7/answers.txt"));
const FORMAT_8: (&[u8], &str) =
    (include_bytes!("../formats/8/store.tar.gz"), include_str!("../formats/8/answers.txt"));

/// What the build that wrote the store said of one chain.
#[derive(Debug, PartialEq)]
struct Answers {
    chain: u64,
    coverage: String,
    journal_seq: u64,
    generation: u8,
    untraced: Vec<u64>,
    digest: String,
}

fn answers(text: &str) -> Vec<Answers> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let read = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let [chain, coverage, seq, generation, untraced, digest] = words[..] else {
            panic!("{line}")
        };
        Answers {
            chain: chain.parse().unwrap(),
            coverage: coverage.to_owned(),
            journal_seq: seq.parse().unwrap(),
            generation: generation.parse().unwrap(),
            untraced: untraced.split(',').map(|number| number.parse().unwrap()).collect(),
            digest: digest.to_owned(),
        }
    };
    lines.map(read).collect()
}

/// Opens the store and gives what was told of the upgrade.
async fn open(path: &std::path::Path) -> (Store, Vec<UpgradeProgress>) {
    let told = Mutex::new(Vec::new());
    let options = Options { memory_bytes: 32 << 20, ..Options::new(path) };
    let store = Store::open(&options, |progress| told.lock().unwrap().push(progress)).await;
    (store.unwrap(), told.into_inner().unwrap())
}

async fn check(store: &Store, expected: &Answers) {
    let (chain, view) = (ChainId(expected.chain), store.view().await.unwrap());
    let coverage = view.coverage(chain).await.unwrap();
    let version = view.version(chain).await.unwrap();
    let found = Answers {
        chain: chain.0,
        coverage: coverage.to_string(),
        journal_seq: version.seq,
        generation: version.generation,
        untraced: view.untraced_blocks(chain, u64::MAX, 100).await.unwrap(),
        digest: view.digest(chain).await.unwrap().to_string(),
    };
    assert_eq!(found, *expected);
    let generations = view.generations(chain).await.unwrap();
    assert_eq!((generations.current, generations.building), (version.generation, None));
    let entries = view.journal_after(chain, 0, 100).await.unwrap();
    assert_eq!(entries.len() as u64, expected.journal_seq);
    for (entry, seq) in entries.iter().zip(1..) {
        assert_eq!((entry.seq, entry.number), (seq, seq - 1));
        assert_eq!((entry.kind, entry.origin), (EntryKind::Apply, Origin::History));
        assert_eq!(view.number_of(chain, entry.hash).await.unwrap(), Some(entry.number));
    }
}

/// What comes after an upgrade finds the store as it needs it.
async fn check_goes_on(store: &Store, chain: ChainId) {
    let mut reader = Reader::open(store, "reader", chain, Start::Block(2)).await.unwrap();
    assert_eq!(reader.next().await.unwrap().unwrap().number, 2);
    let newest = store.view().await.unwrap().coverage(chain).await.unwrap().newest().unwrap();
    let before = store.version(chain).await.unwrap();
    let done = store.commit(chain, Change::revert(Origin::Head, vec![newest])).await.unwrap();
    assert_eq!(done.entries[0].seq, before.seq + 1);
    let now = store.version(chain).await.unwrap();
    assert_eq!(now, Version { seq: before.seq + 1, ..before });
    while let Some(event) = reader.next().await.unwrap() {
        assert_eq!(event.kind, EventKind::Apply);
        assert!(event.number < newest);
    }
}

#[tokio::test]
async fn a_store_of_format_3_is_brought_up_once_and_answers_as_before() {
    is_brought_up_once_and_answers_as_before(FORMAT_3, 3).await;
}

#[tokio::test]
async fn a_store_of_format_4_is_brought_up_once_and_answers_as_before() {
    is_brought_up_once_and_answers_as_before(FORMAT_4, 4).await;
}

#[tokio::test]
async fn a_store_of_format_5_is_brought_up_once_and_answers_as_before() {
    is_brought_up_once_and_answers_as_before(FORMAT_5, 5).await;
}

#[tokio::test]
async fn a_store_of_format_6_is_brought_up_once_and_answers_as_before() {
    is_brought_up_once_and_answers_as_before(FORMAT_6, 6).await;
}

#[tokio::test]
async fn a_store_of_format_7_is_brought_up_once_and_answers_as_before() {
    is_brought_up_once_and_answers_as_before(FORMAT_7, 7).await;
}

#[tokio::test]
async fn a_store_of_format_8_is_brought_up_once_and_answers_as_before() {
    is_brought_up_once_and_answers_as_before(FORMAT_8, 8).await;
}

/// Every transaction is found by its hash, and every log by its address; nothing else is in these indexes.
async fn check_indexes(store: &Store) {
    let view = store.view().await.unwrap();
    let mut logs = 0;
    for chain in view.chains().await.unwrap() {
        let newest = view.coverage(chain).await.unwrap().newest().unwrap();
        for number in 0..=newest {
            let block = view.block_with_receipts(chain, number).await.unwrap().unwrap();
            for (index, tx) in (0..).zip(&block.txs) {
                let place = view.place_of_tx(chain, tx.hash.unwrap()).await.unwrap();
                assert_eq!(place, Some((number, index)));
            }
            for log in block.receipts.iter().flatten().flat_map(|r| r.logs.iter().flatten()) {
                let addresses = vec![log.address.unwrap()];
                let (from_block, to_block) = (number, number);
                let (topics, limit) = (vec![], usize::MAX);
                let query = LogsQuery { chain, from_block, to_block, addresses, topics, limit };
                assert!(view.logs(&query).await.unwrap().logs.contains(log));
                logs += 1;
            }
        }
    }
    assert!(logs > 20);
    drop(view);
    assert!(store.check(|_| {}).await.unwrap().holds());
}

async fn is_brought_up_once_and_answers_as_before((packed, told_then): (&[u8], &str), format: u32) {
    let dir = tempfile::tempdir().unwrap();
    unpack(packed, dir.path());
    let (store, told) = open(dir.path()).await;
    for from in format..6 {
        let told: Vec<_> = told.iter().filter(|told| told.from_format == from).collect();
        let last = told.last().unwrap();
        assert_eq!((last.to_format, last.done), (from + 1, last.total));
        assert!(told.windows(2).all(|pair| pair[0].done <= pair[1].done), "{told:?}");
    }
    check_indexes(&store).await;
    let all = answers(told_then);
    assert_eq!(all.len(), 2);
    for expected in &all {
        check(&store, expected).await;
    }
    let chains: Vec<u64> =
        store.view().await.unwrap().chains().await.unwrap().iter().map(|c| c.0).collect();
    assert_eq!(chains, [1337, 1338]);
    drop(store);
    let (store, told) = open(dir.path()).await;
    assert_eq!(told, [], "there is nothing left to do");
    for expected in &all {
        check(&store, expected).await;
        check_goes_on(&store, ChainId(expected.chain)).await;
    }
    let report = store.check(|_| ()).await.unwrap();
    assert!(report.holds(), "{report:?}");
}
