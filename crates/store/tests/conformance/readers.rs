//! Journal readers: each block once and rising, reverts newest first, nothing lost.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use store::{Change, Error, EventKind, Origin, Reader, ReaderRow, Start};

use crate::chain::*;
use crate::engine::{Engine, on_every_engine};
use crate::follower::Follower;
use crate::home::Home;

on_every_engine!(
    a_reader_walks_the_chain_from_where_it_begins,
    from_the_head_means_the_next_block,
    from_the_head_of_an_empty_chain_means_its_newest_block,
    a_reader_waits_where_a_block_is_missing,
    a_reorganisation_is_told_newest_first,
    a_block_that_came_and_went_unseen_is_not_told_of,
    seen_blocks_that_are_amended_are_told_of,
    what_was_not_committed_is_given_again,
    rows_and_place_are_written_together_or_not_at_all,
    readers_do_not_see_each_others_rows,
    readers_are_listed_with_their_lag,
    waiting_ends_with_the_write_and_not_before,
    a_reader_that_nothing_concerns_still_moves_on,
    a_block_that_is_gone_is_not_given,
);

async fn told(follower: &mut Follower) -> Vec<(EventKind, u64)> {
    let mut told = Vec::new();
    while let Some(event) = follower.step().await {
        told.push((event.kind, event.number));
    }
    told
}

fn applied(numbers: impl IntoIterator<Item = u64>) -> Vec<(EventKind, u64)> {
    numbers.into_iter().map(|number| (EventKind::Apply, number)).collect()
}

async fn a_reader_walks_the_chain_from_where_it_begins(engine: Engine) {
    let home = Home::new(engine).await;
    for number in [5, 6, 7, 4, 3] {
        home.apply_empty(number, 0).await;
    }
    let mut follower = Follower::open(home.store(), "reader", Start::Block(4)).await;
    assert_eq!((follower.reader.name(), follower.reader.chain()), ("reader", CHAIN));
    assert_eq!(told(&mut follower).await, applied(4..=7));
    home.apply_empty(2, 0).await;
    assert_eq!(told(&mut follower).await, [], "it began above");
    home.apply_empty(8, 0).await;
    assert_eq!(told(&mut follower).await, applied([8]));
    // One that begins with a block to come waits for it.
    let mut later = Follower::open(home.store(), "later", Start::Block(10)).await;
    home.apply_empty(9, 0).await;
    assert_eq!(told(&mut later).await, []);
    home.apply_empty(10, 0).await;
    assert_eq!(told(&mut later).await, applied([10]));
}

async fn from_the_head_means_the_next_block(engine: Engine) {
    let home = Home::new(engine).await;
    home.apply_empty(1, 0).await;
    home.apply_empty(2, 0).await;
    let mut follower = Follower::open(home.store(), "reader", Start::Head).await;
    assert_eq!(told(&mut follower).await, []);
    home.apply_empty(3, 0).await;
    assert_eq!(told(&mut follower).await, applied([3]));
    // What is below where it began does not concern it; what it saw does.
    home.commit(Change::revert(Origin::Head, vec![3, 2, 1])).await.unwrap();
    home.apply_empty(1, 1).await;
    home.apply_empty(2, 1).await;
    assert_eq!(told(&mut follower).await, [(EventKind::Revert, 3)]);
    home.apply_empty(3, 1).await;
    assert_eq!(told(&mut follower).await, applied([3]));
}

async fn from_the_head_of_an_empty_chain_means_its_newest_block(engine: Engine) {
    let home = Home::new(engine).await;
    let mut follower = Follower::open(home.store(), "reader", Start::Head).await;
    assert_eq!(follower.reader.committed(), None);
    assert_eq!(told(&mut follower).await, []);
    let blocks = (3..=5).map(|number| home.store().prepare(CHAIN, empty_block(number, 0)));
    home.apply(blocks.collect()).await.unwrap();
    assert_eq!(told(&mut follower).await, applied([5]));
    home.apply_empty(2, 0).await;
    home.apply_empty(6, 0).await;
    assert_eq!(told(&mut follower).await, applied([6]));
    assert_eq!(follower.reader.committed().unwrap().start, 5);
}

