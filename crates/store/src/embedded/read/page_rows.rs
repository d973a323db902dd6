//! The rows of a page, which lie in as many blocks. Those of a page before are still in memory. Where a processor is idle a
//! second thread reads some of the others, so that whoever waits for the page waits half as long.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

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
const SHORTLY: Duration = Duration::from_micros(500);
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

/// What one thread read, each row with its place on the page.
struct ReadRows {
    rows: Vec<StoredTx>,
    places: Vec<usize>,
}

impl View {
    /// Transactions with their receipts, and with the frames below their roots if they are wanted.
    pub fn page_rows(
        &self,
        chain: ChainId,
        places: Vec<Place>,
        with_internal: bool,
    ) -> Result<Vec<Arc<StoredTx>>, Error> {
        if with_internal {
            let read = self.read_rows(chain, places, true)?;
            return Ok(read.into_iter().map(Arc::new).collect());
        }
        let cache = &self.bodies.txs;
        let rewritten_seq = cache.rewritten_seq(chain, self.version(chain)?.seq);
        let cached = |place: &Place| cache.get((chain, *place), rewritten_seq);
        let known: Vec<_> = places.iter().map(cached).collect();
        let unknown = places.iter().zip(&known).filter(|(_, known)| known.is_none());
        let unknown = unknown.map(|(place, _)| *place).collect();
        let mut read = self.read_rows(chain, unknown, false)?.into_iter();
        let row = |(place, known): (Place, Option<Arc<StoredTx>>)| {
            known.or_else(|| {
                let tx = Arc::new(read.next()?);
                cache.insert((chain, place), tx.clone(), rewritten_seq);
                Some(tx)
            })
        };
        places.into_iter().zip(known).map(row).collect::<Option<_>>().ok_or(BROKEN)
    }

    fn read_rows(
        &self,
        chain: ChainId,
        places: Vec<Place>,
        with_internal: bool,
    ) -> Result<Vec<StoredTx>, Error> {
        let (_under_way, is_only_one) = UnderWay::begin();
        let page = Arc::new(PageRows { chain, places, with_internal, given: AtomicUsize::new(0) });
        let is_long = page.places.len() >= ROWS_MIN;
        self.read_page(&page, is_long && is_only_one && *HAS_SEVERAL_PROCESSORS)
    }

    /// `by_two`: where that pays.
    fn read_page(&self, page: &Arc<PageRows>, by_two: bool) -> Result<Vec<StoredTx>, Error> {
        let mut reader = self.transactions(page.chain);
        let is_unpacked = |first: &Place| reader.is_unpacked(*first);
        let pays = by_two && !page.places.first().is_some_and(is_unpacked);
        let beside = pays.then(|| self.read_beside(page)).flatten();
        let read = page.read(&mut reader)?;
        if read.rows.len() == page.places.len() {
            return Ok(read.rows);
        }
        // What is left was given to the other thread. Should that end without a word, nobody waits for it.
        let rest = beside.and_then(|beside| wait_for(&beside)).ok_or(BROKEN)??;
        let mut rows: Vec<_> = read.with_places().chain(rest.with_places()).collect();
        rows.sort_unstable_by_key(|(place, _)| *place);
        Ok(rows.into_iter().map(|(_, row)| row).collect())
    }

    /// Has another thread read some of them, as long as there are any. None where there are no threads for that.
    fn read_beside(&self, page: &Arc<PageRows>) -> Option<mpsc::Receiver<Result<ReadRows, Error>>> {
        let runtime = Handle::try_current().ok()?;
        let (view, page) = (self.clone(), page.clone());
        let (tell, read) = mpsc::channel();
        runtime.spawn_blocking(move || {
            // Where something failed, nobody wants it any more.
            let _ = tell.send(page.read(&mut view.transactions(page.chain)));
        });
        Some(read)
    }
}

/// Most come within the time of a row or two. Whoever takes longer waits for the disk.
fn wait_for<T>(beside: &mpsc::Receiver<T>) -> Option<T> {
    match beside.recv_timeout(SHORTLY) {
        Err(RecvTimeoutError::Timeout) => may_block(|| beside.recv().ok()),
        soon => soon.ok(),
    }
}

impl ReadRows {
    fn with_places(self) -> impl Iterator<Item = (usize, StoredTx)> {
        self.places.into_iter().zip(self.rows)
    }
}

impl PageRows {
    /// Reads what is not given out yet.
    fn read(&self, reader: &mut TxReader<'_>) -> Result<ReadRows, Error> {
        let rows = self.places.len();
        let mut read =
            ReadRows { rows: Vec::with_capacity(rows), places: Vec::with_capacity(rows) };
        let mut given = Given { page: self, part: 0..0 };
        while let Some((at, place)) = given.next() {
            if !reader.fetch_now(place, self.with_internal) {
                may_block(|| self.read_from_disk(reader, ((at, place), given), &mut read))?;
                break;
            }
            self.read_row(reader, (at, place), &mut read)?;
        }
        Ok(read)
    }

    fn read_from_disk(
        &self,
        reader: &mut TxReader<'_>,
        (first, given): ((usize, Place), Given<'_>),
        read: &mut ReadRows,
    ) -> Result<(), Error> {
        // All that may be left at once, so that the disk is waited for once.
        let rest = self.places.get(first.0..).unwrap_or_default();
        reader.will_need(rest, self.with_internal)?;
        std::iter::once(first).chain(given).try_for_each(|at| self.read_row(reader, at, read))
    }

    fn read_row(
        &self,
        reader: &mut TxReader<'_>,
        (at, (number, index)): (usize, Place),
        read: &mut ReadRows,
    ) -> Result<(), Error> {
        if !reader.read_into(number, index, &mut read.rows)? {
            return Err(BROKEN);
        }
        read.places.push(at);
        if let Some(tx) = read.rows.last_mut().filter(|_| self.with_internal) {
            tx.frames = Some(reader.frames(number, index)?);
        }
        Ok(())
    }
}

/// The rows that are given to one thread, a few at a time.
struct Given<'a> {
    page: &'a PageRows,
    part: Range<usize>,
}

impl Iterator for Given<'_> {
    type Item = (usize, Place);

    fn next(&mut self) -> Option<(usize, Place)> {
        if self.part.is_empty() {
            let first = self.page.given.fetch_add(ROWS_AT_ONCE, Ordering::Relaxed);
            self.part = first..first + ROWS_AT_ONCE;
        }
        let at = self.part.next()?;
        self.page.places.get(at).map(|place| (at, *place))
    }
}

#[cfg(test)]
#[path = "page_rows_tests.rs"]
mod tests;
