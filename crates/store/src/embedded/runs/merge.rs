//! Two sources of rows in the order of their keys, from both ends. Of rows that both have, one is given.

use std::cmp::Ordering;
use std::iter::Fuse;

use crate::Error;
use crate::embedded::engine::Slice;

type Row = Result<(Slice, Slice), Error>;

pub struct Merged<A, B> {
    a: Peeked<A>,
    b: Peeked<B>,
}

/// Rows, with those that were taken and are not given yet.
struct Peeked<I> {
    /// One that has ended is not asked again with every row of the other.
    rows: Fuse<I>,
    first: Option<Row>,
    last: Option<Row>,
}

impl<I: DoubleEndedIterator<Item = Row>> Peeked<I> {
    fn new(rows: I) -> Self {
        Peeked { rows: rows.fuse(), first: None, last: None }
    }

    fn take_first(&mut self) -> Option<Row> {
        self.first.take().or_else(|| self.rows.next()).or_else(|| self.last.take())
    }

    fn take_last(&mut self) -> Option<Row> {
        self.last.take().or_else(|| self.rows.next_back()).or_else(|| self.first.take())
    }
}

impl<A, B> Merged<A, B>
where
    A: DoubleEndedIterator<Item = Row>,
    B: DoubleEndedIterator<Item = Row>,
{
    /// Where they have the same row, it is that of `a`.
    pub fn new(a: A, b: B) -> Self {
        Merged { a: Peeked::new(a), b: Peeked::new(b) }
    }
}

impl<A, B> Iterator for Merged<A, B>
where
    A: DoubleEndedIterator<Item = Row>,
    B: DoubleEndedIterator<Item = Row>,
{
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        let Some(b) = self.b.take_first() else { return self.a.take_first() };
        let Some(a) = self.a.take_first() else { return Some(b) };
        let row;
        (row, self.a.first, self.b.first) = choose(a, b, |a, b| a.cmp(b));
        Some(row)
    }
}

impl<A, B> DoubleEndedIterator for Merged<A, B>
where
    A: DoubleEndedIterator<Item = Row>,
    B: DoubleEndedIterator<Item = Row>,
{
    fn next_back(&mut self) -> Option<Row> {
        let Some(b) = self.b.take_last() else { return self.a.take_last() };
        let Some(a) = self.a.take_last() else { return Some(b) };
        let row;
        (row, self.a.last, self.b.last) = choose(a, b, |a, b| b.cmp(a));
        Some(row)
    }
}

/// The row that comes next, and the one of `a` or `b` that has to wait. An error comes at once, from either end: rows
/// that it hides may come before all others.
fn choose(
    a: Row,
    b: Row,
    compare: impl Fn(&Slice, &Slice) -> Ordering,
) -> (Row, Option<Row>, Option<Row>) {
    let order = match (&a, &b) {
        (Err(_), _) => Ordering::Less,
        (_, Err(_)) => Ordering::Greater,
        (Ok((a, _)), Ok((b, _))) => compare(a, b),
    };
    match order {
        Ordering::Less => (a, None, Some(b)),
        Ordering::Equal => (a, None, None),
        Ordering::Greater => (b, Some(a), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_either_source_comes_at_once_from_either_end() {
        let good = || {
            vec![Ok((Slice::from([1]), Slice::from([]))), Ok((Slice::from([2]), Slice::from([])))]
        };
        let bad = || vec![Err(Error::Broken { what: "row" })];
        for (a, b) in [(good(), bad()), (bad(), good())] {
            assert!(Merged::new(a.into_iter(), b.into_iter()).next().unwrap().is_err());
        }
        for (a, b) in [(good(), bad()), (bad(), good())] {
            assert!(Merged::new(a.into_iter(), b.into_iter()).next_back().unwrap().is_err());
        }
    }
}
