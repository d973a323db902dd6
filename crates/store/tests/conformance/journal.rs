//! The journal: what it keeps and for whom, where a chain stands, who is told of it.

use store::{Change, Origin, Start, Version};

use crate::chain::*;
use crate::engine::{Choices, Engine, on_every_engine};
use crate::follower::Follower;
use crate::home::Home;

on_every_engine!(
    entries_say_where_their_blocks_come_from,
    the_version_rises_with_every_change_and_with_nothing_else,
    whoever_subscribes_knows_the_newest_entry_at_any_time,
    entries_behind_the_minimum_go_and_no_others,
    a_minimum_of_nothing_still_keeps_what_was_just_written,
    entries_that_a_reader_has_not_passed_stay,
);

/// The sequences that are kept.
async fn kept(home: &Home) -> Vec<u64> {
    let entries = home.view().await.journal_after(CHAIN, 0, usize::MAX).await.unwrap();
    entries.iter().map(|entry| entry.seq).collect()
}

async fn entries_say_where_their_blocks_come_from(engine: Engine) {
    let mut home = Home::new(engine).await;
    let origins = [Origin::Head, Origin::History, Origin::Import];
    for (number, origin) in (1..).zip(origins) {
        let block = home.store().prepare(CHAIN, empty_block(number, 0));
        home.commit(Change::apply(origin, vec![block])).await.unwrap();
    }
    home.commit(Change::revert(Origin::Import, vec![3])).await.unwrap();
    home.reopen().await;
    let entries = home.view().await.journal_after(CHAIN, 0, 9).await.unwrap();
    let told: Vec<Origin> = entries.iter().map(|entry| entry.origin).collect();
    assert_eq!(told, [Origin::Head, Origin::History, Origin::Import, Origin::Import]);
}

async fn the_version_rises_with_every_change_and_with_nothing_else(engine: Engine) {
    let chain = small_chain(51, 6);
    let mut home = Home::new(engine).await;
    let version = async |home: &Home| home.store().version(CHAIN).await.unwrap();
    assert_eq!(version(&home).await, Version::default());
    let before = home.view().await;
    home.apply(vec![home.at(&chain, 1), home.untraced(&chain, chain.block(2).unwrap().hash)])
        .await
        .unwrap();
    assert_eq!(version(&home).await, Version { seq: 2, generation: 0 });
    home.amend(vec![home.at(&chain, 2)]).await.unwrap();
    home.revert(vec![2]).await.unwrap();
    let now = Version { seq: 4, generation: 0 };
    assert_eq!(version(&home).await, now);
    // Nothing new, something refused, somebody who reads: no other version.
    home.apply(vec![home.at(&chain, 1)]).await.unwrap();
    home.commit(Change::default()).await.unwrap();
    home.revert(vec![9]).await.unwrap_err();
    let mut follower = Follower::open(home.store(), "reads", Start::Block(1)).await;
    follower.drain().await;
    follower.commit().await;
    drop(follower);
    assert_eq!(version(&home).await, now);
    assert_eq!(before.version(CHAIN).await.unwrap(), Version::default());
    drop(before);
    home.reopen().await;
    assert_eq!(version(&home).await, now);
    assert_eq!(home.view().await.version(CHAIN).await.unwrap(), now);
}

async fn whoever_subscribes_knows_the_newest_entry_at_any_time(engine: Engine) {
    let chain = small_chain(52, 6);
    let mut home = Home::indexed(engine, &chain).await;
    home.reopen().await;
    let mut told = home.store().subscribe(CHAIN);
    assert_eq!(*told.borrow_and_update(), 7);
    home.revert(vec![6, 5]).await.unwrap();
    assert!(told.has_changed().unwrap());
    assert_eq!(*told.borrow_and_update(), 9);
    home.revert(vec![6]).await.unwrap_err();
    assert!(!told.has_changed().unwrap(), "nothing was written");
    let other = model::chain::ChainId(CHAIN.0 + 1);
    assert_eq!(*home.store().subscribe(other).borrow(), 0);
}

