//! Which chain is the chain: heads that are only announced, and branches that one node alone has.

use rpc::{State, UpstreamConfig};
use testkit::{Fault, SharedChain, SimNode, read, write};

use crate::setup::*;

/// Longer than any test.
const LONG_MS: u64 = 3_600_000;

#[tokio::test]
async fn a_far_head_that_is_only_announced_stops_nobody() {
    let chain = sim(400, 30);
    let (liar, honest) = (node(&chain).await, node(&chain).await);
    let rig = Rig::new(&[&liar, &honest]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    liar.faults.add(Fault::FarHead(1_000_000_000));
    let upstream = |at: usize| ingest.pool.status().upstreams[at].clone();
    let state = || format!("{:?}", ingest.pool.status().upstreams);
    let is_caught = || upstream(0).evidence.iter().any(|it| it.check == "announced head");
    while !is_caught() {
        write(&chain).extend(1);
        rig.reaches(&chain, &ingest).await;
        assert_eq!(upstream(1).state, State::Healthy, "nobody lags behind what nobody gave");
    }
    assert_eq!(upstream(0).evidence[0].block, 1_000_000_000);
    assert!(upstream(1).evidence.is_empty());
    liar.faults.clear();
    eventually("it is used again", || upstream(0).state == State::Healthy, state).await;
    while upstream(0).heads_not_delivered > 0 {
        write(&chain).extend(1);
        rig.reaches(&chain, &ingest).await;
    }
    rig.check(&chain, Dialect::Geth).await;
}

#[tokio::test]
async fn a_lone_node_that_does_not_give_its_head_is_asked_on() {
    let chain = sim(401, 20);
    let node = node(&chain).await;
    let rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    node.faults.add(Fault::FarHead(500));
    let upstream = || ingest.pool.status().upstreams[0].clone();
    let state = || format!("{:?}", upstream());
    eventually("it is counted", || upstream().heads_not_delivered > 3, state).await;
    assert_eq!((upstream().state, upstream().evidence.len()), (State::Healthy, 0));
    node.faults.clear();
    write(&chain).extend(1);
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
}

/// Two chains that are the same up to here.
fn twins(seed: u64) -> (SharedChain, SharedChain) {
    (sim(seed, 60), sim(seed, 60))
}

/// Waits until the deep revert that one node wants is held back.
async fn is_held_back(ingest: &ingest::ChainIngest) {
    let wanted = || ingest.progress.snapshot().second_word;
    let state = || format!("{:?}", ingest.progress.snapshot());
    eventually("a second word is waited for", || wanted().is_some(), state).await;
}

#[tokio::test]
async fn a_deep_revert_waits_for_a_second_node_and_nobody_waits_with_it() {
    let (chain, branch) = twins(402);
    let (honest, alone) = (node(&chain).await, node(&branch).await);
    let third = node(&branch).await;
    let (address, url) = (third.address(), third.url());
    third.stop().await;
    let mut rig = Rig::new(&[&honest, &alone]).await;
    rig.upstreams.push(UpstreamConfig::from_url(url));
    rig.config.revert_second_word_ms = LONG_MS;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    write(&branch).reorg(20, 29);
    is_held_back(&ingest).await;
    for _ in 0..3 {
        write(&chain).extend(1);
        rig.reaches(&chain, &ingest).await;
    }
    assert_eq!(ingest.progress.snapshot().blocks_reverted, 0);
    // A second node has it, too.
    let third = SimNode::start_on(branch.clone(), address).await.unwrap();
    rig.reaches(&branch, &ingest).await;
    rig.check(&branch, Dialect::Geth).await;
    let snapshot = ingest.progress.snapshot();
    assert_eq!(
        (snapshot.unconfirmed_reverts, snapshot.last_reorg.unwrap().ancestor),
        (vec![], Some(40))
    );
    drop(third);
}

#[tokio::test]
async fn a_revert_of_eight_blocks_needs_no_second_word() {
    let (chain, branch) = twins(405);
    let (silent, alone) = (node(&chain).await, node(&branch).await);
    let mut rig = Rig::new(&[&silent, &alone]).await;
    rig.config.revert_second_word_ms = LONG_MS;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    write(&branch).reorg(8, 10);
    rig.reaches(&branch, &ingest).await;
    assert_eq!(ingest.progress.snapshot().unconfirmed_reverts, []);
}

/// What is stored is the other node's chain, so that only one revert can be wanted: a block that
/// neither node has may be given up for either, and a busy machine decides which comes first.
#[tokio::test]
async fn without_a_second_word_a_deep_revert_is_done_after_a_while_and_told() {
    let (chain, branch) = twins(403);
    let (silent, alone) = (node(&chain).await, node(&branch).await);
    let rig = Rig::new(&[&silent, &alone]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    write(&branch).reorg(20, 22);
    rig.reaches(&branch, &ingest).await;
    rig.check(&branch, Dialect::Geth).await;
    let told = ingest.progress.snapshot().unconfirmed_reverts;
    assert_eq!(told.len(), 1, "{told:?}");
    let first = read(&branch).block(41).unwrap().hash.to_string();
    assert_eq!((told[0].block, told[0].hash.as_str()), (41, first.as_str()));
    assert_eq!(told[0].reverted_blocks, 20);
    assert_eq!(told[0].upstream, ingest.pool.status().upstreams[1].name);
    for upstream in ingest.pool.status().upstreams {
        assert!(upstream.evidence.is_empty(), "{:?}", upstream.evidence);
    }
}

#[tokio::test]
async fn one_node_does_not_outvote_two() {
    let (chain, branch) = twins(404);
    let (one, two, alone) = (node(&chain).await, node(&chain).await, node(&branch).await);
    let rig = Rig::new(&[&one, &two, &alone]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    write(&branch).reorg(20, 25);
    let evidence = || ingest.pool.status().upstreams[2].evidence.clone();
    let caught = || evidence().iter().any(|it| it.check == "branch");
    eventually("its branch is not believed", caught, || format!("{:?}", evidence())).await;
    write(&chain).extend(2);
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
    assert_eq!(ingest.progress.snapshot().blocks_reverted, 0);
}

#[tokio::test]
async fn a_lone_node_reverts_what_it_likes_and_it_is_told() {
    let chain = sim(405, 40);
    let node = node(&chain).await;
    let mut rig = Rig::new(&[&node]).await;
    rig.config.revert_second_word_ms = LONG_MS;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    write(&chain).reorg(12, 13);
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
    let told = ingest.progress.snapshot().unconfirmed_reverts;
    assert_eq!((told.len(), told[0].reverted_blocks), (1, 12));
    assert!(told[0].why.contains("no other node"), "{told:?}");
}

#[tokio::test]
async fn a_made_up_head_far_above_reverts_nothing_on_its_way_down() {
    let (chain, branch) = twins(406);
    let (honest, alone) = (node(&chain).await, node(&branch).await);
    let mut rig = Rig::new(&[&honest, &alone]).await;
    rig.config.revert_second_word_ms = LONG_MS;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    // Too far to be caught up with from below: a range of its own, filled downwards until it meets the other.
    write(&branch).reorg(20, 120);
    is_held_back(&ingest).await;
    for number in 0..=60 {
        let expected = read(&chain).block(number).map(|block| block.hash);
        assert_eq!(rig.summary(number).await.map(|stored| stored.hash), expected, "block {number}");
    }
}

#[tokio::test]
async fn what_was_called_finalized_wants_a_second_word() {
    let chain = sim(407, 100);
    let node = node(&chain).await;
    let mut rig = Rig::new(&[&node]).await;
    rig.config.revert_second_word_blocks = 1_000;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    let finalized = || ingest.progress.snapshot().finalized_block;
    eventually("finality is known", || finalized() == Some(36), || format!("{:?}", finalized()))
        .await;
    write(&chain).reorg(60, 61);
    rig.reaches(&chain, &ingest).await;
    assert_eq!(ingest.progress.snapshot().unconfirmed_reverts, []);
    write(&chain).reorg(70, 71);
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
    let told = ingest.progress.snapshot().unconfirmed_reverts;
    assert_eq!((told.len(), told[0].block), (1, 32), "{told:?}");
}

#[tokio::test]
async fn a_node_that_serves_another_chain_by_now_reverts_nothing() {
    let chain = sim(408, 30);
    let node = node(&chain).await;
    let rig = Rig::new(&[&node]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    let before = rig.digest().await;
    node.faults.add(Fault::WrongChainId(5));
    *write(&chain) = owned(sim(409, 45));
    let upstream = || ingest.pool.status().upstreams[0].clone();
    let state = || format!("{:?}", upstream());
    eventually("it is found out", || upstream().state == State::WrongChain, state).await;
    assert_eq!((rig.digest().await, ingest.progress.snapshot().blocks_reverted), (before, 0));
    // A dev chain that started over under its own id is another matter.
    node.faults.clear();
    rig.reaches(&chain, &ingest).await;
    rig.check(&chain, Dialect::Geth).await;
}
