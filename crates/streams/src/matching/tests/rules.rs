//! Each rule of matching as a line in a table.

use alloy_primitives::Address;

use super::made_block::{A, B, COIN, CREATED, NFT, NOT_CREATED, SPAM, X, Y, block};
use super::plans::{CHAIN, events, index_of, internals, logs, native, of_all, with_txs};
use crate::definition::Definition;
use crate::matching::{Items, MatchQuery, Parts, SpamList, StreamIndex, match_block};

/// Places of transactions, numbers of logs, values of internal transactions, each with `triggered_by`.
type Found = [Vec<(u64, Vec<Address>)>; 3];

fn found(items: &Items) -> Found {
    let txs = items.txs.iter().map(|it| (it.place as u64, it.triggered_by.clone()));
    let logs = items.logs.iter().map(|it| (it.log_index, it.triggered_by.clone()));
    let inner = items.internals.iter().map(|it| (it.value.to::<u64>(), it.triggered_by.clone()));
    [txs.collect(), logs.collect(), inner.collect()]
}

fn matched(index: &StreamIndex, parts: Parts) -> Option<Items> {
    let spam = SpamList::new([(CHAIN, SPAM)]);
    let block = block();
    let only = |_| true;
    let query = MatchQuery { index, chain: CHAIN, block: &block, spam: &spam, only: &only, parts };
    let mut found = match_block(query);
    assert!(found.len() <= 1);
    found.pop().map(|found| found.items)
}

fn found_by(definition: Definition, addresses: &[Address], parts: Parts) -> Found {
    let items = matched(&index_of(definition, addresses), parts);
    items.as_ref().map(found).unwrap_or_default()
}

/// `items![0 by A B, 1 by A]`
macro_rules! items {
    ($($n:literal $(by $($a:ident)+)?),*) => { vec![$(($n, vec![$($($a),+)?])),*] };
}

fn all_logs(definition: Definition) -> Definition {
    Definition { include_all_tx_logs: true, ..definition }
}

fn no_spam(definition: Definition) -> Definition {
    Definition { filter_possible_spam_addresses: true, ..definition }
}

fn both(one: Definition, other: Definition) -> Definition {
    Definition {
        include_native_txs: one.include_native_txs || other.include_native_txs,
        include_contract_logs: one.include_contract_logs || other.include_contract_logs,
        include_internal_txs: one.include_internal_txs || other.include_internal_txs,
        ..one
    }
}

fn check(cases: Vec<(&str, Definition, &[Address], Found)>) {
    for (what, definition, addresses, expected) in cases {
        let all = found_by(definition.clone(), addresses, Parts::ALL);
        assert_eq!(all, expected, "{what}");
        // Told in two deliveries, it is the same.
        let first = found_by(definition.clone(), addresses, Parts::WITHOUT_INTERNALS);
        let second = found_by(definition, addresses, Parts::INTERNALS_ONLY);
        let mut together = first;
        for (list, more) in together.iter_mut().zip(second) {
            list.extend(more);
            list.sort();
        }
        let mut sorted = expected;
        sorted.iter_mut().for_each(|list| list.sort());
        assert_eq!(together, sorted, "{what}, in two parts");
    }
}

#[test]
fn native_transactions_go_by_sender_receiver_and_created_contract() {
    check(vec![
        ("sender", native(), &[A], [items![0 by A], vec![], vec![]]),
        ("receiver and sender", native(), &[B], [items![0 by B, 1 by B, 2 by B], vec![], vec![]]),
        ("both sides", native(), &[A, B], [items![0 by A B, 1 by B, 2 by B], vec![], vec![]]),
        ("created", native(), &[CREATED], [items![1 by CREATED], vec![], vec![]]),
        ("creation that failed", native(), &[NOT_CREATED], Found::default()),
        ("nobody", native(), &[NFT], Found::default()),
        ("no address", native(), &[], Found::default()),
        ("not asked for", logs(), &[CREATED], Found::default()),
    ]);
}

#[test]
fn logs_go_by_emitter_and_mention() {
    check(vec![
        ("mentioned", logs(), &[A], [vec![], items![0 by A, 1 by A, 4 by A], vec![]]),
        ("emitter", logs(), &[COIN], [vec![], items![0 by COIN, 2 by COIN], vec![]]),
        (
            "emitter first, then topics",
            logs(),
            &[A, B, COIN],
            [vec![], items![0 by COIN A B, 1 by A, 2 by COIN, 4 by A], vec![]],
        ),
        ("an NFT's owner", logs(), &[Y], [vec![], items![1 by Y, 2 by Y, 3 by Y], vec![]]),
        ("not asked for", native(), &[NFT], Found::default()),
    ]);
}

#[test]
fn internal_transactions_count_where_value_really_moved() {
    check(vec![
        ("receiver", internals(), &[A], [vec![], vec![], items![7 by A]]),
        ("sender", internals(), &[COIN], [vec![], vec![], items![7 by COIN, 4 by COIN]]),
        ("delegated or failed", internals(), &[B], Found::default()),
        ("only at the root", internals(), &[X], Found::default()),
    ]);
}

