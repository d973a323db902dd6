//! Import files: every kind is read, nothing in them can do harm.

use std::io::Write;
use std::path::{Path, PathBuf};

use ingest::import::{Refusal, import};
use ingest::source::{files, read_record};
use ingest::verify::verify;
use model::chain::Verification;
use proptest::prelude::*;
use store::{EntryKind, Origin, Store, VerifiedBlock};
use testkit::{SimChain, read};

use crate::setup::*;

fn record(chain: &SimChain, number: u64, traces: &[u8]) -> String {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    format!(
        r#"{{"block":{},"receipts":{},"traces":{}}}"#,
        text(&chain.block_json(number, true).unwrap()),
        text(&chain.receipts_json(number).unwrap()),
        text(traces)
    )
}

fn geth(chain: &SimChain, number: u64) -> String {
    record(chain, number, &chain.traces_geth_json(number).unwrap())
}

fn write(dir: &Path, name: &str, text: &[u8]) -> PathBuf {
    let path = dir.join(name);
    let file = std::fs::File::create(&path).unwrap();
    if name.ends_with(".gz") {
        let mut out = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        out.write_all(text).unwrap();
        out.finish().unwrap();
    } else if name.ends_with(".zst") {
        zstd::stream::copy_encode(text, file, 1).unwrap();
    } else {
        std::fs::write(&path, text).unwrap();
    }
    path
}

#[tokio::test]
async fn every_kind_of_file_gives_the_same_store() {
    let chain = owned(sim(180, 12));
    let records: Vec<String> = (0..=12).map(|number| geth(&chain, number)).collect();
    let dir = scratch();
    let lines = format!("{}\n\n", records.join("\n")).into_bytes();
    let list = format!(" [{}]\n", records.join(",")).into_bytes();
    let mut kinds: Vec<Vec<PathBuf>> = Vec::new();
    for end in ["", ".gz", ".zst"] {
        kinds.push(vec![write(dir.path(), &format!("lines.jsonl{end}"), &lines)]);
        kinds.push(vec![write(dir.path(), &format!("list.json{end}"), &list)]);
    }
    let single =
        |(i, text): (usize, &String)| write(dir.path(), &format!("{i}.json.gz"), text.as_bytes());
    kinds.push(records.iter().enumerate().map(single).collect());
    let expected = honest_digest(verified_from(&chain, 0, Dialect::Geth)).await;
    for paths in kinds {
        let home = scratch();
        let store = open(&home).await;
        let known = crate::setup::chain(Verification::Full);
        let summary = import(&store, &known, &paths, &|_| {}).await.unwrap();
        assert!(summary.refused.is_empty(), "{:?}", summary.refused);
        assert_eq!((summary.blocks, summary.verified, summary.transactions), (13, 13, 48));
        assert_eq!(store.view().await.unwrap().digest(CHAIN).await.unwrap(), expected, "{paths:?}");
    }
}

#[test]
fn both_trace_dialects_are_recognised() {
    let chain = sim(181, 4);
    let chain = read(&chain);
    for number in 0..=4 {
        let parity = record(&chain, number, &chain.traces_parity_json(number).unwrap());
        for (text, dialect) in [(geth(&chain, number), Dialect::Geth), (parity, Dialect::Parity)] {
            let read = read_record(text.as_bytes()).unwrap();
            assert_eq!(read, block(&chain, number, dialect));
        }
        assert_eq!(read_record(record(&chain, number, b"null").as_bytes()).unwrap().traces, None);
    }
    let genesis = read_record(&chain.block_json(0, true).unwrap()).unwrap();
    assert_eq!(genesis.hash, chain.block(0).unwrap().hash, "a block alone is a record, too");
}

