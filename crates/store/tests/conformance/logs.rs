//! Logs are found by address and topics as a look at every log would find them, at the cost of what is rare in the
//! filter, whatever was reverted, pruned and amended before.

use alloy_primitives::{Address, B256};
use model::raw::Log;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use store::{Change, LogsPage, LogsQuery, Origin, View};
use testkit::rounds;

use crate::chain::*;
use crate::engine::{Choices, Engine, on_every_engine};
use crate::home::Home;
use crate::made_logs::{LOGS_PER_TX, address, block_with_logs, topic};

on_every_engine!(
    logs_are_found_as_a_full_scan_finds_them,
    the_indexes_follow_reverts_amends_and_pruning,
    a_block_without_receipts_is_listed_until_they_come,
    transactions_are_found_by_hash,
);

const TXS: u64 = 50;

/// What a filter chooses among, by block.
struct AllLogs(Vec<(u64, Vec<Log>)>);

impl AllLogs {
    fn scan(&self, query: &LogsQuery) -> Vec<Log> {
        let in_range = |number: &u64| (query.from_block..=query.to_block).contains(number);
        let blocks = self.0.iter().filter(|(number, _)| in_range(number));
        blocks.flat_map(|(_, logs)| logs).filter(|log| query.takes(log)).cloned().collect()
    }

    /// In how many blocks of the range the rarest part of the filter is met at all.
    fn rarest(&self, query: &LogsQuery) -> u64 {
        let blocks = |has: &dyn Fn(&Log) -> bool| {
            let in_range = |number: u64| (query.from_block..=query.to_block).contains(&number);
            let of_range = self.0.iter().filter(|(number, _)| in_range(*number));
            of_range.filter(|(_, logs)| logs.iter().any(has)).count() as u64
        };
        let mut parts = vec![];
        if !query.addresses.is_empty() {
            parts.push(blocks(&|log| query.addresses.contains(&log.address.unwrap())));
        }
        for (position, topics) in query.topics.iter().enumerate().filter(|(_, t)| !t.is_empty()) {
            parts.push(blocks(&|log| {
                let of_log = log.topics.as_deref().unwrap();
                let places = if position == 0 { 0..1 } else { 1..4 };
                places.filter_map(|place| of_log.get(place)).any(|topic| topics.contains(topic))
            }));
        }
        parts.into_iter().min().unwrap_or(u64::MAX)
    }

    fn random_filter(&self, rng: &mut StdRng) -> LogsQuery {
        let newest = self.0.last().unwrap().0;
        let (a, b) = (rng.random_range(0..=newest), rng.random_range(0..=newest));
        let (from_block, to_block) =
            if rng.random_bool(0.4) { (0, newest) } else { (a.min(b), a.max(b)) };
        // Words of one log, so that most filters find something; sometimes with others beside them.
        let (_, logs) = &self.0[rng.random_range(0..self.0.len())];
        let empty = Log { address: Some(Address::ZERO), topics: Some(vec![]), ..Log::default() };
        let log = if logs.is_empty() { &empty } else { &logs[rng.random_range(0..logs.len())] };
        let mut addresses = vec![];
        if rng.random_bool(0.5) {
            addresses.push(log.address.unwrap());
            let more = [0, 0, 0, 2, 12][rng.random_range(0..5)];
            addresses.extend((0..more).map(|_| address(rng.random_range(0..100_000))));
        }
        let mut topics: Vec<Vec<B256>> = vec![];
        for word in log.topics.as_deref().unwrap().iter().take(rng.random_range(0..=4)) {
            let mut values = if rng.random_bool(0.6) { vec![*word] } else { vec![] };
            if rng.random_bool(0.2) {
                values.push(topic(rng.random_range(0..1_000)));
            }
            topics.push(values);
        }
        LogsQuery { chain: CHAIN, from_block, to_block, addresses, topics, limit: usize::MAX }
    }
}

