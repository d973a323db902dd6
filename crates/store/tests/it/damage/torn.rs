//! A log that ends in the middle of a write, as a power loss leaves it, and one that lost what was
//! durable.

use std::path::Path;

use store::{Error, Store};

use crate::files::{answers, apply, chain, copy, files_of, log_of, open, options, scratch};

/// A page in the middle of what was written after `from` never came to the disk; its end did.
fn lose_a_page(log: &Path, from: usize) {
    let mut bytes = std::fs::read(log).unwrap();
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    let middle = from + (end - from) / 2;
    bytes[middle..middle + 200].fill(0);
    std::fs::write(log, bytes).unwrap();
}

fn written(log: &Path) -> usize {
    let bytes = std::fs::read(log).unwrap();
    bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_torn_end_that_was_not_durable_is_cut_off_and_one_that_was_is_not() {
    let base = scratch();
    let (folder, torn) = (base.path().join("store"), base.path().join("torn"));
    let sim = chain(12);
    let store = open(&folder).await.unwrap();
    apply(&store, &sim, 0, 10).await.unwrap();
    let before = answers(&store).await.unwrap();
    let record = std::fs::read(folder.join("durable")).unwrap();
    let from = written(&log_of(&folder));
    apply(&store, &sim, 10, 12).await.unwrap();
    copy(&folder, &torn);
    drop(store);
    lose_a_page(&log_of(&torn), from);
    let damaged = std::fs::read(log_of(&torn)).unwrap();

    // The record says that it was durable: nothing is touched, and repairing says what is lost.
    let error = open(&torn).await.err().unwrap();
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains(".jnl") && text.contains("durable writes are missing"), "{text}");
    assert!(text.contains("headwater repair"), "{text}");
    assert_eq!(std::fs::read(log_of(&torn)).unwrap(), damaged, "left as it is");
    let lost = base.path().join("lost");
    copy(&torn, &lost);
    let report = Store::repair(&options(&lost), |_| ()).await.unwrap();
    assert!(report.had_record && report.check.holds(), "{report:?}");
    let [chain_lost] = report.lost.as_slice() else { panic!("{report:?}") };
    assert_eq!((chain_lost.chain, chain_lost.entries), (1337, 2));
    assert_eq!((chain_lost.newest_before, chain_lost.newest_now), (Some(11), Some(9)));
    let kept = report.kept.iter().find(|path| path.to_string_lossy().contains(".jnl")).unwrap();
    assert_eq!(std::fs::read(kept).unwrap(), damaged, "the damaged file is kept");
    let store = open(&lost).await.unwrap();
    assert_eq!(answers(&store).await.unwrap(), before);
    apply(&store, &sim, 10, 12).await.unwrap();
    drop(store);

    // The record of a moment before: the machine went down while it was written.
    std::fs::write(torn.join("durable"), record).unwrap();
    let store = open(&torn).await.unwrap();
    assert_eq!(answers(&store).await.unwrap(), before);
    apply(&store, &sim, 10, 12).await.unwrap();
    assert!(files_of(&torn).iter().all(|file| !file.to_string_lossy().contains("damaged")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_is_gone_or_shorter_is_noticed_and_a_lost_record_is_made_again() {
    let base = scratch();
    let folder = base.path().join("store");
    let sim = chain(6);
    let store = open(&folder).await.unwrap();
    apply(&store, &sim, 0, 6).await.unwrap();
    let expected = answers(&store).await.unwrap();
    drop(store);
    let gone = base.path().join("gone");
    copy(&folder, &gone);
    std::fs::remove_file(log_of(&gone)).unwrap();
    let text = open(&gone).await.err().unwrap().to_string();
    assert!(text.contains("the log is missing"), "{text}");
    let report = Store::repair(&options(&gone), |_| ()).await.unwrap();
    assert_eq!((report.lost[0].entries, report.lost[0].newest_now), (6, None));
    assert!(report.check.holds());
    open(&gone).await.unwrap();

    std::fs::remove_file(folder.join("durable")).unwrap();
    let store = open(&folder).await.unwrap();
    assert_eq!(answers(&store).await.unwrap(), expected);
    assert!(folder.join("durable").exists());
    drop(store);
    std::fs::write(folder.join("durable"), "nonsense").unwrap();
    let store = open(&folder).await.unwrap();
    assert_eq!(answers(&store).await.unwrap(), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn repairing_a_whole_store_changes_nothing() {
    let base = scratch();
    let sim = chain(6);
    let store = open(base.path()).await.unwrap();
    apply(&store, &sim, 0, 6).await.unwrap();
    let expected = answers(&store).await.unwrap();
    drop(store);
    let report = Store::repair(&options(base.path()), |_| ()).await.unwrap();
    assert!(report.steps.is_empty() && report.kept.is_empty() && report.lost.is_empty());
    assert!(report.check.holds(), "{:?}", report.check);
    let store = open(base.path()).await.unwrap();
    assert_eq!(answers(&store).await.unwrap(), expected);
}