#[tokio::test]
async fn what_cannot_be_used_is_named_and_the_rest_goes_in() {
    let (chain, other) = (owned(sim(182, 6)), owned(sim(183, 6)));
    let dir = scratch();
    let lie = geth(&chain, 3).replacen("\"gasUsed\":\"0x", "\"gasUsed\":\"0x1", 1);
    let lines = [
        geth(&chain, 1),
        "{\"block\":".into(),
        geth(&chain, 2),
        lie,
        geth(&other, 3),
        geth(&chain, 5),
    ];
    let paths = [
        write(dir.path(), "lines.jsonl", lines.join("\n").as_bytes()),
        write(dir.path(), "blocks.csv", b"a,b"),
        dir.path().join("missing.json"),
        write(dir.path(), "empty.json", b""),
    ];
    std::fs::write(dir.path().join("torn.json.gz"), b"no gzip").unwrap();
    let paths: Vec<PathBuf> = paths.into_iter().chain([dir.path().join("torn.json.gz")]).collect();
    let home = scratch();
    let store = open(&home).await;
    let summary =
        import(&store, &crate::setup::chain(Verification::Full), &paths, &|_| {}).await.unwrap();
    let mut texts: Vec<String> =
        summary.refused.iter().map(|refusal| refusal.to_string()).collect();
    texts.sort();
    assert_eq!(summary.blocks, 3);
    let coverage = store.view().await.unwrap().coverage(CHAIN).await.unwrap();
    assert_eq!(coverage.ranges(), [(1, 2), (5, 5)]);
    for part in
        ["lines.jsonl, record 2", "header hash", "unknown kind of file", "missing.json", "torn"]
    {
        assert!(texts.iter().any(|text| text.contains(part)), "{part}: {texts:#?}");
    }
    let detached = |r: &Refusal| matches!(r, Refusal::Store { number: 3, .. });
    assert!(summary.refused.iter().any(detached), "{texts:#?}");
    assert_eq!(texts.len(), 6, "{texts:#?}");
}

/// The journal's entries of one kind, by number.
async fn entries(store: &Store, kind: EntryKind) -> Vec<(u64, Origin)> {
    let view = store.view().await.unwrap();
    let entries = view.journal_after(CHAIN, 0, 100).await.unwrap();
    entries.iter().filter(|it| it.kind == kind).map(|it| (it.number, it.origin)).collect()
}

