//! Asks a store everything that can be asked, and the model the same.

use std::sync::Arc;

use alloy_primitives::{Address, B256};
use model::facts::Market;
use store::{
    LowestTradeQuery, PoolStatesQuery, ReaderStatus, StoredTx, TradesQuery, View, WalletQuery,
};
use testkit::SimChain;

use crate::chain::CHAIN;
use crate::made_facts::{contract, pool};
use crate::model::Model;

/// `dice` chooses ranges and pages, so that many of them come up over a run.
pub async fn compare(view: &View, model: &Model, chain: &SimChain, dice: u64) {
    blocks(view, model, chain).await;
    times_and_queue(view, model, dice).await;
    journal(view, model, dice).await;
    wallets(view, model, chain, dice).await;
    sales(view, model, dice).await;
    pools(view, model, dice).await;
}

async fn blocks(view: &View, model: &Model, chain: &SimChain) {
    let coverage = model.coverage();
    assert_eq!(view.coverage(CHAIN).await.unwrap(), coverage);
    let chains = if coverage.is_empty() { vec![] } else { vec![CHAIN] };
    assert_eq!(view.chains().await.unwrap(), chains);
    let head = coverage.newest().and_then(|number| model.summary(number));
    assert_eq!(view.head(CHAIN).await.unwrap(), head);
    for number in 0..=chain.head_number().max(coverage.newest().unwrap_or(0)) + 1 {
        let stored = model.blocks.get(&number);
        let summary = view.block_summary(CHAIN, number).await.unwrap();
        assert_eq!(summary, model.summary(number));
        let parent = view.parent_hash(CHAIN, number).await.unwrap();
        assert_eq!(parent, stored.map(|b| b.block.parent_hash));
        let whole = view.whole_block(CHAIN, number).await.unwrap();
        let (block, proof) = whole.map_or((None, None), |(b, proof)| (Some(b), Some(proof)));
        assert_eq!(block, model.whole_block(number));
        assert_eq!(proof, stored.map(|b| b.proof));
        let Some(sim) = chain.block(number) else { continue };
        let is_stored = stored.is_some_and(|b| b.block.hash == sim.hash);
        let found = view.number_of(CHAIN, sim.hash).await.unwrap();
        assert_eq!(found, is_stored.then_some(number));
        assert_eq!(view.block_if(CHAIN, number, sim.hash).await.unwrap().is_some(), is_stored);
    }
    assert_eq!(view.number_of(CHAIN, B256::ZERO).await.unwrap(), None);
    for (number, stored) in &model.blocks {
        let found = view.number_of(CHAIN, stored.block.hash).await.unwrap();
        assert_eq!(found, Some(*number));
    }
}

async fn times_and_queue(view: &View, model: &Model, dice: u64) {
    let times = model.blocks.values().map(|b| b.block.timestamp);
    for time in times.flat_map(|time| [time - dice % 12, time + dice % 12]).chain([0, u64::MAX]) {
        let first = view.first_block_from(CHAIN, time).await.unwrap();
        assert_eq!(first, model.first_block_from(time));
        let last = view.last_block_until(CHAIN, time).await.unwrap();
        assert_eq!(last, model.last_block_until(time));
    }
    for (below, limit) in [(u64::MAX, 100), (dice % 20, 3), (dice, 1)] {
        let queue = view.untraced_blocks(CHAIN, below, limit).await.unwrap();
        assert_eq!(queue, model.untraced(below, limit));
    }
}

/// What is kept of it is the end of the whole.
async fn journal(view: &View, model: &Model, dice: u64) {
    assert_eq!(view.version(CHAIN).await.unwrap(), model.version());
    let kept = view.journal_after(CHAIN, 0, usize::MAX).await.unwrap();
    assert!(model.journal.ends_with(&kept), "{kept:?}");
    let newest = model.version().seq;
    let young = model.journal.iter().filter(|entry| entry.seq + 3 > newest).count();
    assert!(kept.len() >= young);
    let readers = view.readers(CHAIN).await.unwrap();
    let oldest = kept.first().map_or(u64::MAX, |entry| entry.seq);
    let gone = |r: &ReaderStatus| {
        model.journal.iter().find(|entry| entry.seq > r.cursor.seq && entry.seq < oldest)
    };
    assert_eq!(readers.iter().find_map(gone), None, "{readers:?}");
    if let Some(entry) = kept.get(dice as usize % kept.len().max(1)) {
        let some = view.journal_after(CHAIN, entry.seq, 2).await.unwrap();
        let later = model.journal.iter().filter(|later| later.seq > entry.seq);
        let expected = later.take(2).copied();
        assert_eq!(some, expected.collect::<Vec<_>>());
    }
}

