//! Balances that a node proves, held against what blocks explain: right blocks hold whole, and one changed
//! internal transfer is found whenever one of its two accounts is asked about.

use std::sync::Arc;
use std::time::Duration;

use ingest::audit::{Auditor, Unexplained, Verdict, accounts, explained, judge};
use model::chain::{ChainTable, Verification};
use testkit::{Fork, Rule, SharedChain, SimConfig, Tamper, read, shared, write};

use crate::changed_transfers::changed_transfers;
use crate::setup::*;

fn proving(seed: u64, fork: Fork, blocks: usize) -> SharedChain {
    let config = SimConfig {
        fork,
        txs_per_block: 12,
        wallets: 20,
        state_proofs: true,
        // Headers before it have no place for them.
        withdrawals_per_block: if fork < Fork::Shanghai { 0 } else { 2 },
        ..SimConfig::seeded(seed)
    };
    let chain = shared(config);
    write(&chain).extend(blocks);
    chain
}

fn auditor(rig: &Rig, ingest: &ingest::ChainIngest) -> Auditor {
    let within = Duration::from_secs(20);
    Auditor::new(rig.store.clone(), ingest.pool.clone(), rig.chain.clone(), within)
}

/// Without audits in the background: the tests ask themselves.
async fn quiet_rig(nodes: &[&testkit::SimNode]) -> Rig {
    let mut rig = Rig::new(nodes).await;
    rig.config.audit = 0;
    rig
}

#[tokio::test]
async fn every_account_of_every_block_is_proven() {
    let mut proven = 0;
    for (i, fork) in
        [Fork::London, Fork::Shanghai, Fork::Cancun, Fork::Prague].into_iter().enumerate()
    {
        let chain = proving(400 + i as u64, fork, 12);
        let node = node(&chain).await;
        let rig = quiet_rig(&[&node]).await;
        let ingest = rig.start();
        rig.reaches(&chain, &ingest).await;
        rig.is_traced().await;
        let auditor = auditor(&rig, &ingest);
        for number in 1..=12 {
            let audit = auditor.audit(number, None).await.unwrap();
            assert_eq!(audit.skipped, None, "{fork:?} {number}");
            assert_eq!(audit.audits.len(), audit.accounts, "{fork:?} {number}");
            for account in &audit.audits {
                assert_eq!(account.verdict, Verdict::Proven, "{fork:?} {number} {account:?}");
            }
            proven += audit.accounts;
        }
    }
    println!("{proven} pairs of account and block are proven");
    assert!(proven > 500, "{proven}");
}

