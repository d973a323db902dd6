//! Sales and pools, against a plain list of what the chain's blocks hold.

use std::collections::BTreeMap;

use alloy_primitives::{Address, U256};
use model::facts::{Market, PoolState, Trade};
use store::{LowestTradeQuery, PoolStatesQuery, StateAt, TradePlace, TradesQuery, View};
use testkit::SimChain;

use crate::chain::{CHAIN, chain};
use crate::engine::{Engine, on_every_engine};
use crate::home::Home;
use crate::made_facts::{contract, facts, pool};

on_every_engine!(
    pages_lowest_prices_and_pool_states_are_those_of_the_blocks,
    a_reorganisation_leaves_only_the_new_branch,
    history_that_comes_newest_first_gives_the_same,
);

type Listed = (TradePlace, Trade);

/// Every sale of the chain, newest first.
fn sales(chain: &SimChain) -> Vec<Listed> {
    let mut list = Vec::new();
    for block in chain.blocks() {
        for (place, trade) in facts(block.hash, block.txs.len()).trades.into_iter().enumerate() {
            list.push(((block.number(), place as u32), trade));
        }
    }
    list.reverse();
    list
}

fn markets() -> impl Iterator<Item = Option<Market>> {
    std::iter::once(None).chain(Market::ALL.into_iter().map(Some))
}

fn matching(
    all: &[Listed],
    of: Address,
    market: Option<Market>,
    from: u64,
    to: u64,
) -> Vec<Listed> {
    let fits = |(at, trade): &&Listed| {
        trade.contract == of
            && market.is_none_or(|market| trade.market == market)
            && (from..=to).contains(&at.0)
    };
    all.iter().filter(fits).cloned().collect()
}

async fn pages(view: &View, mut q: TradesQuery) -> Vec<Listed> {
    let mut list = Vec::new();
    loop {
        let page = view.trades_page(&q).await.unwrap();
        assert!(page.trades.len() <= q.limit);
        assert!(page.trades.len() == q.limit || !page.more);
        q.after = page.trades.last().map(|sale| sale.place);
        list.extend(page.trades.into_iter().map(|sale| (sale.place, sale.trade)));
        if !page.more {
            return list;
        }
    }
}

async fn check(view: &View, chain: &SimChain) {
    let all = sales(chain);
    let head = chain.blocks().last().unwrap().number();
    for (n, market) in (0..3).flat_map(|n| markets().map(move |market| (n, market))) {
        for (from, to) in [(0, u64::MAX), (3, head - 2), (head, head), (5, 4)] {
            for limit in [1, 2, 100] {
                let question = TradesQuery {
                    chain: CHAIN,
                    contract: contract(n),
                    market,
                    from_block: from,
                    to_block: to,
                    after: None,
                    limit,
                };
                let expected = matching(&all, contract(n), market, from, to);
                let found = pages(view, question).await;
                assert_eq!(found, expected, "{market:?} {from}..{to} by {limit}");
            }
        }
        for from in [0, 1, 7, 16, 17, head - 1, head + 1] {
            let paid = matching(&all, contract(n), market, from, u64::MAX);
            let paid = paid.into_iter().filter(|(_, t)| t.in_native && t.price > U256::ZERO);
            let expected = paid.min_by_key(|(at, trade)| (trade.price, *at));
            let query =
                LowestTradeQuery { chain: CHAIN, contract: contract(n), market, from_block: from };
            let lowest = view.lowest_trade(&query).await.unwrap();
            let lowest = lowest.map(|sale| (sale.place, sale.trade));
            assert_eq!(lowest, expected, "{market:?} from {from}");
        }
    }
    check_pools(view, chain).await;
}

async fn check_pools(view: &View, chain: &SimChain) {
    let mut states: BTreeMap<_, (PoolState, u64)> = BTreeMap::new();
    for block in chain.blocks() {
        for change in facts(block.hash, block.txs.len()).pools.changes {
            let earlier = states.get(&change.id).map(|(state, _)| state);
            if let Some(state) = change.change.fold(earlier) {
                states.insert(change.id, (state, block.number()));
            }
        }
        let (pools, last) = ([0, 1, 2, 3].map(pool), block.number());
        let query = PoolStatesQuery { chain: CHAIN, pools: &pools, first: 0, last };
        let stored = view.pool_states(&query).await.unwrap();
        let expected = pools.map(|id| {
            let known = states.get(&id).cloned();
            known.map(|(state, block)| StateAt { state, block })
        });
        assert_eq!(stored, expected, "at {last}");
    }
    let known = view.pools_of(CHAIN, Address::repeat_byte(0xd0)).await.unwrap();
    assert_eq!(known, view.pools_of(CHAIN, Address::repeat_byte(0xd1)).await.unwrap());
    assert!(states.keys().all(|id| known.iter().any(|pool| pool.id == *id)));
}

async fn pages_lowest_prices_and_pool_states_are_those_of_the_blocks(engine: Engine) {
    let chain = chain(31, 60);
    let home = Home::indexed(engine, &chain).await;
    check(&home.view().await, &chain).await;
}

async fn a_reorganisation_leaves_only_the_new_branch(engine: Engine) {
    let mut chain = chain(32, 40);
    let home = Home::indexed(engine, &chain).await;
    let before = home.view().await;
    let old = sales(&chain);
    let reorg = chain.reorg(12, 14);
    let head = chain.blocks().last().unwrap().number();
    let first = head + 1 - 14;
    let stored_head = home.view().await.coverage(CHAIN).await.unwrap().newest().unwrap();
    home.revert((first..=stored_head).rev().collect()).await.unwrap();
    assert_eq!(first, reorg.added[0].number());
    home.apply((first..=head).map(|number| home.at(&chain, number)).collect()).await.unwrap();
    check(&home.view().await, &chain).await;
    assert_eq!(home.digest().await, Home::indexed(engine, &chain).await.digest().await);
    // A reader that looked before still sees what it saw.
    let question = TradesQuery {
        chain: CHAIN,
        contract: contract(0),
        market: None,
        from_block: 0,
        to_block: u64::MAX,
        after: None,
        limit: 500,
    };
    assert_eq!(pages(&before, question).await, matching(&old, contract(0), None, 0, u64::MAX));
}

async fn history_that_comes_newest_first_gives_the_same(engine: Engine) {
    let chain = chain(33, 30);
    let home = Home::new(engine).await;
    for block in chain.blocks().iter().rev() {
        home.apply(vec![home.prepared(&chain, block.hash)]).await.unwrap();
    }
    check(&home.view().await, &chain).await;
    assert_eq!(home.digest().await, Home::indexed(engine, &chain).await.digest().await);
}