#[test]
fn all_logs_of_a_transaction_come_with_anything_that_matched() {
    check(vec![
        ("by a log", all_logs(logs()), &[A], [vec![], items![0 by A, 1 by A, 2, 4 by A], vec![]]),
        (
            "by the transaction",
            all_logs(native()),
            &[X],
            [items![3 by X, 4 by X, 5 by X], items![0, 1, 2, 3, 4], vec![]],
        ),
        (
            "by an internal transaction",
            all_logs(both(native(), internals())),
            &[A],
            [items![0 by A], items![0, 1, 2], items![7 by A]],
        ),
        (
            "by both",
            all_logs(both(logs(), internals())),
            &[COIN],
            [vec![], items![0 by COIN, 1, 2 by COIN], items![7 by COIN, 4 by COIN]],
        ),
        (
            "without spam",
            no_spam(all_logs(native())),
            &[X],
            [items![3 by X, 4 by X], items![0, 1, 2, 3], vec![]],
        ),
    ]);
}

#[test]
fn with_rules_only_their_events_count() {
    check(vec![
        ("coins", events("Transfer", 2), &[A], [vec![], items![0 by A, 4 by A], vec![]]),
        ("NFTs", events("Transfer", 3), &[A], Found::default()),
        ("an NFT", events("Transfer", 3), &[Y], [vec![], items![3 by Y], vec![]]),
        ("another event", events("Approval", 2), &[A], Found::default()),
        ("approvals", events("Approval", 2), &[COIN], [vec![], items![2 by COIN], vec![]]),
        (
            "with their transactions",
            with_txs(events("Transfer", 2)),
            &[A, B],
            [items![3 by A B, 5 by A], items![0 by A B, 4 by A], vec![]],
        ),
        (
            "with their transactions, but for spam",
            no_spam(with_txs(events("Transfer", 2))),
            &[A],
            [items![3 by A], items![0 by A], vec![]],
        ),
        (
            "a native transaction and its event, once",
            both(with_txs(events("Transfer", 2)), native()),
            &[A, X],
            [items![0 by A, 3 by X A, 4 by X, 5 by X A], items![0 by A, 4 by A X], vec![]],
        ),
    ]);
}

#[test]
fn events_of_all_addresses_are_found_without_one() {
    check(vec![
        ("coins", of_all(events("Transfer", 2)), &[], [vec![], items![0, 4], vec![]]),
        ("NFTs", of_all(events("Transfer", 3)), &[], [vec![], items![3], vec![]]),
        (
            "each once, also if an address is watched",
            of_all(events("Transfer", 2)),
            &[A, COIN],
            [vec![], items![0 by COIN A, 4 by A], vec![]],
        ),
        (
            "with transactions",
            with_txs(of_all(events("Approval", 2))),
            &[],
            [items![3], items![2], vec![]],
        ),
        ("without spam", no_spam(of_all(events("Transfer", 2))), &[], [vec![], items![0], vec![]]),
        (
            "with all logs",
            all_logs(of_all(events("Approval", 2))),
            &[],
            [vec![], items![0, 1, 2], vec![]],
        ),
    ]);
}

#[test]
fn what_touches_spam_is_dropped_only_if_asked() {
    check(vec![
        ("logs", no_spam(logs()), &[A], [vec![], items![0 by A, 1 by A], vec![]]),
        ("transactions", no_spam(native()), &[X], [items![3 by X, 4 by X], vec![], vec![]]),
        ("internal", no_spam(internals()), &[COIN], [vec![], vec![], items![7 by COIN]]),
        ("kept", native(), &[SPAM], [items![5 by SPAM], vec![], vec![]]),
    ]);
    let items = matched(&index_of(logs(), &[A]), Parts::ALL).unwrap();
    let marks: Vec<bool> = items.erc20_transfers.iter().map(|it| it.origin.possible_spam).collect();
    assert_eq!(marks, [false, true]);
}

#[test]
fn other_chains_and_other_readers_see_nothing() {
    let index = index_of(native(), &[A]);
    let (block, spam) = (block(), SpamList::default());
    let query = |chain, only| {
        match_block(MatchQuery {
            index: &index,
            chain,
            block: &block,
            spam: &spam,
            only,
            parts: Parts::ALL,
        })
    };
    assert_eq!(query(CHAIN, &|_| true).len(), 1);
    assert_eq!(query(1.into(), &|_| true).len(), 0);
    assert_eq!(query(CHAIN, &|slot| slot != super::plans::SLOT).len(), 0);
}

#[test]
fn blocks_without_receipts_or_traces_are_matched_as_far_as_they_go() {
    let mut block = block();
    block.receipts = vec![None; block.txs.len()];
    block.traces = None;
    let index = index_of(both(all_logs(native()), both(logs(), internals())), &[A]);
    let spam = SpamList::default();
    let only = |_| true;
    let found = match_block(MatchQuery {
        index: &index,
        chain: CHAIN,
        block: &block,
        spam: &spam,
        only: &only,
        parts: Parts::ALL,
    });
    assert_eq!(super::rules::found(&found[0].items), [items![0 by A], vec![], vec![]]);
}
