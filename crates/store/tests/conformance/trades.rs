//! Trades and lowest prices, against the plain list of all that was sold.

use alloy_primitives::{Address, B256, U256, keccak256};
use model::facts::{Facts, Market, Trade};
use model::proof::Proof;
use model::raw::{Block, Header, Tx};
use proptest::prelude::*;
use store::{
    LowestTradeQuery, PreparedBlock, StoredTrade, TradePlace, TradesQuery, VerifiedBlock, View,
};

use crate::chain::CHAIN;
use crate::engine::{Engine, on_every_engine, on_every_engine_at_random};
use crate::home::Home;
use crate::random;

on_every_engine!(a_window_behind_very_many_cheaper_sales_still_has_its_lowest);
on_every_engine_at_random!(lowest_prices_and_pages_are_those_of_the_plain_list);

const APES: Address = Address::repeat_byte(0xa9);
const CATS: Address = Address::repeat_byte(0xca);

/// Numbers around the edges of buckets of every size, far apart and close together.
const PLACES: [u64; 5] = [0, 4_090, 65_530, 1_048_570, 17_000_000];

/// How prices go with time; rising ones hide the window's lowest behind all that is older.
#[derive(Clone, Copy, Debug)]
enum Prices {
    Any,
    Rising,
    Falling,
}

fn trade(contract: Address, market: Market, price: u64, in_native: bool) -> Trade {
    Trade {
        tx_index: 0,
        log_index: 0,
        market,
        marketplace: Address::ZERO,
        contract,
        tokens: vec![(U256::ONE, U256::ONE)],
        seller: Address::ZERO,
        buyer: Address::ZERO,
        currency: Address::ZERO,
        price: U256::from(price),
        mixed: false,
        in_native,
        reconciled: true,
    }
}

fn block(number: u64, parent_hash: B256) -> Block {
    let hash = keccak256(number.to_be_bytes());
    let (number_, hash_, parent_) = (Some(number), Some(hash), Some(parent_hash));
    let header = Header { number: number_, hash: hash_, parent_hash: parent_, ..Header::default() };
    let txs = vec![Tx { hash: Some(hash), ..Tx::default() }];
    Block { number, hash, parent_hash, header, txs, ..Block::default() }
}

fn prepared(home: &Home, block: Block, facts: Facts) -> PreparedBlock {
    home.store().prepare(CHAIN, VerifiedBlock { block, proof: Proof::default(), facts })
}

/// Blocks from each of the places on, with sales as `random` has them.
async fn fill(home: &Home, random: &[u64], prices: Prices) -> Vec<(TradePlace, Trade)> {
    let mut all = Vec::new();
    for (n, random) in random.iter().enumerate() {
        let (start, step) = (PLACES[n % PLACES.len()], (n / PLACES.len()) as u64);
        let number = start + step;
        let parent = if step == 0 { B256::ZERO } else { keccak256((number - 1).to_be_bytes()) };
        let trades: Vec<Trade> = (0..random % 4)
            .map(|i| {
                let price = match prices {
                    Prices::Any => (random >> (8 + i)) % 50,
                    Prices::Rising => number + 1,
                    Prices::Falling => 20_000_000 - number,
                };
                let contract = if (random >> (20 + i)) % 5 == 0 { CATS } else { APES };
                let market = Market::ALL[((random >> (30 + 2 * i)) % 5) as usize];
                trade(contract, market, price, (random >> (40 + i)) % 4 != 0)
            })
            .collect();
        let places = (0..).map(|place| (number, place));
        all.extend(places.zip(trades.iter().cloned()));
        let facts = Facts { trades, ..Facts::default() };
        home.apply(vec![prepared(home, block(number, parent), facts)]).await.unwrap();
    }
    all.sort_by_key(|(place, _)| *place);
    all
}

fn counts(trade: &Trade, contract: Address, market: Option<Market>) -> bool {
    trade.contract == contract && market.is_none_or(|market| market == trade.market)
}