async fn all(view: &View) -> AllLogs {
    let mut blocks = vec![];
    let coverage = view.coverage(CHAIN).await.unwrap();
    for number in coverage.ranges().iter().flat_map(|(from, to)| *from..=*to) {
        let block = view.block_with_receipts(CHAIN, number).await.unwrap().unwrap();
        let logs = block.receipts.into_iter().flatten().flat_map(|receipt| receipt.logs);
        blocks.push((number, logs.flatten().collect()));
    }
    AllLogs(blocks)
}

fn parts(query: &LogsQuery) -> u64 {
    let topics = query.topics.iter().filter(|topics| !topics.is_empty()).count();
    u64::from(!query.addresses.is_empty()) + topics as u64
}

/// Rows of the index that may be read: each part as far as the rarest goes, and a look at each word of the others.
fn assert_cost(page: &LogsPage, query: &LogsQuery, rarest: u64) {
    let words = query.topics.iter().map(Vec::len).sum::<usize>() + query.addresses.len();
    let bound = (rarest + 1) * (parts(query) + words as u64);
    assert!(page.cost.words <= bound, "{:?} for {rarest}, {query:?}", page.cost);
    let groups = rarest * TXS.div_ceil(16);
    assert!(page.cost.groups <= groups, "{:?} for {rarest}, {query:?}", page.cost);
}

async fn logs_are_found_as_a_full_scan_finds_them(engine: Engine) {
    // A million logs in the long run.
    let blocks = rounds(60, 1_000_000 / (TXS * LOGS_PER_TX));
    let home = Home::new(engine).await;
    let numbers: Vec<u64> = (0..blocks).collect();
    for some in numbers.chunks(200) {
        let prepare = |number: &u64| home.store().prepare(CHAIN, block_with_logs(*number, TXS));
        home.apply(some.iter().map(prepare).collect()).await.unwrap();
    }
    let view = home.view().await;
    let all = all(&view).await;
    assert_eq!(
        all.0.iter().map(|(_, logs)| logs.len() as u64).sum::<u64>(),
        blocks * TXS * LOGS_PER_TX
    );
    let mut rng = StdRng::seed_from_u64(7);
    let (mut found, mut cheap) = (0, 0);
    for _ in 0..200 {
        let query = all.random_filter(&mut rng);
        let page = view.logs(&query).await.unwrap();
        let expected = all.scan(&query);
        assert!(page.logs == expected, "{} of {} for {query:?}", page.logs.len(), expected.len());
        assert_eq!(page.next_block, None);
        if parts(&query) > 0 {
            let rarest = all.rarest(&query);
            assert_cost(&page, &query, rarest);
            cheap += u64::from(rarest * 4 < query.to_block - query.from_block);
        }
        found += usize::from(!expected.is_empty());
        // In pages the same, whatever is found.
        if expected.len() > 10 && blocks < 1_000 {
            let (mut paged, mut next) = (vec![], Some(query.from_block));
            while let Some(from_block) = next {
                let part = LogsQuery { from_block, limit: expected.len() / 3, ..query.clone() };
                let page = view.logs(&part).await.unwrap();
                paged.extend(page.logs);
                next = page.next_block;
            }
            assert!(paged == expected);
        }
    }
    assert!(found > 100, "{found} filters found something");
    assert!(cheap > 20, "{cheap} filters were about something rare");
    if blocks > 1_000 {
        println!("log index: {:?}", sizes(&home, blocks * TXS * LOGS_PER_TX).await);
    }
}

/// Bytes of the index on disk, for each log.
async fn sizes(home: &Home, logs: u64) -> Vec<(&'static str, f64)> {
    home.store().compact().await.unwrap();
    let of_logs = |name: &str| ["logs", "log_words", "tx_by_hash"].contains(&name);
    let tables = home.store().table_sizes().await.into_iter().filter(|table| of_logs(table.name));
    tables.map(|table| (table.name, table.disk_bytes as f64 / logs as f64)).collect()
}

