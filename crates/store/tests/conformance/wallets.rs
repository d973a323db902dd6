//! Wallet pages and totals against what the simulated chain meant to do.

use alloy_primitives::Address;
use alloy_primitives::map::HashMap;
use model::facts::Facts;
use proptest::prelude::*;
use store::{Place, StoredTx, VerifiedBlock, View, WalletQuery};
use testkit::{ExpectedWallet, SimChain};

use crate::chain::*;
use crate::engine::{Engine, on_every_engine, on_every_engine_at_random};
use crate::home::Home;
use crate::random;

on_every_engine!(every_wallet_of_a_chain_is_listed_exactly, a_page_knows_whether_anything_follows,);
on_every_engine_at_random!(ranges_pages_and_totals_agree_for_any_question);

pub fn question(address: Address, with_internal: bool) -> WalletQuery {
    WalletQuery {
        chain: CHAIN,
        address,
        from_block: 0,
        to_block: u64::MAX,
        oldest_first: false,
        with_internal,
        after: None,
        limit: 100,
    }
}

/// All pages of a question, one after the other.
async fn pages(view: &View, question: &WalletQuery) -> Vec<Place> {
    let mut question = question.clone();
    let mut places = Vec::new();
    loop {
        let page = view.wallet_page(&question).await.unwrap();
        assert!(page.txs.len() <= question.limit);
        assert!(page.txs.iter().all(|tx| tx.frames.is_some() == question.with_internal));
        places.extend(page.txs.iter().map(|tx| place(tx)));
        if !page.more {
            return places;
        }
        assert_eq!(page.txs.len(), question.limit, "only the last page may be short");
        question.after = places.last().copied();
    }
}

fn place(tx: &StoredTx) -> Place {
    (tx.block.number, tx.index)
}

fn expected(wallet: &ExpectedWallet, question: &WalletQuery) -> Vec<Place> {
    let rows = if question.with_internal { wallet.all() } else { wallet.direct.clone() };
    let mut places: Vec<Place> = rows
        .iter()
        .filter(|row| (question.from_block..=question.to_block).contains(&row.block_number))
        .map(|row| (row.block_number, row.tx_index as u32))
        .collect();
    if question.oldest_first {
        places.reverse();
    }
    places
}

fn known(chain: &SimChain) -> Vec<(Address, ExpectedWallet)> {
    let wallets: HashMap<_, _> = chain.expected_wallets();
    let mut wallets: Vec<_> = wallets.into_iter().collect();
    wallets.sort_by_key(|(address, _)| *address);
    wallets
}

async fn every_wallet_of_a_chain_is_listed_exactly(engine: Engine) {
    let chain = chain(21, 40);
    let home = Home::indexed(engine, &chain).await;
    let wallets = known(&chain);
    assert!(wallets.len() > 50);
    assert!(wallets.iter().any(|(_, wallet)| !wallet.internal_only.is_empty()));
    let view = home.view().await;
    for (address, wallet) in &wallets {
        for with_internal in [false, true] {
            let question = WalletQuery { limit: 7, ..question(*address, with_internal) };
            let expected = expected(wallet, &question);
            assert_eq!(pages(&view, &question).await, expected, "{address}");
            let total = view.wallet_total(&question).await.unwrap();
            assert_eq!(total, expected.len() as u64, "{address}");
        }
    }
    let nobody = question([0x77; 20].into(), true);
    assert_eq!(pages(&view, &nobody).await, []);
    assert_eq!(view.wallet_total(&nobody).await.unwrap(), 0);
}

async fn a_page_knows_whether_anything_follows(engine: Engine) {
    let chain = chain(22, 20);
    let home = Home::indexed(engine, &chain).await;
    let busiest = known(&chain).into_iter().max_by_key(|(_, w)| w.direct.len()).unwrap();
    let count = busiest.1.direct.len();
    for (limit, more) in [(count - 1, true), (count, false), (count + 1, false), (0, true)] {
        let question = WalletQuery { limit, ..question(busiest.0, false) };
        let page = home.view().await.wallet_page(&question).await.unwrap();
        assert_eq!((page.txs.len(), page.more), (limit.min(count), more), "limit {limit}");
    }
}

/// Blocks far apart, so that counts fill buckets of every size.
async fn scattered(engine: Engine) -> (Home, Vec<(Address, ExpectedWallet)>) {
    let (chain, home) = (chain(23, 60), Home::new(engine).await);
    for sim in chain.blocks() {
        let mut block = block(&chain, sim.hash);
        block.number = far(block.number);
        let verified = VerifiedBlock { block, proof: proven(), facts: Facts::default() };
        home.apply(vec![home.store().prepare(CHAIN, verified)]).await.unwrap();
    }
    let mut wallets = known(&chain);
    for (_, wallet) in &mut wallets {
        let rows = wallet.direct.iter_mut().chain(&mut wallet.internal_only);
        rows.for_each(|row| row.block_number = far(row.block_number));
    }
    wallets.sort_by_key(|(_, wallet)| std::cmp::Reverse(wallet.all().len()));
    (home, wallets)
}

/// Steps over the edges of 2^8 and 2^16.
fn far(number: u64) -> u64 {
    number * number * 97 + number
}

fn ranges_pages_and_totals_agree_for_any_question(engine: Engine) {
    let runtime = random::runtime();
    let (home, wallets) = runtime.block_on(scattered(engine));
    let end = far(60) + 300;
    let edge =
        prop_oneof![0..end, (0u64..8).prop_map(|n| n << 16), (0..end).prop_map(|n| n & !255)];
    let ask = (
        0..wallets.len().min(12),
        (edge.clone(), edge),
        (any::<bool>(), any::<bool>(), any::<bool>()),
        1usize..30,
    );
    random::check(&runtime, 300, ask, async |(i, (from, to), flags, limit)| {
        let (address, wallet) = &wallets[i];
        let (open, oldest_first, with_internal) = flags;
        let question = WalletQuery {
            from_block: from,
            to_block: if open { u64::MAX } else { to },
            oldest_first,
            limit,
            ..question(*address, with_internal)
        };
        let expected = expected(wallet, &question);
        let view = home.view().await;
        assert_eq!(pages(&view, &question).await, expected.clone());
        let total = view.wallet_total(&question).await.unwrap();
        assert_eq!(total, expected.len() as u64);
    });
}