async fn entries_behind_the_minimum_go_and_no_others(engine: Engine) {
    let choices = Choices { journal_entries_min: 5, ..Choices::default() };
    let mut home = Home::with(engine, choices).await;
    for number in 1..=4 {
        home.apply_empty(number, 0).await;
    }
    assert_eq!(kept(&home).await, [1, 2, 3, 4]);
    for number in 5..=20 {
        home.apply_empty(number, 0).await;
        let newest = home.seq().await;
        let kept = kept(&home).await;
        assert_eq!(kept.last(), Some(&newest));
        assert!(kept.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{kept:?}");
        assert!(kept.len() >= 5);
    }
    assert_eq!(kept(&home).await, [16, 17, 18, 19, 20]);
    home.reopen().await;
    // All of one commit stay, however many there are.
    let blocks = (21..=40).map(|n| home.store().prepare(CHAIN, empty_block(n, 0)));
    let done = home.apply(blocks.collect()).await.unwrap();
    let of_commit: Vec<u64> = done.entries.iter().map(|entry| entry.seq).collect();
    assert!(kept(&home).await.ends_with(&of_commit));
    home.revert(vec![40]).await.unwrap();
    assert_eq!(kept(&home).await, [37, 38, 39, 40, 41]);
    assert_eq!(home.seq().await, 41, "sequences go on");
}

async fn a_minimum_of_nothing_still_keeps_what_was_just_written(engine: Engine) {
    let choices = Choices { journal_entries_min: 0, ..Choices::default() };
    let home = Home::with(engine, choices).await;
    for number in 1..=6 {
        home.apply_empty(number, 0).await;
        assert_eq!(kept(&home).await, [number]);
    }
    assert_eq!(home.revert(vec![6, 5]).await.unwrap().entries.len(), 2);
    assert_eq!(kept(&home).await, [7, 8]);
}

async fn entries_that_a_reader_has_not_passed_stay(engine: Engine) {
    let choices = Choices { journal_entries_min: 2, ..Choices::default() };
    let mut home = Home::with(engine, choices).await;
    home.apply_empty(1, 0).await;
    let mut slow = Follower::open(home.store(), "slow", Start::Block(1)).await;
    let mut quick = Follower::open(home.store(), "quick", Start::Block(1)).await;
    // It sees two blocks, says so, and is away while they are replaced.
    home.apply_empty(2, 0).await;
    assert_eq!((slow.drain().await, quick.drain().await), (2, 2));
    slow.commit().await;
    drop(slow);
    home.commit(Change::revert(Origin::Head, vec![2, 1])).await.unwrap();
    for number in 1..=100 {
        home.apply_empty(number, 1).await;
    }
    quick.drain().await;
    quick.commit().await;
    drop(quick);
    home.reopen().await;
    home.apply_empty(101, 1).await;
    // Its cursor is at the second entry: the third is the oldest that it needs.
    assert_eq!(kept(&home).await, (3..=105).collect::<Vec<u64>>());
    let mut slow = Follower::open(home.store(), "slow", Start::Head).await;
    assert_eq!(slow.drain().await, 2 + 101);
    assert_eq!(kept(&home).await.first(), Some(&3), "it did not say so yet");
    slow.commit().await;
    home.apply_empty(102, 1).await;
    let next = |name: &'static str| {
        let home = &home;
        async move {
            let readers = home.view().await.readers(CHAIN).await.unwrap();
            readers.into_iter().find(|reader| reader.name == name).unwrap().cursor.seq
        }
    };
    assert_eq!((next("quick").await, next("slow").await), (104, 105));
    home.prune().await;
    assert_eq!(kept(&home).await.first(), Some(&105), "now the other one is behind");
    assert!(home.store().remove_reader(CHAIN, "quick").await.unwrap());
    home.prune().await;
    assert_eq!(kept(&home).await.first(), Some(&106));
    assert!(home.store().remove_reader(CHAIN, "slow").await.unwrap());
    home.prune().await;
    assert_eq!(kept(&home).await.len(), 2, "the minimum");
}
