//! Rows of a table and rows of runs, in the order of their keys, from both ends.

use super::run_rows::RunRows;
use crate::Error;
use crate::embedded::engine::Slice;

type Row = Result<(Slice, Slice), Error>;

pub struct Merged<I> {
    table: I,
    /// Taken from the table and not yet given.
    first: Option<Row>,
    last: Option<Row>,
    runs: RunRows,
}

impl<I: DoubleEndedIterator<Item = Row>> Merged<I> {
    pub fn new(table: I, runs: RunRows) -> Self {
        Merged { table, first: None, last: None, runs }
    }
}

impl<I: DoubleEndedIterator<Item = Row>> Iterator for Merged<I> {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        let first = self.first.take().or_else(|| self.table.next()).or_else(|| self.last.take());
        let Some(Ok((key, value))) = first else {
            return first.or_else(|| self.runs.take_first().map(Ok));
        };
        match self.runs.compare_first(&key) {
            Some(order) if order.is_lt() => {
                self.first = Some(Ok((key, value)));
                self.runs.take_first().map(Ok)
            }
            order => {
                if order.is_some_and(|order| order.is_eq()) {
                    self.runs.take_first();
                }
                Some(Ok((key, value)))
            }
        }
    }
}

impl<I: DoubleEndedIterator<Item = Row>> DoubleEndedIterator for Merged<I> {
    fn next_back(&mut self) -> Option<Row> {
        let last =
            self.last.take().or_else(|| self.table.next_back()).or_else(|| self.first.take());
        let Some(Ok((key, value))) = last else {
            return last.or_else(|| self.runs.take_last().map(Ok));
        };
        match self.runs.compare_last(&key) {
            Some(order) if order.is_gt() => {
                self.last = Some(Ok((key, value)));
                self.runs.take_last().map(Ok)
            }
            order => {
                if order.is_some_and(|order| order.is_eq()) {
                    self.runs.take_last();
                }
                Some(Ok((key, value)))
            }
        }
    }
}
