//! Sales and pools, against a plain list of what the chain's blocks hold.

use std::collections::BTreeMap;

use alloy_primitives::{Address, U256};
use model::facts::{Market, PoolState, Trade};
use store::View;
use store::read::{TradePlace, TradesQuestion};
use testkit::SimChain;

use crate::made_facts::{contract, facts, pool};
use crate::setup::{CHAIN, Home, at, chain, indexed, prepared};

type Listed = (TradePlace, Trade);

/// Every sale of the chain, newest first.
fn sales(chain: &SimChain) -> Vec<Listed> {
    let mut list = Vec::new();
    for block in chain.blocks() {
        for (place, trade) in facts(block.hash).trades.into_iter().enumerate() {
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

fn pages(view: &View, mut q: TradesQuestion) -> Vec<Listed> {
    let mut list = Vec::new();
    loop {
        let page = view.trades_page(&q).unwrap();
        assert!(page.trades.len() <= q.limit);
        assert!(page.trades.len() == q.limit || !page.more);
        q.after = page.trades.last().map(|(at, _)| *at);
        list.extend(page.trades);
        if !page.more {
            return list;
        }
    }
}

fn check(view: &View, chain: &SimChain) {
    let all = sales(chain);
    let head = chain.blocks().last().unwrap().number();
    for (n, market) in (0..3).flat_map(|n| markets().map(move |market| (n, market))) {
        for (from, to) in [(0, u64::MAX), (3, head - 2), (head, head), (5, 4)] {
            for limit in [1, 2, 100] {
                let question = TradesQuestion {
                    chain: CHAIN,
                    contract: contract(n),
                    market,
                    from_block: from,
                    to_block: to,
                    after: None,
                    limit,
                };
                let expected = matching(&all, contract(n), market, from, to);
                assert_eq!(pages(view, question), expected, "{market:?} {from}..{to} by {limit}");
            }
        }
        for from in [0, 1, 7, 16, 17, head - 1, head + 1] {
            let paid = matching(&all, contract(n), market, from, u64::MAX);
            let paid = paid.into_iter().filter(|(_, t)| t.in_native && t.price > U256::ZERO);
            let expected = paid.min_by_key(|(at, trade)| (trade.price, *at));
            let lowest = view.lowest_trade(CHAIN, contract(n), market, from).unwrap();
            assert_eq!(lowest, expected, "{market:?} from {from}");
        }
    }
    check_pools(view, chain);
}

fn check_pools(view: &View, chain: &SimChain) {
    let mut states: BTreeMap<_, (PoolState, u64)> = BTreeMap::new();
    for block in chain.blocks() {
        for change in facts(block.hash).pools.changes {
            let earlier = states.get(&change.id).map(|(state, _)| state);
            if let Some(state) = change.change.fold(earlier) {
                states.insert(change.id, (state, block.number()));
            }
        }
        for n in 0..4 {
            let stored = view.pool_state(CHAIN, &pool(n), block.number()).unwrap();
            assert_eq!(stored, states.get(&pool(n)).cloned(), "{} at {}", n, block.number());
        }
    }
    let known = view.pools_of(CHAIN, Address::repeat_byte(0xd0)).unwrap();
    assert_eq!(known, view.pools_of(CHAIN, Address::repeat_byte(0xd1)).unwrap());
    assert!(states.keys().all(|id| known.iter().any(|pool| pool.id == *id)));
}

#[test]
fn pages_lowest_prices_and_pool_states_are_those_of_the_blocks() {
    let chain = chain(31, 60);
    let home = indexed(&chain);
    check(&home.store().view(), &chain);
}

#[test]
fn a_reorganisation_leaves_only_the_new_branch() {
    let mut chain = chain(32, 40);
    let home = indexed(&chain);
    let before = home.store().view();
    let old = sales(&chain);
    chain.reorg(12, 14);
    let head = chain.blocks().last().unwrap().number();
    let first = chain
        .blocks()
        .iter()
        .map(|block| block.number())
        .find(|number| {
            let stored = home.store().view().stamp(CHAIN, *number).unwrap();
            stored.is_none_or(|stamp| stamp.hash != chain.block(*number).unwrap().hash)
        })
        .unwrap();
    let stored_head = home.store().view().coverage(CHAIN).unwrap().newest().unwrap();
    home.revert((first..=stored_head).rev().collect()).unwrap();
    home.apply((first..=head).map(|number| at(&chain, number)).collect()).unwrap();
    check(&home.store().view(), &chain);
    assert_eq!(home.digest(), indexed(&chain).digest());
    // A reader that looked before still sees what it saw.
    let question = TradesQuestion {
        chain: CHAIN,
        contract: contract(0),
        market: None,
        from_block: 0,
        to_block: u64::MAX,
        after: None,
        limit: 500,
    };
    assert_eq!(pages(&before, question), matching(&old, contract(0), None, 0, u64::MAX));
}

#[test]
fn history_that_comes_newest_first_gives_the_same() {
    let chain = chain(33, 30);
    let home = Home::new();
    for block in chain.blocks().iter().rev() {
        home.apply(vec![prepared(&chain, block.hash)]).unwrap();
    }
    check(&home.store().view(), &chain);
    assert_eq!(home.digest(), indexed(&chain).digest());
}