async fn a_reader_waits_where_a_block_is_missing(engine: Engine) {
    let home = Home::new(engine).await;
    for number in [1, 2, 5, 6, 7] {
        home.apply_empty(number, 0).await;
    }
    let mut follower = Follower::open(home.store(), "reader", Start::Block(1)).await;
    assert_eq!(told(&mut follower).await, applied([1, 2]));
    home.apply_empty(4, 0).await;
    assert_eq!(told(&mut follower).await, []);
    // Replaced before it came there: it never hears of it.
    home.commit(Change::revert(Origin::Head, vec![7, 6, 5, 4])).await.unwrap();
    for number in 3..=6 {
        home.apply_empty(number, u8::from(number > 3)).await;
    }
    assert_eq!(told(&mut follower).await, applied(3..=6));
}

async fn a_reorganisation_is_told_newest_first(engine: Engine) {
    let mut chain = small_chain(61, 8);
    let home = Home::indexed(engine, &chain).await;
    let mut follower = Follower::open(home.store(), "reader", Start::Block(2)).await;
    assert_eq!(told(&mut follower).await, applied(2..=8));
    chain.reorg(4, 3);
    let change = Change {
        revert: vec![8, 7, 6, 5],
        ..Change::apply(Origin::Head, (5..=7).map(|n| home.at(&chain, n)).collect())
    };
    home.commit(change).await.unwrap();
    // In the middle of it the chain moves again.
    assert_eq!(follower.step().await.map(|event| event.number), Some(8));
    home.revert(vec![7, 6, 5, 4, 3, 2, 1, 0]).await.unwrap();
    let reverted: Vec<_> = (2..=7).rev().map(|number| (EventKind::Revert, number)).collect();
    assert_eq!(told(&mut follower).await, reverted);
    assert!(follower.seen.is_empty());
    home.apply(home.all(&chain)).await.unwrap();
    assert_eq!(told(&mut follower).await, applied(2..=7));
}

async fn a_block_that_came_and_went_unseen_is_not_told_of(engine: Engine) {
    let home = Home::new(engine).await;
    home.apply_empty(1, 0).await;
    let mut follower = Follower::open(home.store(), "reader", Start::Block(1)).await;
    assert_eq!(told(&mut follower).await, applied([1]));
    for branch in 1..5 {
        home.apply_empty(2, branch).await;
        home.revert(vec![2]).await.unwrap();
    }
    assert_eq!(told(&mut follower).await, []);
    home.apply_empty(2, 9).await;
    assert_eq!(told(&mut follower).await, applied([2]));
}

async fn seen_blocks_that_are_amended_are_told_of(engine: Engine) {
    let chain = small_chain(62, 4);
    let home = Home::new(engine).await;
    for block in chain.blocks() {
        home.apply(vec![home.untraced(&chain, block.hash)]).await.unwrap();
    }
    let mut follower = Follower::open(home.store(), "reader", Start::Block(1)).await;
    for _ in 0..2 {
        follower.step().await.unwrap();
    }
    // Seen, seen, not seen yet, below the first.
    home.amend([1, 2, 3, 0].map(|number| home.at(&chain, number)).into()).await.unwrap();
    let amended = |number| (EventKind::Amend, number);
    let mut expected = vec![amended(1), amended(2)];
    expected.extend(applied([3, 4]));
    assert_eq!(told(&mut follower).await, expected);
    let has_traces: Vec<bool> = follower.seen.values().map(|(_, has)| *has).collect();
    assert_eq!(has_traces, [true, true, true, false]);
}

async fn what_was_not_committed_is_given_again(engine: Engine) {
    let mut home = Home::new(engine).await;
    for number in 1..=6 {
        home.apply_empty(number, 0).await;
    }
    let mut follower = Follower::open(home.store(), "reader", Start::Block(1)).await;
    for _ in 0..3 {
        follower.step().await.unwrap();
    }
    follower.commit().await;
    let committed = follower.reader.committed().unwrap();
    assert_eq!((committed.start, committed.next), (1, 4));
    assert_eq!(told(&mut follower).await, applied(4..=6));
    drop(follower);
    home.reopen().await;
    // Where it is to start is asked of a new one only.
    let mut again = Follower::open(home.store(), "reader", Start::Block(77)).await;
    assert_eq!(again.reader.committed(), Some(committed));
    assert_eq!(again.seen.len(), 3);
    assert_eq!(told(&mut again).await, applied(4..=6));
    again.commit().await;
    home.revert(vec![6]).await.unwrap();
    let mut third = Follower::open(home.store(), "reader", Start::Head).await;
    assert_eq!(told(&mut third).await, [(EventKind::Revert, 6)]);
}

