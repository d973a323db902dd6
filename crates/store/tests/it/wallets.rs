//! Wallet pages and totals against what the simulated chain meant to do.

use alloy_primitives::Address;
use alloy_primitives::map::HashMap;
use proptest::prelude::*;
use store::Store;
use store::read::{Place, WalletQuestion};
use testkit::{ExpectedWallet, SimChain};

use crate::setup::*;

fn question(address: Address, with_internal: bool) -> WalletQuestion {
    WalletQuestion {
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
fn pages(store: &Store, question: &WalletQuestion) -> Vec<Place> {
    let (view, mut question) = (store.view(), question.clone());
    let mut places = Vec::new();
    loop {
        let page = view.wallet_page(&question).unwrap();
        assert!(page.places.len() <= question.limit);
        places.extend(&page.places);
        if !page.more {
            return places;
        }
        assert_eq!(page.places.len(), question.limit, "only the last page may be short");
        question.after = places.last().copied();
    }
}

fn expected(wallet: &ExpectedWallet, question: &WalletQuestion) -> Vec<Place> {
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

#[test]
fn every_wallet_of_a_chain_is_listed_exactly() {
    let chain = chain(21, 40);
    let home = indexed(&chain);
    let wallets = known(&chain);
    assert!(wallets.len() > 50);
    assert!(wallets.iter().any(|(_, wallet)| !wallet.internal_only.is_empty()));
    for (address, wallet) in &wallets {
        for with_internal in [false, true] {
            let question = WalletQuestion { limit: 7, ..question(*address, with_internal) };
            let expected = expected(wallet, &question);
            assert_eq!(pages(home.store(), &question), expected, "{address}");
            let total = home.store().view().wallet_total(&question).unwrap();
            assert_eq!(total, expected.len() as u64, "{address}");
        }
        let summary = home.store().view().wallet_summary(CHAIN, *address).unwrap();
        assert_eq!(summary.direct, wallet.direct.len() as u64);
        assert_eq!(summary.internal, wallet.internal_only.len() as u64);
    }
    let nobody = question([0x77; 20].into(), true);
    assert_eq!(pages(home.store(), &nobody), []);
    assert_eq!(home.store().view().wallet_total(&nobody).unwrap(), 0);
}

#[test]
fn a_page_knows_whether_anything_follows() {
    let chain = chain(22, 20);
    let home = indexed(&chain);
    let busiest = known(&chain).into_iter().max_by_key(|(_, w)| w.direct.len()).unwrap();
    let count = busiest.1.direct.len();
    for (limit, more) in [(count - 1, true), (count, false), (count + 1, false), (0, true)] {
        let question = WalletQuestion { limit, ..question(busiest.0, false) };
        let page = home.store().view().wallet_page(&question).unwrap();
        assert_eq!((page.places.len(), page.more), (limit.min(count), more), "limit {limit}");
    }
}

/// Blocks far apart, so that counts fill buckets of every size.
fn scattered() -> (Home, Vec<(Address, ExpectedWallet)>) {
    let (chain, home) = (chain(23, 60), Home::new());
    for block in chain.blocks() {
        let mut whole = crate::setup::block(&chain, block.hash);
        whole.number = far(whole.number);
        home.apply(vec![store::prepare(CHAIN, whole, proven(), model::facts::Facts::default())])
            .unwrap();
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

#[test]
fn ranges_pages_and_totals_agree_for_any_question() {
    let (home, wallets) = scattered();
    let end = far(60) + 300;
    let edge =
        prop_oneof![0..end, (0u64..8).prop_map(|n| n << 16), (0..end).prop_map(|n| n & !255)];
    let ask = (
        0..wallets.len().min(12),
        (edge.clone(), edge),
        (any::<bool>(), any::<bool>(), any::<bool>()),
        1usize..30,
    );
    let mut runner = proptest::test_runner::TestRunner::new(cases(300));
    let checked =
        runner.run(&ask, |(i, (from, to), (open, oldest_first, with_internal), limit)| {
            let (address, wallet) = &wallets[i];
            let question = WalletQuestion {
                from_block: from,
                to_block: if open { u64::MAX } else { to },
                oldest_first,
                limit,
                ..question(*address, with_internal)
            };
            let expected = expected(wallet, &question);
            prop_assert_eq!(pages(home.store(), &question), expected.clone());
            let total = home.store().view().wallet_total(&question).unwrap();
            prop_assert_eq!(total, expected.len() as u64);
            Ok(())
        });
    checked.unwrap();
}