async fn assert_right(home: &Home) {
    let view = home.view().await;
    let all = all(&view).await;
    if all.0.is_empty() {
        return;
    }
    let mut rng = StdRng::seed_from_u64(all.0.len() as u64);
    for _ in 0..40 {
        let query = all.random_filter(&mut rng);
        assert_eq!(view.logs(&query).await.unwrap().logs, all.scan(&query), "{query:?}");
    }
    drop(view);
    let report = home.store().check(|_| {}).await.unwrap();
    let faults: Vec<_> = report.parts.iter().filter(|part| !part.faults.is_empty()).collect();
    assert!(faults.is_empty(), "{faults:?}");
}

async fn the_indexes_follow_reverts_amends_and_pruning(engine: Engine) {
    let mut chain = chain(61, 14);
    let mut home = Home::with(engine, Choices { durable: true, ..Choices::default() }).await;
    for block in chain.blocks() {
        home.apply(vec![home.untraced(&chain, block.hash)]).await.unwrap();
    }
    assert_right(&home).await;
    let dropped: Vec<u64> = (10..=14).rev().collect();
    chain.reorg(5, 7);
    let mut change = Change::revert(Origin::Head, dropped);
    change.apply = (10..=16).map(|number| home.at(&chain, number)).collect();
    home.commit(change).await.unwrap();
    assert_right(&home).await;
    home.amend(vec![home.at(&chain, 4)]).await.unwrap();
    assert_right(&home).await;
    home.store().prune_oldest(CHAIN, 6, 100).await.unwrap();
    home.crash().await;
    assert_right(&home).await;
    home.revert((6..=16).rev().collect()).await.unwrap();
    let query = LogsQuery {
        chain: CHAIN,
        from_block: 0,
        to_block: u64::MAX,
        addresses: vec![],
        topics: vec![],
        limit: 9,
    };
    assert_eq!(home.view().await.logs(&query).await.unwrap(), LogsPage::default());
}

async fn a_block_without_receipts_is_listed_until_they_come(engine: Engine) {
    let chain = chain(62, 4);
    let home = Home::new(engine).await;
    for number in 0..=4 {
        let mut block = verified(&chain, chain.block(number).unwrap().hash);
        if number == 3 {
            block.block.receipts.clear();
        }
        home.apply(vec![home.store().prepare(CHAIN, block)]).await.unwrap();
    }
    let missing = |view: View, from, to| async move {
        view.first_receiptless(CHAIN, from, to).await.unwrap()
    };
    assert_eq!(missing(home.view().await, 0, u64::MAX).await, Some(3));
    assert_eq!(missing(home.view().await, 4, u64::MAX).await, None);
    assert_eq!(missing(home.view().await, 0, 2).await, None);
    assert_eq!(missing(home.view().await, 2, 0).await, None);
    home.amend(vec![home.at(&chain, 3)]).await.unwrap();
    assert_eq!(missing(home.view().await, 0, u64::MAX).await, None);
}

async fn transactions_are_found_by_hash(engine: Engine) {
    let chain = chain(63, 6);
    let home = Home::indexed(engine, &chain).await;
    let view = home.view().await;
    for number in 0..=6 {
        let block = view.block_with_receipts(CHAIN, number).await.unwrap().unwrap();
        for (index, tx) in (0..).zip(&block.txs) {
            let place = view.place_of_tx(CHAIN, tx.hash.unwrap()).await.unwrap();
            assert_eq!(place, Some((number, index)));
            let receipt = view.receipt(CHAIN, number, index).await.unwrap();
            assert_eq!(receipt, block.receipts[index as usize]);
        }
    }
    assert_eq!(view.place_of_tx(CHAIN, B256::ZERO).await.unwrap(), None);
    assert_eq!(view.place_of_tx(CHAIN, B256::repeat_byte(255)).await.unwrap(), None);
    assert_eq!(view.receipt(CHAIN, 6, 999).await.unwrap(), None);
}