fn row(key: &[u8], value: Option<&[u8]>) -> ReaderRow {
    ReaderRow { key: key.to_vec(), value: value.map(<[u8]>::to_vec) }
}

async fn rows_and_place_are_written_together_or_not_at_all(engine: Engine) {
    let home = Home::new(engine).await;
    for number in 1..=3 {
        home.apply_empty(number, 0).await;
    }
    let open = async || Reader::open(home.store(), "one", CHAIN, Start::Block(1)).await.unwrap();
    let (mut mine, mut theirs) = (open().await, open().await);
    let first = mine.next().await.unwrap().unwrap();
    // Of rows with the same key the last one counts.
    let rows = vec![row(b"a", Some(b"1")), row(b"b", Some(b"1")), row(b"a", Some(b"2"))];
    mine.commit(first.cursor, rows).await.unwrap();
    let stored = [row(b"a", Some(b"2")), row(b"b", Some(b"1"))];
    assert_eq!(mine.rows(b"", 9).await.unwrap(), stored);
    let event = theirs.next().await.unwrap().unwrap();
    let moved = theirs.commit(event.cursor, vec![row(b"c", Some(b"3"))]).await;
    assert!(matches!(moved, Err(Error::ReaderMoved { ref name }) if name == "one"), "{moved:?}");
    assert!(!moved.unwrap_err().is_retryable());
    assert_eq!(theirs.rows(b"", 9).await.unwrap(), stored, "nothing of it was written");
    assert_eq!(open().await.committed(), Some(first.cursor));
    let second = mine.next().await.unwrap().unwrap();
    let mut rows = vec![row(b"b", None), row(b"d", None)];
    rows.extend([row(b"e", Some(b"5")), row(b"e", None), row(b"f", None), row(b"f", Some(b"6"))]);
    mine.commit(second.cursor, rows).await.unwrap();
    let stored = [row(b"a", Some(b"2")), row(b"f", Some(b"6"))];
    assert_eq!(mine.rows(b"", 9).await.unwrap(), stored);
    assert!(home.store().remove_reader(CHAIN, "one").await.unwrap());
    assert!(!home.store().remove_reader(CHAIN, "one").await.unwrap());
    let gone = mine.commit(second.cursor, Vec::new()).await;
    assert!(matches!(gone, Err(Error::ReaderMoved { .. })), "{gone:?}");
    assert_eq!(open().await.rows(b"", 9).await.unwrap(), []);
}

async fn readers_do_not_see_each_others_rows(engine: Engine) {
    let mut home = Home::new(engine).await;
    home.apply_empty(1, 0).await;
    for name in ["a", "ab", "b"] {
        let mut reader = Reader::open(home.store(), name, CHAIN, Start::Block(1)).await.unwrap();
        let event = reader.next().await.unwrap().unwrap();
        let keys = [b"b".as_slice(), b"bb", b"c", b""];
        let rows = keys.map(|key| row(key, Some(name.as_bytes())));
        reader.commit(event.cursor, rows.into()).await.unwrap();
    }
    home.reopen().await;
    for name in ["a", "ab", "b"] {
        let own = |key: &[u8]| row(key, Some(name.as_bytes()));
        let view = home.view().await;
        let rows = view.reader_rows(CHAIN, name, b"", 9).await.unwrap();
        assert_eq!(rows, [own(b""), own(b"b"), own(b"bb"), own(b"c")]);
        let rows = view.reader_rows(CHAIN, name, b"b", 1).await.unwrap();
        assert_eq!(rows, [own(b"b")]);
        let rows = view.reader_rows(CHAIN, name, b"b", 9).await.unwrap();
        assert_eq!(rows, [own(b"b"), own(b"bb")]);
    }
    assert!(home.store().remove_reader(CHAIN, "a").await.unwrap());
    let view = home.view().await;
    assert_eq!(view.reader_rows(CHAIN, "a", b"", 9).await.unwrap(), []);
    assert_eq!(view.reader_rows(CHAIN, "ab", b"", 9).await.unwrap().len(), 4);
    let other = model::chain::ChainId(CHAIN.0 + 1);
    assert_eq!(view.reader_rows(other, "ab", b"", 9).await.unwrap(), []);
    assert_eq!(view.readers(other).await.unwrap(), []);
}

