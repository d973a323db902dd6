//! Rows that are not what was written: an error that says so, never a panic, and the check finds them.

use alloy_primitives::{Address, B256};
use bytes::Bytes;
use model::chain::ChainId;
use tempfile::TempDir;

use crate::Error;
use crate::embedded::engine::Durability;
use crate::embedded::open::Store;
use crate::journal::ReaderCursor;
use crate::options::Options;
use crate::streams::*;

pub const STREAM: StreamId = StreamId::repeat_byte(0x5a);
const CHAIN: ChainId = ChainId(1);

/// A store with rows of one stream in every table.
pub struct Filled {
    pub store: Store,
    _folder: TempDir,
}

fn meta(number: u64) -> DeliveryMeta {
    DeliveryMeta {
        chain: CHAIN,
        number,
        hash: B256::ZERO,
        kind: DeliveryKind::Unconfirmed,
        part: (1, 1),
        traces_missing: false,
        amends: None,
        counts: RecordCounts::default(),
        created_ms: 0,
    }
}

fn record(seq: u64, due_ms: Option<u64>, error: Option<&str>) -> AttemptRecord {
    let error = error.map(str::to_owned);
    let log = AttemptLog {
        webhook_url: String::new(),
        tag: String::new(),
        retries: 0,
        error: error.clone(),
    };
    let delivered_ms = error.is_none().then_some(9);
    let state = DeliveryState { attempts: 1, due_ms, delivered_ms, given_up: false, error };
    let (tenant, at_ms) = ("ours".to_owned(), 5 + seq);
    AttemptRecord { tenant, stream: STREAM, seq, state, log: Some(log), at_ms, of: None }
}

impl Filled {
    pub fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options =
            Options { memory_bytes: 32 << 20, durable: false, ..Options::new(folder.path()) };
        Filled { store: Store::open(&options, &|_| ()).unwrap(), _folder: folder }
    }

    pub fn new() -> Self {
        let filled = Filled::empty();
        filled.write_again().unwrap();
        filled
    }

    pub fn write_again(&self) -> Result<(), Error> {
        let store = &self.store;
        let row = StreamRow { id: STREAM, tenant: "ours".to_owned(), body: b"{}".to_vec() };
        store.put_stream(&row)?;
        store.change_stream_addresses(STREAM, &[Address::ZERO], &[])?;
        let deliveries = (1..=3).map(|number| NewDelivery {
            stream: STREAM,
            meta: meta(number),
            body: Bytes::new(),
        });
        let kept = NewMatch {
            stream: STREAM,
            number: 1,
            hash: B256::ZERO,
            traces_missing: false,
            first_delivery: Some(0),
            first_seq: None,
            parts: Vec::new(),
        };
        let change = StreamChange {
            deliveries: deliveries.collect(),
            keep: vec![kept],
            ..StreamChange::default()
        };
        let cursor = ReaderCursor { seq: 1, start: 1, next: 1 };
        let expected = store.view()?.reader_cursor(CHAIN, "live")?;
        let reader = "live".to_owned();
        store.commit_streams(StreamCommit { chain: CHAIN, reader, expected, cursor, change })?;
        store.record_attempts(&[record(1, None, None), record(2, Some(20), Some("no"))])
    }

    /// What every question about the stream is answered with; those that are read and written come last.
    fn asked(&self) -> Vec<Result<String, Error>> {
        fn said<T: std::fmt::Debug>(answer: Result<T, Error>) -> Result<String, Error> {
            answer.map(|answer| format!("{answer:?}"))
        }
        let (store, none) = (&self.store, Default::default());
        let (tenant, limit) = ("ours".to_owned(), 9);
        let attempts = AttemptsQuery { tenant: tenant.clone(), limit, ..Default::default() };
        let failed = FailedQuery { tenant, limit, ..Default::default() };
        vec![
            said(store.streams()),
            said(store.stream_addresses(STREAM, None, 9)),
            said(store.stream_address_count(STREAM)),
            said(store.kept_matches(CHAIN, 0..=9, None)),
            said(store.kept_matches(CHAIN, 0..=9, Some(STREAM))),
            said(store.kept_matches(CHAIN, 1..=1, None)),
            said(store.delivery(STREAM, 1)),
            said(store.delivery(STREAM, 2)),
            said(store.deliveries(STREAM, 0, 9)),
            said(store.delivery_body(STREAM, 1)),
            said(store.delivery_body(STREAM, 2)),
            said(store.delivery_body(STREAM, 3)),
            said(store.stream_queue(STREAM)),
            said(store.stream_totals(STREAM)),
            said(store.due_retries(99, &none, 9)),
            said(store.attempts_page(&attempts)),
            said(store.failed_page(&failed)),
        ]
    }

    pub fn questions(&self) -> Vec<String> {
        self.asked().into_iter().map(Result::unwrap).collect()
    }

    /// All that the tables of streams hold.
    pub fn rows(&self) -> Vec<(&'static str, Vec<u8>, Vec<u8>)> {
        let view = self.store.view().unwrap();
        let mut rows = Vec::new();
        for (name, table) in view.tables.all() {
            if !(name.starts_with("stream") || name.starts_with("deliver")) {
                continue;
            }
            for item in view.snapshot.iter(table) {
                let (key, value) = item.into_inner().unwrap();
                rows.push((name, key.to_vec(), value.to_vec()));
            }
        }
        rows
    }

    fn put(&self, table: &str, key: &[u8], value: Option<&[u8]>) {
        let view = self.store.view().unwrap();
        let tables = view.tables.all();
        let (_, table) = tables.iter().find(|(name, _)| *name == table).unwrap();
        let value = value.map(<[u8]>::to_vec);
        self.store.put(table, key, value, Durability::Process).unwrap();
    }

    fn holds(&self) -> bool {
        self.store.check(&|_| ()).unwrap().holds()
    }
}