/// Checks that it comes with its own transaction.
fn sale(stored: StoredTrade) -> (TradePlace, Trade) {
    let StoredTrade { place, trade, tx } = stored;
    assert_eq!((tx.block.number, tx.index), (place.0, trade.tx_index));
    assert_eq!(tx.tx.hash, Some(keccak256(place.0.to_be_bytes())));
    (place, trade)
}

async fn compare_lowest(view: &View, all: &[(TradePlace, Trade)], from: u64) {
    for contract in [APES, CATS] {
        for market in [None, Some(Market::OPENSEA), Some(Market::ZEROX)] {
            let own = all.iter().filter(|((number, _), trade)| {
                *number >= from && counts(trade, contract, market) && trade.in_native
            });
            let priced = own.filter(|(_, trade)| trade.price > U256::ZERO);
            let expected = priced.min_by_key(|(place, trade)| (trade.price, *place)).cloned();
            let query = LowestTradeQuery { chain: CHAIN, contract, market, from_block: from };
            let found = view.lowest_trade(&query).await.unwrap().map(sale);
            assert_eq!(found, expected, "{contract} {market:?} from {from}");
        }
    }
}

async fn compare_pages(
    view: &View,
    all: &[(TradePlace, Trade)],
    (from, to): (u64, u64),
    limit: usize,
) {
    for market in [None, Some(Market::BLUR)] {
        let own = all.iter().rev().filter(|((number, _), trade)| {
            (from..=to).contains(number) && counts(trade, APES, market)
        });
        let (contract, after) = (APES, None);
        let mut question = TradesQuery {
            chain: CHAIN,
            contract,
            market,
            from_block: from,
            to_block: to,
            after,
            limit,
        };
        let mut found = Vec::new();
        loop {
            let page = view.trades_page(&question).await.unwrap();
            assert!(page.trades.len() == limit || !page.more);
            question.after = page.trades.last().map(|sale| sale.place);
            found.extend(page.trades.into_iter().map(sale));
            if !page.more {
                break;
            }
        }
        assert_eq!(found, own.cloned().collect::<Vec<_>>());
    }
}

fn lowest_prices_and_pages_are_those_of_the_plain_list(engine: Engine) {
    let random = proptest::collection::vec(any::<u64>(), 60..160);
    let prices = prop_oneof![Just(Prices::Any), Just(Prices::Rising), Just(Prices::Falling)];
    let case = (random, prices, 1usize..20);
    random::check(&random::runtime(), 12, case, async |(random, prices, limit)| {
        let home = Home::new(engine).await;
        let all = fill(&home, &random, prices).await;
        let view = home.view().await;
        for start in PLACES {
            for from in start.saturating_sub(3)..start + 36 {
                compare_lowest(&view, &all, from).await;
            }
            compare_pages(&view, &all, (start, start + 20), limit).await;
        }
        for from in [u64::MAX, u64::MAX - 1, 1 << 40] {
            compare_lowest(&view, &all, from).await;
        }
        compare_pages(&view, &all, (0, u64::MAX), limit).await;
        compare_pages(&view, &all, (9, 3), limit).await;
    });
}

async fn a_window_behind_very_many_cheaper_sales_still_has_its_lowest(engine: Engine) {
    let home = Home::new(engine).await;
    let mut parent = B256::ZERO;
    let mut all = Vec::new();
    for number in 0..700u64 {
        let block = block(number, parent);
        parent = block.hash;
        let sold = trade(APES, Market::BLUR, number + 1, true);
        all.push(((number, 0), sold.clone()));
        let facts = Facts { trades: vec![sold], ..Facts::default() };
        home.apply(vec![prepared(&home, block, facts)]).await.unwrap();
    }
    let view = home.view().await;
    for from in (0..705).step_by(7).chain([255, 256, 257, 511, 512, 513, 698, 699, 700]) {
        compare_lowest(&view, &all, from).await;
    }
}
