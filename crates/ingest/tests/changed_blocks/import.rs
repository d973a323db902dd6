//! The same by import: what is refused is named, what is stored is not called verified.

use std::io::Write;

use ingest::import::import;
use model::proof::Level;
use testkit::lies;

use crate::cases::{Case, changed, recorded, simulated};

/// All changes of one block in one file, and then the block itself.
async fn imported(case: &Case) -> usize {
    let record = case.records.first().unwrap();
    let lines: Vec<String> = lies::all()
        .iter()
        .filter_map(|lie| changed(record, lie))
        .map(|it| it.to_string())
        .collect();
    let dir = tempfile::tempdir().unwrap();
    let options = store::Options {
        memory_bytes: 32 << 20,
        durable: false,
        ..store::Options::new(dir.path().join("store"))
    };
    let store = store::Store::open(&options, |_| {}).await.unwrap();
    let path = dir.path().join("changed.jsonl");
    std::fs::File::create(&path).unwrap().write_all(lines.join("\n").as_bytes()).unwrap();
    let paths = [path.clone()];
    let summary = import(&store, &case.chain, &paths, &|_| {}).await.unwrap();
    assert_eq!(summary.verified, 0, "{}: {:?}", case.name, summary);
    // The others say something of forms that we may not know.
    assert!(
        summary.refused.len() * 4 > lines.len() * 3,
        "{}: {}",
        case.name,
        summary.refused.len()
    );
    std::fs::write(&path, record.to_string()).unwrap();
    let summary = import(&store, &case.chain, &paths, &|_| {}).await.unwrap();
    assert!(summary.refused.is_empty(), "{}: {:?}", case.name, summary.refused);
    let number = record["block"]["number"].as_str().unwrap().trim_start_matches("0x");
    let number = u64::from_str_radix(number, 16).unwrap();
    let view = store.view().await.unwrap();
    let stored = view.block_summary(case.chain.id, number).await.unwrap().unwrap();
    assert_eq!(stored.proof.level(), Level::Verified, "{}", case.name);
    lines.len()
}

#[tokio::test]
async fn no_changed_simulated_block_is_imported_as_verified() {
    let mut count = 0;
    for case in simulated() {
        count += imported(&case).await;
    }
    assert!(count > 1_000, "{count}");
}

#[tokio::test]
async fn no_changed_recorded_block_is_imported_as_verified() {
    let Some(cases) = recorded() else { return };
    for case in cases {
        imported(&case).await;
    }
}