#[tokio::test]
async fn files_complete_blocks_that_are_stored_without_receipts_or_traces() {
    let chain = owned(sim(185, 6));
    let (dir, home) = (scratch(), scratch());
    let store = open(&home).await;
    let known = crate::setup::chain(Verification::Full);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let bare = |n| format!(r#"{{"block":{}}}"#, text(&chain.block_json(n, true).unwrap()));
    let lines = |name: &str, record: &dyn Fn(u64) -> String| {
        let records: Vec<String> = (0..=6).map(record).collect();
        write(dir.path(), name, records.join("\n").as_bytes())
    };
    let files = [
        lines("1-bare.jsonl", &bare),
        lines("2-receipts.jsonl", &|n| record(&chain, n, b"null")),
        lines("3-whole.jsonl", &|n| geth(&chain, n)),
        // These have less to say than is known.
        lines("4-receipts.jsonl", &|n| record(&chain, n, b"null")),
        lines("5-bare.jsonl", &bare),
    ];
    // The genesis is empty: there is never anything to add.
    let expected = [(7, 0, 0), (0, 6, 1), (0, 6, 1), (0, 0, 7), (0, 0, 7)];
    for (file, expected) in files.into_iter().zip(expected) {
        let summary = import(&store, &known, &[file], &|_| {}).await.unwrap();
        assert!(summary.refused.is_empty(), "{:?}", summary.refused);
        let counts = (summary.blocks, summary.completed, summary.already_stored);
        assert_eq!(counts, expected);
    }
    let expected = honest_digest(verified_from(&chain, 0, Dialect::Geth)).await;
    assert_eq!(store.view().await.unwrap().digest(CHAIN).await.unwrap(), expected);
    let numbers = |range: std::ops::RangeInclusive<u64>| range.map(|n| (n, Origin::Import));
    let applied: Vec<_> = numbers(0..=6).collect();
    assert_eq!(entries(&store, EntryKind::Apply).await, applied);
    let amended: Vec<_> = numbers(1..=6).chain(numbers(1..=6)).collect();
    assert_eq!(entries(&store, EntryKind::Amend).await, amended);
    let left = store.view().await.unwrap().untraced_blocks(CHAIN, u64::MAX, 10).await.unwrap();
    assert!(left.is_empty());
}

#[tokio::test]
async fn copies_of_a_block_count_once_and_files_given_again_change_nothing() {
    let chain = owned(sim(186, 5));
    let (dir, home) = (scratch(), scratch());
    let store = open(&home).await;
    let known = crate::setup::chain(Verification::Full);
    let lines: Vec<String> = [3, 3, 3].iter().map(|number| geth(&chain, *number)).collect();
    let file = write(dir.path(), "copies.jsonl", lines.join("\n").as_bytes());
    for expected in [(1, 0, 2), (0, 0, 3)] {
        let summary = import(&store, &known, std::slice::from_ref(&file), &|_| {}).await.unwrap();
        let counts = (summary.blocks, summary.completed, summary.already_stored);
        assert_eq!((counts, summary.verified), (expected, expected.0));
        assert!(summary.refused.is_empty(), "{:?}", summary.refused);
    }
    // A poor copy and a good one in the same file: together they make a good one.
    let lines = [record(&chain, 4, b"null"), geth(&chain, 4)];
    let file = write(dir.path(), "both.jsonl", lines.join("\n").as_bytes());
    let summary = import(&store, &known, &[file], &|_| {}).await.unwrap();
    assert_eq!((summary.blocks, summary.completed, summary.already_stored), (1, 1, 0));
    let expected = honest_digest(verified(&chain, 3..=4, Dialect::Geth)).await;
    assert_eq!(store.view().await.unwrap().digest(CHAIN).await.unwrap(), expected);
}

#[tokio::test]
async fn a_stored_block_of_which_less_was_proven_is_proven_by_a_file() {
    let chain = owned(sim(187, 3));
    let (dir, home) = (scratch(), scratch());
    let store = open(&home).await;
    let mut poor = verified(&chain, 2..=2, Dialect::Geth);
    poor[0].proof = poor[0].proof.without(model::proof::Proof::SENDERS);
    put(&store, poor).await;
    let known = crate::setup::chain(Verification::Full);
    let file = write(dir.path(), "block.json", geth(&chain, 2).as_bytes());
    let summary = import(&store, &known, &[file], &|_| {}).await.unwrap();
    assert_eq!((summary.blocks, summary.completed, summary.already_stored), (0, 1, 0));
    let expected = honest_digest(verified(&chain, 2..=2, Dialect::Geth)).await;
    assert_eq!(store.view().await.unwrap().digest(CHAIN).await.unwrap(), expected);
}

/// The block holds without them; half of the traces would pass for all of them.
#[tokio::test]
async fn traces_that_are_cut_short_leave_the_block_untraced() {
    let chain = owned(sim(188, 3));
    let (dir, home) = (scratch(), scratch());
    let store = open(&home).await;
    let known = crate::setup::chain(Verification::Full);
    let halved = |json: &[u8]| {
        let mut list: Vec<serde_json::Value> = serde_json::from_slice(json).unwrap();
        list.truncate(list.len() / 2);
        serde_json::to_vec(&list).unwrap()
    };
    let lines = [
        record(&chain, 1, &halved(&chain.traces_geth_json(1).unwrap())),
        record(&chain, 2, &halved(&chain.traces_parity_json(2).unwrap())),
        record(&chain, 3, b"[]"),
    ];
    let file = write(dir.path(), "cut.jsonl", lines.join("\n").as_bytes());
    let summary = import(&store, &known, &[file], &|_| {}).await.unwrap();
    assert_eq!((summary.blocks, summary.untraced, summary.refused.len()), (3, 3, 0));
    let view = store.view().await.unwrap();
    assert_eq!(view.untraced_blocks(CHAIN, u64::MAX, 10).await.unwrap(), [3, 2, 1]);
}

/// Of a list of nothing.
const EMPTY_ROOT: &str = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421";

/// Each commit writes all of coverage: single blocks far apart must share commits.
#[tokio::test]
async fn single_blocks_far_apart_share_commits() {
    let count: u64 =
        std::env::var("HEADWATER_ISLANDS").ok().and_then(|text| text.parse().ok()).unwrap_or(2_000);
    let hash = |number: u64| alloy_primitives::B256::from(alloy_primitives::U256::from(number));
    let lines: Vec<String> = (1..=count)
        .map(|i| i * 1_000)
        .map(|number| {
            let (hash, parent) = (hash(number), hash(number - 1));
            format!(
                r#"{{"block":{{"number":"{number:#x}","hash":"{hash}","parentHash":"{parent}","timestamp":"{number:#x}","gasUsed":"0x0","logsBloom":"0x{}","receiptsRoot":"{EMPTY_ROOT}","transactions":[]}}}}"#,
                "00".repeat(256)
            )
        })
        .collect();
    let (dir, home) = (scratch(), scratch());
    let store = open(&home).await;
    let known = crate::setup::chain(Verification::Lenient);
    let file = write(dir.path(), "islands.jsonl", lines.join("\n").as_bytes());
    let started = std::time::Instant::now();
    let summary = import(&store, &known, &[file], &|_| {}).await.unwrap();
    println!("{count} islands in {:?}, {} commits", started.elapsed(), summary.commits);
    assert_eq!(
        (summary.blocks, summary.refused.len()),
        (count, 0),
        "{:?}",
        summary.refused.first()
    );
    assert!(summary.commits <= count / 256 + 1, "{}", summary.commits);
    let coverage = store.view().await.unwrap().coverage(CHAIN).await.unwrap();
    assert_eq!(coverage.ranges().len() as u64, count);
}

/// A list is read block by block: what stands before a fault goes in, and the fault is named.
#[tokio::test]
async fn a_list_that_breaks_off_gives_what_stands_before() {
    let chain = owned(sim(189, 6));
    let (dir, home) = (scratch(), scratch());
    let store = open(&home).await;
    let known = crate::setup::chain(Verification::Full);
    let records: Vec<String> = (0..=6).map(|number| geth(&chain, number)).collect();
    let list = format!("[{}", records.join(","));
    let cut = &list.as_bytes()[..list.len() - 40];
    for name in ["cut.json", "cut.json.gz", "cut.json.zst"] {
        let file = write(dir.path(), name, cut);
        let summary = import(&store, &known, &[file], &|_| {}).await.unwrap();
        assert_eq!(summary.blocks + summary.already_stored, 6, "{name}");
        let [refusal] = summary.refused.as_slice() else { panic!("{:?}", summary.refused) };
        let text = refusal.to_string();
        assert!(text.contains("record 7: malformed list: a list without an end"), "{text}");
    }
}

/// A megabyte that unpacks to a gigabyte is refused at the limit, and never held as a whole.
#[tokio::test]
async fn a_file_that_unpacks_to_far_more_is_refused_at_the_limit() {
    let dir = scratch();
    for (name, head) in [("a.json.gz", "["), ("b.jsonl.gz", ""), ("c.json.gz", "{")] {
        let path = dir.path().join(name);
        let file = std::fs::File::create(&path).unwrap();
        let mut out = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        out.write_all(head.as_bytes()).unwrap();
        let chunk = vec![b'1'; 1 << 20];
        (0..260).for_each(|_| out.write_all(&chunk).unwrap());
        out.finish().unwrap();
        let packed = std::fs::metadata(&path).unwrap().len();
        assert!(packed < 3 << 20, "{packed}");
        let read: Vec<_> = files::open(&path).unwrap().collect();
        let [Err(error)] = read.as_slice() else { panic!("{name}: {} records", read.len()) };
        let text = error.to_string();
        let place = format!(
            "{name}, record 1 at byte {}: more than 268435456 bytes",
            usize::from(head == "[")
        );
        assert!(text.contains(&place), "{text}");
    }
}

/// Reads, verifies and prepares: everything that happens to a record before it is written.
fn digest_record(store: &Store, text: &[u8]) {
    let Ok(block) = read_record(text) else { return };
    for verification in [Verification::Full, Verification::Lenient] {
        let proof = verify(&block, &rules(verification)).unwrap_or_default();
        store.prepare(
            CHAIN,
            VerifiedBlock { block: block.clone(), proof, facts: Default::default() },
        );
    }
    let mut out = Vec::new();
    block.write_json(true, &mut out);
    serde_json::from_slice::<serde_json::Value>(&out).unwrap();
}

/// Values that numbers and lists of a record are replaced by.
const ODD: [&str; 12] = [
    "\"0xffffffffffffffff\"",
    "\"0x8000000000000000\"",
    "\"0x0\"",
    "\"0x\"",
    "null",
    "[]",
    "{}",
    "-1",
    "18446744073709551616",
    "\"\\u0000\"",
    "true",
    "\"0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff\"",
];

#[tokio::test]
async fn no_bytes_of_a_file_make_it_panic() {
    let (dir, home) = (scratch(), scratch());
    let store = open(&home).await;
    let names = ["a.json", "a.jsonl", "a.json.gz", "a.jsonl.gz", "a.json.zst", "a.jsonl.zst"];
    let mut runner = proptest::test_runner::TestRunner::new(cases(200));
    let bytes = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        "[\\[\\]{}\",:0-9a-fx\\n ]{0,200}".prop_map(String::into_bytes),
        Just(b"{\"block\":{\"number\":\"0x1\",\"transactions\":[]}}".to_vec()),
    ];
    let checked = runner.run(&(bytes, 0..names.len(), any::<bool>()), |(bytes, name, packed)| {
        let path = dir.path().join(names[name]);
        match packed {
            true => drop(write(dir.path(), names[name], &bytes)),
            false => std::fs::write(&path, &bytes).unwrap(),
        }
        if let Ok(records) = files::open(&path) {
            prop_assert!(records.count() <= 201, "a file ends");
        }
        digest_record(&store, &bytes);
        Ok(())
    });
    checked.unwrap();
}

