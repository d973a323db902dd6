//! The rows of a page, which lie in as many blocks. Where a processor is idle a second thread reads some of them, so that
//! whoever waits for the page waits half as long.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, LazyLock};

use model::chain::ChainId;
use tokio::runtime::Handle;

use super::View;
use super::block::TxReader;
use crate::Error;
use crate::block::StoredTx;
use crate::embedded::blocking::may_block;
use crate::query::Place;

/// Fewer rows than these are read before another thread is awake.
const ROWS_MIN: usize = 8;
/// Rows that a thread takes at once: neighbours often lie together.
const ROWS_AT_ONCE: usize = 4;
const BROKEN: Error = Error::Broken { what: "row of a wallet" };

/// Pages that are being read. With several under way every processor has work.
static PAGES: AtomicUsize = AtomicUsize::new(0);
static HAS_SEVERAL_PROCESSORS: LazyLock<bool> =
    LazyLock::new(|| std::thread::available_parallelism().is_ok_and(|count| count.get() > 1));

struct UnderWay;

impl UnderWay {
    /// And whether it is the only one.
    fn begin() -> (Self, bool) {
        (UnderWay, PAGES.fetch_add(1, Ordering::Relaxed) == 0)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        PAGES.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What is to be read, and how far it is given out to threads.
struct PageRows {
    chain: ChainId,
    places: Vec<Place>,
    with_internal: bool,
    given: AtomicUsize,
}

/// A row, and which of the page it is.
type Row = (usize, Result<StoredTx, Error>);

impl View {
    /// Transactions with their receipts, and with the frames below their roots if they are wanted.
    pub fn page_rows(
        &self,
        chain: ChainId,
        places: Vec<Place>,
        with_internal: bool,
    ) -> Result<Vec<StoredTx>, Error> {
        let (_under_way, is_only_one) = UnderWay::begin();
        let page = Arc::new(PageRows { chain, places, with_internal, given: AtomicUsize::new(0) });
        let mut reader = self.transactions(chain);
        let is_unpacked = |first: &Place| reader.is_unpacked(*first);
        let may_help = page.places.len() >= ROWS_MIN && is_only_one && *HAS_SEVERAL_PROCESSORS;
        let helper = (may_help && !page.places.first().is_some_and(is_unpacked))
            .then(|| self.read_beside(&page))
            .flatten();
        let mut read = ReadRows::with_capacity(page.places.len());
        let mut outcome = Ok(());
        page.read(&mut reader, &mut |row| {
            outcome = read.put(row);
            outcome.is_ok()
        });
        outcome?;
        // What is left was given to the other thread. Should that end without a word, nobody waits for it.
        while read.rows.len() < page.places.len() {
            let row = helper.as_ref().and_then(|helper| helper.recv().ok());
            read.put(row.ok_or(BROKEN)?)?;
        }
        Ok(read.in_order())
    }

    /// Has another thread read some of them, as long as there are any. None where there are no threads for that.
    fn read_beside(&self, page: &Arc<PageRows>) -> Option<mpsc::Receiver<Row>> {
        let runtime = Handle::try_current().ok()?;
        let (view, page) = (self.clone(), page.clone());
        let (tell, rows) = mpsc::channel();
        runtime.spawn_blocking(move || {
            // Where one is broken, nobody wants the others.
            page.read(&mut view.transactions(page.chain), &mut |row| tell.send(row).is_ok());
        });
        Some(rows)
    }
}

/// As they come, each with its place on the page.
struct ReadRows {
    rows: Vec<StoredTx>,
    places: Vec<usize>,
}

impl ReadRows {
    fn with_capacity(rows: usize) -> Self {
        ReadRows { rows: Vec::with_capacity(rows), places: Vec::with_capacity(rows) }
    }

    fn put(&mut self, (at, row): Row) -> Result<(), Error> {
        self.rows.push(row?);
        self.places.push(at);
        Ok(())
    }

    fn in_order(self) -> Vec<StoredTx> {
        if self.places.is_sorted() {
            return self.rows;
        }
        let mut rows: Vec<_> = self.places.into_iter().zip(self.rows).collect();
        rows.sort_unstable_by_key(|(at, _)| *at);
        rows.into_iter().map(|(_, row)| row).collect()
    }
}

impl PageRows {
    /// Reads what is not given out, until `tell` says that it is enough.
    fn read(&self, reader: &mut TxReader<'_>, tell: &mut dyn FnMut(Row) -> bool) {
        let mut given = Given { page: self, part: 0..0 };
        while let Some(at) = given.next() {
            let Some(place) = self.places.get(at) else { return };
            if !reader.fetch_now(*place, self.with_internal) {
                return may_block(|| self.read_from_disk(reader, (at, given), tell));
            }
            if !tell((at, self.read_row(reader, *place))) {
                return;
            }
        }
    }

    fn read_from_disk(
        &self,
        reader: &mut TxReader<'_>,
        (first, given): (usize, Given<'_>),
        tell: &mut dyn FnMut(Row) -> bool,
    ) {
        // All that may be left at once, so that the disk is waited for once.
        let rest = self.places.get(first..).unwrap_or_default();
        if let Err(error) = reader.will_need(rest, self.with_internal) {
            tell((first, Err(error)));
            return;
        }
        for at in std::iter::once(first).chain(given) {
            let Some(place) = self.places.get(at) else { return };
            if !tell((at, self.read_row(reader, *place))) {
                return;
            }
        }
    }

    fn read_row(
        &self,
        reader: &mut TxReader<'_>,
        (number, index): Place,
    ) -> Result<StoredTx, Error> {
        let mut tx = reader.read(number, index)?.ok_or(BROKEN)?;
        if self.with_internal {
            tx.frames = Some(reader.frames(number, index)?);
        }
        Ok(tx)
    }
}

/// The rows that are given to one thread, a few at a time.
struct Given<'a> {
    page: &'a PageRows,
    part: Range<usize>,
}

impl Iterator for Given<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if self.part.is_empty() {
            let first = self.page.given.fetch_add(ROWS_AT_ONCE, Ordering::Relaxed);
            self.part = first..(first + ROWS_AT_ONCE).min(self.page.places.len());
        }
        self.part.next()
    }
}
