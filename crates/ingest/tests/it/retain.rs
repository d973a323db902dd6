//! A chain that keeps its newest blocks only: what is left is what a store holds that never saw the rest.

use ingest::ChainIngest;
use store::{Reader, Start};
use testkit::{SharedChain, read, write};

use crate::setup::*;

const KEEP: u64 = 64;
/// Blocks that may gather before they are dropped.
const SLACK: u64 = KEEP / 16;

/// Waits until exactly the newest blocks are there, give or take the slack, and says the oldest.
async fn kept(rig: &Rig, chain: &SharedChain, ingest: &ChainIngest) -> u64 {
    let (number, hash) = {
        let chain = read(chain);
        (chain.head_number(), chain.head().hash)
    };
    let cut = number + 1 - KEEP;
    eventually_gives("the newest blocks are left", async || {
        let (head, ranges) = (rig.summary(number).await, rig.ranges().await);
        let state = format!("{ranges:?} at {number}: {:?}", ingest.progress.snapshot());
        match ranges.as_slice() {
            [(from, to)]
                if *to == number
                    && head.is_some_and(|head| head.hash == hash)
                    && (*from <= cut && *from + SLACK > cut) =>
            {
                Ok(*from)
            }
            _ => Err(state),
        }
    })
    .await
}

/// Rows, counts and answers are those of the blocks from `oldest` on alone.
async fn check(rig: &mut Rig, chain: &SharedChain, oldest: u64) {
    let from_block = std::mem::replace(&mut rig.from_block, oldest);
    rig.check(chain, Dialect::Geth).await;
    rig.from_block = from_block;
}

#[tokio::test]
async fn the_newest_blocks_are_kept_whatever_comes() {
    let chain = sim(61, 300);
    let node = node(&chain).await;
    let mut rig = Rig::new(&[&node]).await;
    rig.retain_blocks = Some(KEEP);
    let ingest = rig.start();
    let oldest = kept(&rig, &chain, &ingest).await;
    let applied = ingest.progress.snapshot().blocks_applied;
    assert!(applied < 2 * KEEP, "history that would be dropped is not asked for: {applied}");
    check(&mut rig, &chain, oldest).await;
    // Ten times as many, with reorgs up to what is kept.
    for round in 0..40u64 {
        if round % 4 == 3 {
            let depth = (round * 7 % (KEEP - 1)) as usize;
            write(&chain).reorg(depth, depth + 5);
        } else {
            write(&chain).extend(20);
        }
        if round % 8 == 5 {
            let oldest = kept(&rig, &chain, &ingest).await;
            check(&mut rig, &chain, oldest).await;
        }
    }
    let oldest = kept(&rig, &chain, &ingest).await;
    check(&mut rig, &chain, oldest).await;
    let status = ingest.progress.snapshot().retain.unwrap();
    assert!(status.retain_blocks == KEEP && status.blocks_pruned > 5 * KEEP, "{status:?}");
    assert_eq!(status.waiting, None);
    assert_eq!(ingest.progress.snapshot().blocks_missing, 0);
}

#[tokio::test]
async fn what_was_stored_before_goes_when_the_newest_blocks_are_there() {
    let chain = sim(62, 90);
    let node = node(&chain).await;
    let mut rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    drop(ingest);
    // Away for a while; and the operator wants less from now on.
    write(&chain).extend(300);
    rig.retain_blocks = Some(KEEP);
    let ingest = rig.start();
    let oldest = kept(&rig, &chain, &ingest).await;
    check(&mut rig, &chain, oldest).await;
    drop(ingest);
    // More again: history is filled anew.
    rig.retain_blocks = None;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
}

#[tokio::test]
async fn a_reader_that_is_behind_is_waited_for_and_named() {
    let chain = sim(63, 100);
    let node = node(&chain).await;
    let mut rig = Rig::new(&[&node]).await;
    rig.retain_blocks = Some(KEEP);
    let ingest = rig.start();
    kept(&rig, &chain, &ingest).await;
    let mut reader = Reader::open(&rig.store, "slow", CHAIN, Start::Head).await.unwrap();
    write(&chain).extend(200);
    let waiting = || ingest.progress.snapshot().retain.unwrap().waiting.unwrap_or_default();
    let names = || waiting().contains("'slow' still needs block 101");
    eventually("the reader is named", names, waiting).await;
    assert_eq!(rig.ranges().await, [(101, 300)], "no more than it has passed");
    // It sees every block, and no word of those that went.
    for expected in 101..=300 {
        let event = reader.next().await.unwrap().unwrap();
        assert_eq!((event.kind, event.number), (store::EventKind::Apply, expected));
        assert!(reader.block_if(event.number, event.hash).await.unwrap().is_some());
        reader.commit(event.cursor, Vec::new()).await.unwrap();
    }
    let oldest = kept(&rig, &chain, &ingest).await;
    check(&mut rig, &chain, oldest).await;
    eventually("nobody is waited for", || waiting().is_empty(), waiting).await;
}