#[tokio::test]
async fn no_mutation_of_a_record_makes_it_panic() {
    let home = scratch();
    let store = open(&home).await;
    let chain = owned(sim(184, 6));
    let traces = |number| chain.traces_parity_json(number).unwrap();
    let valid: Vec<String> =
        (0..=6).flat_map(|n| [geth(&chain, n), record(&chain, n, &traces(n))]).collect();
    // Where a value begins: behind a colon.
    let values: Vec<Vec<usize>> =
        valid.iter().map(|text| text.match_indices(':').map(|(i, _)| i + 1).collect()).collect();
    let mutation = (
        0..valid.len(),
        prop::collection::vec((any::<prop::sample::Index>(), 0..ODD.len()), 0..4),
        prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        any::<Option<prop::sample::Index>>(),
    );
    let mut runner = proptest::test_runner::TestRunner::new(cases(400));
    let checked = runner.run(&mutation, |(i, replaced, bytes, cut)| {
        let mut text = valid[i].clone();
        let mut places: Vec<(usize, &str)> =
            replaced.iter().map(|(at, odd)| (*at.get(&values[i]), ODD[*odd])).collect();
        places.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        places.dedup_by_key(|(at, _)| *at);
        for (at, odd) in places {
            let value = serde_json::Deserializer::from_str(&text[at..])
                .into_iter::<&serde_json::value::RawValue>()
                .next();
            if let Some(Ok(value)) = value {
                let end = at + value.get().len();
                text.replace_range(at..end, odd);
            }
        }
        let mut text = text.into_bytes();
        for (at, byte) in bytes {
            let at = at.index(text.len());
            text[at] = byte;
        }
        text.truncate(cut.map_or(text.len(), |at| at.index(text.len())));
        digest_record(&store, &text);
        Ok(())
    });
    checked.unwrap();
}