async fn readers_are_listed_with_their_lag(engine: Engine) {
    let mut home = Home::new(engine).await;
    for number in 1..=5 {
        home.apply_empty(number, 0).await;
    }
    let mut slow = Follower::open(home.store(), "slow", Start::Block(2)).await;
    slow.step().await.unwrap();
    slow.commit().await;
    slow.step().await.unwrap();
    let _quick = Follower::open(home.store(), "quick", Start::Head).await;
    let _ahead = Follower::open(home.store(), "ahead", Start::Block(50)).await;
    drop((slow, _quick, _ahead));
    home.reopen().await;
    let listed = home.view().await.readers(CHAIN).await.unwrap();
    let listed: Vec<_> =
        listed.iter().map(|r| (r.name.as_str(), r.cursor.next, r.lag_blocks)).collect();
    assert_eq!(listed, [("ahead", 50, 0), ("quick", 6, 0), ("slow", 3, 3)]);
}

/// Looks once, without waiting.
fn is_ready(future: std::pin::Pin<&mut impl Future>) -> bool {
    matches!(future.poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(_))
}

async fn waiting_ends_with_the_write_and_not_before(engine: Engine) {
    let home = Home::new(engine).await;
    home.apply_empty(1, 0).await;
    let mut reader = Reader::open(home.store(), "reader", CHAIN, Start::Block(1)).await.unwrap();
    while reader.next().await.unwrap().is_some() {}
    assert!(!is_ready(pin!(reader.wait())));
    {
        let mut waiting = pin!(reader.wait());
        assert!(!is_ready(waiting.as_mut()));
        home.apply_empty(2, 0).await;
        assert!(is_ready(waiting.as_mut()), "no time has to pass");
    }
    assert!(reader.next().await.unwrap().is_some());
    // What is written between the last look and the wait is not missed.
    assert!(reader.next().await.unwrap().is_none());
    home.apply_empty(3, 0).await;
    assert!(is_ready(pin!(reader.wait())));
    // What was looked at already ends no wait.
    while reader.next().await.unwrap().is_some() {}
    home.apply_empty(4, 0).await;
    while reader.next().await.unwrap().is_some() {}
    assert!(!is_ready(pin!(reader.wait())));
    // A task that sleeps on it is woken.
    let waiting = tokio::spawn(async move {
        reader.wait().await;
        reader.next().await.unwrap().unwrap().number
    });
    tokio::task::yield_now().await;
    home.apply_empty(5, 0).await;
    assert_eq!(waiting.await.unwrap(), 5);
}

/// Otherwise the journal behind it would be kept for ever.
async fn a_reader_that_nothing_concerns_still_moves_on(engine: Engine) {
    let home = Home::new(engine).await;
    let fill = async |numbers: std::ops::Range<u64>| {
        let blocks = numbers.rev().map(|n| home.store().prepare(CHAIN, empty_block(n, 0)));
        home.commit(Change::apply(Origin::History, blocks.collect())).await.unwrap();
    };
    home.apply_empty(20_000, 0).await;
    let mut follower = Follower::open(home.store(), "reader", Start::Block(20_000)).await;
    follower.step().await.unwrap();
    fill(19_999..20_000).await;
    // It looks further before it says that it is done with the step.
    assert!(follower.step().await.is_none());
    follower.commit().await;
    fill(15_000..19_999).await;
    assert!(follower.step().await.is_none());
    let known = home.view().await.readers(CHAIN).await.unwrap()[0].cursor;
    assert_eq!((known.seq, known.next), (home.seq().await, 20_001));
    // With an open step it must not: a crash would lose it.
    home.apply_empty(20_001, 0).await;
    follower.step().await.unwrap();
    fill(10_000..15_000).await;
    assert!(follower.step().await.is_none());
    drop(follower);
    let mut again = Follower::open(home.store(), "reader", Start::Head).await;
    assert_eq!(told(&mut again).await, applied([20_001]));
}

async fn a_block_that_is_gone_is_not_given(engine: Engine) {
    let chain = small_chain(63, 4);
    let home = Home::indexed(engine, &chain).await;
    let mut reader = Reader::open(home.store(), "reader", CHAIN, Start::Block(4)).await.unwrap();
    let event = reader.next().await.unwrap().unwrap();
    let (block, proof) = reader.block_if(event.number, event.hash).await.unwrap().unwrap();
    assert_eq!((block.hash, proof), (chain.block(4).unwrap().hash, proven()));
    home.revert(vec![4]).await.unwrap();
    assert!(reader.block_if(event.number, event.hash).await.unwrap().is_none());
}
