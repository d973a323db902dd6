//! Two engines that saw the same blocks have the same digest, and what is copied from one to the other is the same.

use std::sync::Mutex;

use model::chain::ChainId;
use store::{ApiKey, Change, CopyProgress, MethodRules, Origin, Role};
use testkit::SimConfig;

use crate::chain::*;
use crate::engine::Engine;
use crate::home::Home;
use crate::made_facts;
use crate::postgres_server;

/// Blocks with facts, a reorg, an amendment, and the oldest pruned.
async fn lived(engine: Engine) -> Home {
    let mut chain = made(SimConfig { txs_per_block: 24, wallets: 5, ..SimConfig::seeded(97) }, 40);
    let home = Home::new(engine).await;
    let prepared = |chain: &testkit::SimChain, number: u64, has_traces: bool| {
        let mut block = verified(chain, chain.block(number).unwrap().hash);
        block.facts = made_facts::facts(block.block.hash, block.block.txs.len());
        if !has_traces {
            block.block.traces = None;
        }
        home.store().prepare(CHAIN, block)
    };
    let first = (0..=40).map(|number| prepared(&chain, number, number != 30)).collect();
    home.commit(Change::apply(Origin::Import, first)).await.unwrap();
    chain.reorg(5, 7);
    let apply = (36..=42).map(|number| prepared(&chain, number, true)).collect();
    let revert = (36..=40).rev().collect();
    home.commit(Change { revert, ..Change::apply(Origin::Head, apply) }).await.unwrap();
    home.amend(vec![prepared(&chain, 30, true)]).await.unwrap();
    home.store().prune_oldest(CHAIN, 3, 10).await.unwrap();
    home
}

fn key() -> ApiKey {
    ApiKey {
        id: "one".into(),
        hash: [7; 32],
        tenant: "ours".into(),
        name: "ci".into(),
        role: Role::Admin,
        created_at: 5,
        units_per_second: Some(9),
        methods: MethodRules { allow: vec!["eth_*".into()], deny: vec!["eth_call".into()] },
    }
}

#[tokio::test]
async fn the_same_blocks_have_the_same_digest_on_both() {
    if postgres_server::server().is_none() {
        return;
    }
    let (one, other) = (lived(Engine::Embedded).await, lived(Engine::Postgres).await);
    assert_eq!(one.digest().await, other.digest().await);
    let (mine, theirs) = (one.view().await, other.view().await);
    for number in 3..=42 {
        let facts = mine.facts(CHAIN, number).await.unwrap();
        assert_eq!(facts, theirs.facts(CHAIN, number).await.unwrap(), "block {number}");
        let block = mine.whole_block(CHAIN, number).await.unwrap();
        assert_eq!(block, theirs.whole_block(CHAIN, number).await.unwrap());
    }
    assert!(other.store().check(|_| ()).await.unwrap().holds());
}

#[tokio::test]
async fn a_copy_goes_on_where_it_was_cut_off_and_ends_with_the_same_digest() {
    if postgres_server::server().is_none() {
        return;
    }
    for (from, to) in [(Engine::Embedded, Engine::Postgres), (Engine::Postgres, Engine::Embedded)] {
        let (from, to) = (lived(from).await, Home::new(to).await);
        from.store().put_api_key(&key()).await.unwrap();
        from.store().secret("cursor", || [9; 32]).await.unwrap();
        let token = model::token::Token { symbol: Some("ONE".into()), ..Default::default() };
        let address = alloy_primitives::Address::repeat_byte(7);
        from.store().put_token(CHAIN, address, &token).await.unwrap();
        // What an earlier copy left.
        let view = from.view().await;
        let (block, proof) = view.whole_block(CHAIN, 3).await.unwrap().unwrap();
        let facts = view.facts(CHAIN, 3).await.unwrap();
        let verified = store::VerifiedBlock { block, proof, facts };
        to.apply(vec![to.store().prepare(CHAIN, verified)]).await.unwrap();
        drop(view);
        for round in 0..2 {
            let told: Mutex<Vec<CopyProgress>> = Mutex::default();
            let progress = |now| told.lock().unwrap().push(now);
            let copied = from.store().copy_to(to.store(), progress).await.unwrap();
            let [chain] = copied.chains.as_slice() else { panic!("{copied:?}") };
            assert_eq!((chain.chain, chain.digest), (CHAIN, from.digest().await));
            assert_eq!(chain.digest, chain.expected);
            let told = told.into_inner().unwrap();
            let first = told.first().unwrap();
            assert_eq!((first.done, first.total), (if round == 0 { 1 } else { 40 }, 40));
            assert_eq!(told.last().unwrap().done, 40);
        }
        assert_eq!(to.store().api_keys().await.unwrap(), [key()]);
        let known = to.store().secret("cursor", || panic!("it was copied")).await.unwrap();
        assert_eq!(known, [9; 32]);
        assert_eq!(to.view().await.tokens(CHAIN).await.unwrap(), [(address, token)]);
        // What else is there is told, not hidden.
        let other = to.store().prepare(CHAIN, empty_block(1000, 0));
        to.apply(vec![other]).await.unwrap();
        let copied = from.store().copy_to(to.store(), |_| ()).await.unwrap();
        assert!(!copied.is_equal());
        assert_eq!(to.view().await.chains().await.unwrap(), [ChainId(CHAIN.0)]);
    }
}