#[tokio::test]
async fn what_cannot_be_audited_says_why() {
    let chain = proving(410, Fork::Prague, 6);
    let (node, mute) = (node(&chain).await, node(&sim(411, 6)).await);
    let rig = quiet_rig(&[&node]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    let auditor = auditor(&rig, &ingest);
    let skipped = async |number| auditor.audit(number, None).await.unwrap().skipped.unwrap();
    assert_eq!(skipped(0).await, "there is no state before it");
    assert_eq!(skipped(7).await, "it is not stored");
    let rule = node.faults.add(Tamper::ChangedProof);
    let audit = auditor.audit(3, Some(4)).await.unwrap();
    assert_eq!(audit.audits.len(), 4);
    for account in audit.audits {
        let Verdict::Unproven { reason } = account.verdict else { panic!("{account:?}") };
        assert!(reason.contains("does not lead to the block's state root"), "{reason}");
    }
    node.faults.remove(rule);
    // A node that does not know the method says so itself.
    let rig = quiet_rig(&[&mute]).await;
    let ingest = rig.start();
    let stored = async || match rig.ranges().await.as_slice() {
        [(0, 6)] => Ok(()),
        ranges => Err(format!("{ranges:?}")),
    };
    eventually_gives("the other chain is stored", stored).await;
    rig.is_traced().await;
    let within = Duration::from_secs(20);
    let auditor = Auditor::new(rig.store.clone(), ingest.pool.clone(), rig.chain.clone(), within);
    let audit = auditor.audit(5, Some(1)).await.unwrap();
    let Verdict::Unproven { reason } = &audit.audits[0].verdict else { panic!("{audit:?}") };
    assert!(reason.contains("eth_getProof does not exist"), "{reason}");
}

#[test]
fn one_changed_transfer_is_found_by_either_of_its_accounts() {
    let chain = proving(420, Fork::Prague, 20);
    let (sim, rules) = (read(&chain), crate::setup::chain(Verification::Full));
    let (mut found, mut added) = (0, 0);
    for number in 1..=20 {
        let block = block(&sim, number, Dialect::Geth);
        let at =
            |account, number| alloy_primitives::U256::from(sim.account_at(account, number).balance);
        for account in accounts(&block) {
            let explained = explained(&block, account, &rules).unwrap();
            let verdict = judge(at(account, number - 1), at(account, number), explained);
            assert_eq!(verdict, Verdict::Proven, "{number} {account}");
        }
        for changed in changed_transfers(&block) {
            for account in changed.accounts {
                let explained = explained(&changed.block, account, &rules).unwrap();
                let verdict = judge(at(account, number - 1), at(account, number), explained);
                assert!(matches!(verdict, Verdict::Mismatch(_)), "{number}: {}", changed.what);
                found += 1;
                added += usize::from(changed.what.starts_with("added"));
            }
        }
    }
    println!("{found} changed transfers are found");
    assert!(found > 400 && added > 10, "{found} {added}");
}

#[test]
fn nothing_is_explained_where_rules_are_not_known() {
    let chain = proving(421, Fork::Prague, 2);
    let block = block(&read(&chain), 2, Dialect::Geth);
    let account = block.txs[0].from.unwrap();
    let lenient = crate::setup::chain(Verification::Lenient);
    assert_eq!(explained(&block, account, &lenient), Err(Unexplained::Chain));
    let full = crate::setup::chain(Verification::Full);
    let mut untraced = block.clone();
    untraced.traces = None;
    assert_eq!(explained(&untraced, account, &full), Err(Unexplained::Untraced));
    let mut mined = block.clone();
    mined.header.difficulty = Some(alloy_primitives::U256::from(1));
    let miner = mined.header.miner.unwrap();
    assert_eq!(explained(&mined, miner, &full), Err(Unexplained::Reward));
    assert!(explained(&mined, account, &full).is_ok() || account == miner);
    mined.header.sha3_uncles = Some(alloy_primitives::B256::repeat_byte(1));
    assert_eq!(explained(&mined, account, &full), Err(Unexplained::UncleReward));
    let eth = ChainTable::builtin().unwrap().find("eth").unwrap().clone();
    let mut dao = block;
    dao.number = 1_920_000;
    assert_eq!(explained(&dao, account, &eth), Err(Unexplained::Irregular));
}

/// The liar comes first, so that its traces are stored. They are possible, so nobody notices until the
/// balances are asked for.
#[tokio::test]
async fn a_block_that_balances_contradict_is_traced_by_another_node() {
    let chain = proving(430, Fork::Prague, 12);
    let liar = node(&chain).await;
    liar.faults.add(Rule::from(Tamper::ChangedTraceValue).on_blocks(5..=9));
    let mut rig = quiet_rig(&[&liar]).await;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    rig.is_traced().await;
    drop(ingest);
    // An honest one comes along.
    let honest = node(&chain).await;
    let url = rpc::UpstreamConfig::from_url(honest.url());
    rig.upstreams.push(url);
    let ingest = Arc::new(rig.start());
    let mut contradicted = Vec::new();
    for number in 5..=9 {
        let audit = ingest.audit(number, None).await.unwrap();
        let mismatches = audit.mismatches().count();
        // One wei more: whoever sent it and whoever got it, unless it was rolled back and moved nothing.
        assert!(mismatches == 0 || mismatches == 2, "{audit:?}");
        contradicted.extend((mismatches == 2).then_some(number));
    }
    assert!(!contradicted.is_empty());
    let status = ingest.progress.snapshot().audit;
    assert_eq!(status.mismatched, contradicted.len() as u64 * 2);
    assert_eq!(status.mismatches.len(), contradicted.len() * 2);
    // The same transfers are not taken again; the honest node's are.
    rig.is_traced().await;
    for number in contradicted {
        let (stored, _) = rig.view().await.whole_block(CHAIN, number).await.unwrap().unwrap();
        let honest = block(&read(&chain), number, Dialect::Geth);
        let inner = |frames: Vec<_>| frames.into_iter().skip(1).collect::<Vec<_>>();
        let honest: Vec<_> = honest.traces.unwrap().into_iter().map(inner).collect();
        assert_eq!(stored.traces, Some(honest), "{number}");
        let audit = ingest.audit(number, None).await.unwrap();
        assert_eq!(audit.mismatches().count(), 0, "{number}");
        let hash = read(&chain).block(number).unwrap().hash;
        assert!(ingest.progress.audit.proven_of(number, hash) > 0);
    }
    // What was said twice is evidence; whoever said it stays in use, since its blocks hold.
    let [liar, honest] = ingest.pool.status().upstreams.try_into().unwrap();
    assert!(liar.evidence.iter().all(|it| it.check == "trace balance"), "{:?}", liar.evidence);
    assert!(honest.evidence.is_empty(), "{:?}", honest.evidence);
}

/// In the background, beside following the head.
#[tokio::test]
async fn audits_go_on_in_the_background() {
    let chain = proving(440, Fork::Prague, 10);
    let liar = node(&chain).await;
    liar.faults.add(Tamper::ChangedTraceValue);
    let mut rig = Rig::new(&[&liar]).await;
    rig.config.audit = 6_000;
    let ingest = rig.start();
    rig.reaches(&chain, &ingest).await;
    let audit = || ingest.progress.snapshot().audit;
    let state = || format!("{:?}", audit());
    eventually("a lie is found", || audit().mismatched > 0, state).await;
    // Nobody else is there: the block stays untraced, and the head goes on.
    let untraced = async || {
        let left = rig.untraced().await;
        if left.is_empty() { Err("none".to_owned()) } else { Ok(()) }
    };
    eventually_gives("its traces are dropped", untraced).await;
    write(&chain).extend(2);
    rig.reaches(&chain, &ingest).await;
    eventually("others are proven", || audit().proven > 10, state).await;
}
