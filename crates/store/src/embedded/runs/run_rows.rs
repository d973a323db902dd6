//! The rows of several runs in the order of their keys.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

use super::run::{Run, RunTable};
use super::sorted_rows::start_of_key;
use crate::Error;
use crate::embedded::engine::Slice;

/// From both ends. For a few rows of many runs: finding the next looks at each run.
#[derive(Default)]
pub struct RunRows(Vec<Cursor>);

struct Cursor {
    run: Arc<Run>,
    table: RunTable,
    left: Range<usize>,
}

impl RunRows {
    pub fn new(
        runs: &[Arc<Run>],
        table: Option<RunTable>,
        rows: impl Fn(&Run, RunTable) -> Range<usize>,
    ) -> Self {
        let Some(table) = table else { return RunRows::default() };
        let cursor = |run: &Arc<Run>| {
            let left = rows(run, table);
            (!left.is_empty()).then(|| Cursor { run: run.clone(), table, left })
        };
        RunRows(runs.iter().filter_map(cursor).collect())
    }

    fn take_first(&mut self) -> Option<(Slice, Slice)> {
        let at = self.first_at()?;
        let cursor = self.0.get_mut(at)?;
        let index = cursor.left.next()?;
        let row = cursor.row(index);
        self.drop_if_done(at);
        Some(row)
    }

    fn take_last(&mut self) -> Option<(Slice, Slice)> {
        let at = self.last_at()?;
        let cursor = self.0.get_mut(at)?;
        let index = cursor.left.next_back()?;
        let row = cursor.row(index);
        self.drop_if_done(at);
        Some(row)
    }

    fn drop_if_done(&mut self, at: usize) {
        if self.0.get(at).is_some_and(|cursor| cursor.left.is_empty()) {
            self.0.swap_remove(at);
        }
    }

    fn first_at(&self) -> Option<usize> {
        let all = self.0.iter().enumerate();
        all.min_by(|(_, a), (_, b)| a.key(a.left.start).cmp(&b.key(b.left.start))).map(|it| it.0)
    }

    fn last_at(&self) -> Option<usize> {
        let all = self.0.iter().enumerate();
        let last = |cursor: &Cursor| cursor.left.end.saturating_sub(1);
        all.max_by(|(_, a), (_, b)| a.key(last(a)).cmp(&b.key(last(b)))).map(|it| it.0)
    }
}

impl Iterator for RunRows {
    type Item = Result<(Slice, Slice), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.take_first().map(Ok)
    }
}

impl DoubleEndedIterator for RunRows {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.take_last().map(Ok)
    }
}

impl Cursor {
    fn key(&self, index: usize) -> (u64, &[u8]) {
        (self.run.chain.0, self.run.row(self.table, index).0)
    }

    fn row(&self, index: usize) -> (Slice, Slice) {
        let (key, value) = self.run.row(self.table, index);
        let chain = self.run.chain.0.to_be_bytes();
        (Slice::from([chain.as_slice(), key].concat()), Slice::from(value))
    }
}

/// All rows of a table in all runs: key without its chain, and value. The runs are of one chain.
pub fn merged_rows<'a>(
    runs: &'a [Arc<Run>],
    table: RunTable,
) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + 'a {
    let entry = move |run: &'a Arc<Run>, index: usize| {
        (index < run.rows(table)).then(|| {
            let (key, value) = run.row(table, index);
            Next { start: start_of_key(key), key, value, run, index }
        })
    };
    let mut heap: BinaryHeap<Reverse<Next>> =
        runs.iter().filter_map(|run| entry(run, 0)).map(Reverse).collect();
    std::iter::from_fn(move || {
        let mut top = heap.peek_mut()?;
        let Next { key, value, run, index, .. } = top.0;
        match entry(run, index + 1) {
            Some(next) => top.0 = next,
            None => drop(std::collections::binary_heap::PeekMut::pop(top)),
        }
        Some((key, value))
    })
}

#[derive(Clone, Copy)]
struct Next<'a> {
    start: u64,
    key: &'a [u8],
    value: &'a [u8],
    run: &'a Arc<Run>,
    index: usize,
}

impl PartialEq for Next<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Next<'_> {}

impl PartialOrd for Next<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Next<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.start.cmp(&other.start).then_with(|| self.key.cmp(other.key))
    }
}
