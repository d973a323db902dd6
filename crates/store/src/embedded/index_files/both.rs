//! Two sources of rows in the order of their keys, from both ends. Of rows that both have, one is given.

use std::cmp::Ordering;

use crate::Error;
use crate::embedded::engine::Slice;

type Row = Result<(Slice, Slice), Error>;

pub struct Both<A, B> {
    a: Peeked<A>,
    b: Peeked<B>,
}

/// Rows, with those that were taken and are not given yet.
struct Peeked<I> {
    rows: I,
    first: Option<Row>,
    last: Option<Row>,
}

impl<I: DoubleEndedIterator<Item = Row>> Peeked<I> {
    fn new(rows: I) -> Self {
        Peeked { rows, first: None, last: None }
    }

    fn take_first(&mut self) -> Option<Row> {
        self.first.take().or_else(|| self.rows.next()).or_else(|| self.last.take())
    }

    fn take_last(&mut self) -> Option<Row> {
        self.last.take().or_else(|| self.rows.next_back()).or_else(|| self.first.take())
    }
}

impl<A, B> Both<A, B>
where
    A: DoubleEndedIterator<Item = Row>,
    B: DoubleEndedIterator<Item = Row>,
{
    /// Where they have the same row, it is that of `a`.
    pub fn new(a: A, b: B) -> Self {
        Both { a: Peeked::new(a), b: Peeked::new(b) }
    }
}

impl<A, B> Iterator for Both<A, B>
where
    A: DoubleEndedIterator<Item = Row>,
    B: DoubleEndedIterator<Item = Row>,
{
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        let Some(b) = self.b.take_first() else { return self.a.take_first() };
        let Some(a) = self.a.take_first() else { return Some(b) };
        match compare(&a, &b) {
            Ordering::Less => self.b.first = Some(b),
            Ordering::Equal => {}
            Ordering::Greater => {
                self.a.first = Some(a);
                return Some(b);
            }
        }
        Some(a)
    }
}

impl<A, B> DoubleEndedIterator for Both<A, B>
where
    A: DoubleEndedIterator<Item = Row>,
    B: DoubleEndedIterator<Item = Row>,
{
    fn next_back(&mut self) -> Option<Row> {
        let Some(b) = self.b.take_last() else { return self.a.take_last() };
        let Some(a) = self.a.take_last() else { return Some(b) };
        match compare(&b, &a) {
            Ordering::Less => self.b.last = Some(b),
            Ordering::Equal => {}
            Ordering::Greater => {
                self.a.last = Some(a);
                return Some(b);
            }
        }
        Some(a)
    }
}

/// An error comes before everything else.
fn compare(a: &Row, b: &Row) -> Ordering {
    match (a, b) {
        (Err(_), _) => Ordering::Less,
        (_, Err(_)) => Ordering::Greater,
        (Ok((a, _)), Ok((b, _))) => a.cmp(b),
    }
}