#[test]
fn a_row_that_is_gone_is_found_by_the_check() {
    let filled = Filled::new();
    assert!(filled.holds());
    let rows = filled.rows();
    let names: std::collections::BTreeSet<_> = rows.iter().map(|(name, ..)| *name).collect();
    assert_eq!(names.len(), 12, "{names:?}");
    // Attempts are pruned by their age alone: nothing says which ones there should be.
    for (name, key, value) in rows.iter().filter(|(name, ..)| *name != "stream_attempts") {
        filled.put(name, key, None);
        assert!(!filled.holds(), "{name}");
        let broken = |answer: &Result<String, Error>| matches!(answer, Err(Error::Broken { .. }));
        assert!(filled.asked().iter().all(|answer| answer.is_ok() || broken(answer)), "{name}");
        filled.put(name, key, Some(value));
    }
    assert!(filled.holds());
}

#[test]
fn a_row_that_cannot_be_read_is_an_error_and_is_found_by_the_check() {
    let filled = Filled::new();
    for (name, key, value) in filled.rows() {
        // Nobody reads the values of those that have none.
        if value.is_empty() && name != "delivery_bodies" {
            continue;
        }
        filled.put(name, &key, Some(&[0xff; 3]));
        assert!(!filled.holds(), "{name}");
        let answers = filled.asked();
        let broken = answers.iter().filter(|answer| matches!(answer, Err(Error::Broken { .. })));
        assert!(broken.count() > 0, "{name}");
        if name == "stream_queues" {
            assert!(matches!(filled.write_again(), Err(Error::Broken { .. })), "{name}");
            let pruned = filled.store.prune_deliveries(99, 9);
            assert!(matches!(pruned, Err(Error::Broken { .. })), "{name}");
            assert!(matches!(filled.store.remove_stream(STREAM), Err(Error::Broken { .. })));
        }
        filled.put(name, &key, Some(&value));
    }
    assert!(filled.holds());
}

#[test]
fn a_key_that_is_none_is_found_by_the_check_and_stops_nobody() {
    let filled = Filled::new();
    let names: std::collections::BTreeSet<_> =
        filled.rows().iter().map(|(name, ..)| *name).collect();
    for name in names {
        for key in [[0].as_slice(), &[0x5a; 17], &[0xff; 40]] {
            filled.put(name, key, Some(&[]));
            assert!(!filled.holds(), "{name}");
            let broken = |answer: &Result<_, Error>| matches!(answer, Err(Error::Broken { .. }));
            assert!(filled.asked().iter().all(|answer| answer.is_ok() || broken(answer)), "{name}");
            let _ = filled.store.prune_deliveries(0, 9);
            filled.put(name, key, None);
        }
    }
    assert!(filled.holds());
}
