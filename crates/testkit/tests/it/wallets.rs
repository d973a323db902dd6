//! Expected wallet answers: they agree with the traces, and the actors plays the parts it is named for.

use crate::{
    ledger::{is_undone, moves_value},
    traces::geth_rows,
};
use alloy_primitives::Address;
use std::collections::{BTreeMap, BTreeSet};
use testkit::{ExpectedWallet, SimChain, SimConfig, WalletRow};

fn chain() -> SimChain {
    let mut chain = SimChain::new(SimConfig { txs_per_block: 20, ..SimConfig::seeded(41) });
    chain.extend(80);
    chain.reorg(4, 6);
    chain
}

/// The same answers, but read from rendered traces.
fn from_traces(chain: &SimChain) -> BTreeMap<Address, ExpectedWallet> {
    let mut wallets: BTreeMap<Address, ExpectedWallet> = BTreeMap::new();
    for block in chain.blocks().iter().rev() {
        let rows = geth_rows(chain, block.number());
        for (tx_index, tx) in block.txs.iter().enumerate().rev() {
            let row = WalletRow { block_number: block.number(), tx_index, hash: tx.hash };
            let frames = rows.iter().filter(|frame| frame.tx == tx_index);
            let (roots, inner): (Vec<_>, Vec<_>) = frames.partition(|frame| frame.path.is_empty());
            let direct: BTreeSet<_> =
                roots.iter().flat_map(|root| [Some(root.from), root.to]).flatten().collect();
            for address in &direct {
                wallets.entry(*address).or_default().direct.push(row);
            }
            let stands =
                |f: &&&crate::traces::Row| f.value > 0 && moves_value(f) && !is_undone(f, &rows);
            let inside: BTreeSet<_> =
                inner.iter().filter(stands).flat_map(|f| [Some(f.from), f.to]).flatten().collect();
            for address in inside.difference(&direct) {
                wallets.entry(*address).or_default().internal_only.push(row);
            }
        }
    }
    wallets
}

#[test]
fn expected_answers_agree_with_the_traces() {
    let chain = chain();
    let expected: BTreeMap<_, _> = chain.expected_wallets().into_iter().collect();
    assert_eq!(expected, from_traces(&chain));
    for wallet in chain.wallets().into_iter().take(10) {
        assert_eq!(
            chain.expected_wallet(wallet),
            expected.get(&wallet).cloned().unwrap_or_default()
        );
    }
}

#[test]
fn the_cast_plays_its_parts() {
    let chain = chain();
    let wallet = |name: &str| chain.expected_wallet(chain.address_of(name).unwrap());
    for name in ["internal-only", "vault"] {
        assert!(wallet(name).direct.is_empty());
        assert!(!wallet(name).internal_only.is_empty());
        assert!(chain.balance(chain.address_of(name).unwrap()) > 0);
    }
    let [.., undone_only] = chain.actors().internal_only;
    assert_eq!(chain.expected_wallet(undone_only), ExpectedWallet::default());
    assert_eq!(chain.balance(undone_only), 0);
    let busiest = wallet("exchange").direct.len();
    let quietest = chain.expected_wallet(*chain.wallets().last().unwrap()).direct.len();
    assert!(busiest > 50 * quietest.max(1) / 10, "{busiest} against {quietest}");
    let created = chain.blocks().iter().flat_map(|b| &b.txs).find_map(|tx| tx.created()).unwrap();
    assert!(!chain.expected_wallet(created).direct.is_empty());
}

#[test]
fn rows_are_newest_first_and_never_twice() {
    let chain = chain();
    for expected in chain.expected_wallets().values() {
        let all = expected.all();
        let places: Vec<_> = all.iter().map(|row| (row.block_number, row.tx_index)).collect();
        assert!(places.windows(2).all(|pair| pair[0] > pair[1]));
    }
}