async fn wallets(view: &View, model: &Model, chain: &SimChain, dice: u64) {
    let named = chain.named().into_iter().map(|(_, address)| address);
    for address in named.chain(chain.wallets()) {
        let changed = view.wallet_changed_seq(CHAIN, address).await.unwrap();
        assert!(changed >= model.wallet_changed_seq(address), "{address}");
        assert!(changed <= model.version().seq, "{address}");
        for n in 0..2 {
            let mut q = wallet_query(address, dice + n);
            assert_eq!(view.wallet_total(&q).await.unwrap(), model.wallet_total(&q), "{q:?}");
            loop {
                let mut page = view.wallet_page(&q).await.unwrap();
                let expected = model.wallet_page(&q);
                page.txs.iter_mut().for_each(|tx| leave_logs_out(Arc::make_mut(tx)));
                assert_eq!(page, expected, "{q:?}");
                q.after = page.txs.last().map(|tx| (tx.block.number, tx.index));
                if !page.more {
                    break;
                }
            }
        }
    }
    for (number, stored) in model.blocks.iter().filter(|(number, _)| *number % 3 == dice % 3) {
        for index in 0..=stored.block.txs.len() as u32 {
            let found = view.transaction(CHAIN, *number, index).await.unwrap();
            let hash = found.and_then(|tx| tx.tx.hash);
            assert_eq!(hash, stored.block.txs.get(index as usize).and_then(|tx| tx.hash));
        }
    }
}

fn wallet_query(address: Address, dice: u64) -> WalletQuery {
    let is_open = dice.is_multiple_of(3);
    WalletQuery {
        chain: CHAIN,
        address,
        from_block: if is_open { 0 } else { dice % 7 },
        to_block: if is_open { u64::MAX } else { 4 + dice % 11 },
        oldest_first: dice.is_multiple_of(2),
        with_internal: dice % 5 < 3,
        after: None,
        limit: 1 + dice as usize % 6,
    }
}

/// Whether an empty list of logs is there or not says nothing.
fn leave_logs_out(tx: &mut StoredTx) {
    if let Some(receipt) = &mut tx.receipt {
        assert!(receipt.logs.as_ref().is_none_or(Vec::is_empty));
        (receipt.logs, receipt.logs_bloom) = (None, None);
    }
}

async fn sales(view: &View, model: &Model, dice: u64) {
    for n in 0..3 {
        let markets = [None, Some(Market::ALL[dice as usize % Market::ALL.len()])];
        for (market, from_block) in markets.into_iter().zip([0, dice % 13]) {
            let contract = contract(n);
            let q = LowestTradeQuery { chain: CHAIN, contract, market, from_block };
            let mut lowest = view.lowest_trade(&q).await.unwrap();
            lowest.iter_mut().for_each(|sale| leave_logs_out(&mut sale.tx));
            assert_eq!(lowest, model.lowest_trade(&q), "{q:?}");
            let mut q = TradesQuery {
                chain: CHAIN,
                contract,
                market,
                from_block,
                to_block: if dice.is_multiple_of(2) { u64::MAX } else { from_block + dice % 9 },
                after: None,
                limit: 1 + dice as usize % 5,
            };
            loop {
                let mut page = view.trades_page(&q).await.unwrap();
                page.trades.iter_mut().for_each(|sale| leave_logs_out(&mut sale.tx));
                assert_eq!(page, model.trades_page(&q), "{q:?}");
                q.after = page.trades.last().map(|sale| sale.place);
                if !page.more {
                    break;
                }
            }
        }
    }
}

async fn pools(view: &View, model: &Model, dice: u64) {
    let (one, other) = (Address::repeat_byte(0xd0), Address::repeat_byte(0xd1));
    let expected = model.pools_of(one);
    let pairs = [(one, other)];
    let all = [
        view.pools_of(CHAIN, one).await,
        view.pools_of(CHAIN, other).await,
        view.pools_between(CHAIN, &pairs).await,
    ];
    for found in all {
        let mut found = found.unwrap();
        found.sort_by_key(|pool| pool.id);
        assert_eq!(found, expected);
    }
    let pools = [0, 1, 2, 3].map(pool);
    for (first, last) in [(0, u64::MAX), (dice % 9, 5 + dice % 11), (9, 3)] {
        let q = PoolStatesQuery { chain: CHAIN, pools: &pools, first, last };
        assert_eq!(view.pool_states(&q).await.unwrap(), model.pool_states(&q), "{first}..{last}");
    }
}
