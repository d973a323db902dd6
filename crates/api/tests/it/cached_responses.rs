//! A response from memory is never told from a fresh one: whatever is written between two requests, a
//! server that keeps responses says the same as one that does not.

use alloy_primitives::Address;
use proptest::prelude::*;
use serde_json::Value;
use store::{Change, Options, Origin, Store};
use testkit::{SimChain, SimConfig};

use crate::nft_market::{APES, NftMarket, START, ape};
use crate::test_server::{Answer, CHAIN, TestServer, block_on, open, prepared};

#[derive(Clone, Copy, Debug)]
enum Step {
    Extend {
        with_traces: bool,
    },
    Reorg {
        depth: usize,
    },
    /// The oldest block without traces gets them.
    Amend,
    Nothing,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => any::<bool>().prop_map(|with_traces| Step::Extend { with_traces }),
        1 => (1usize..3).prop_map(|depth| Step::Reorg { depth }),
        2 => Just(Step::Amend),
        1 => Just(Step::Nothing),
    ]
}

struct Servers {
    cached: TestServer,
    fresh: TestServer,
    store: Store,
    chain: SimChain,
}

impl Servers {
    fn new(seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = open(&Options { durable: false, ..Options::new(folder.path()) });
        let chain = SimChain::new(SimConfig::seeded(seed));
        let fresh = TestServer::without_cache(store.clone(), &["sim"]);
        let cached = TestServer::over(store.clone(), folder, &["sim"]);
        let servers = Servers { cached, fresh, store, chain };
        servers.commit(vec![prepared(&servers.store, &servers.chain, 0, true)], Vec::new());
        servers
    }

    fn commit(&self, apply: Vec<store::PreparedBlock>, revert: Vec<u64>) {
        let change = Change { revert, ..Change::apply(Origin::Head, apply) };
        block_on(self.store.commit(CHAIN, change)).unwrap();
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Extend { with_traces } => {
                self.chain.extend(1);
                let number = self.chain.head_number();
                self.commit(vec![prepared(&self.store, &self.chain, number, with_traces)], vec![]);
            }
            Step::Reorg { depth } => {
                let old = self.chain.head_number();
                let depth = depth.min(old as usize);
                if depth == 0 {
                    return;
                }
                self.chain.reorg(depth, depth);
                let numbers = old + 1 - depth as u64..=old;
                let block = |number| prepared(&self.store, &self.chain, number, number % 2 == 0);
                self.commit(numbers.clone().map(block).collect(), numbers.rev().collect());
            }
            Step::Amend => {
                let view = block_on(self.store.view()).unwrap();
                let untraced = block_on(view.untraced_blocks(CHAIN, u64::MAX, 100)).unwrap();
                let Some(number) = untraced.last() else { return };
                let amend = vec![prepared(&self.store, &self.chain, *number, true)];
                block_on(self.store.commit(CHAIN, Change::amend(Origin::History, amend))).unwrap();
            }
            Step::Nothing => {}
        }
    }

    fn compare(&self) {
        let busy = self.chain.address_of("exchange").unwrap();
        for wallet in self.chain.wallets().into_iter().take(3).chain([busy, Address::ZERO]) {
            for query in
                ["", "&include=internal_transactions", "&order=ASC&limit=2", "&from_block=2"]
            {
                let target = format!("/api/v2.2/{wallet:#x}?chain=sim{query}");
                let fresh = shown(&self.fresh.get(&target));
                for _ in 0..2 {
                    assert_eq!(shown(&self.cached.get(&target)), fresh, "{target}");
                }
            }
        }
    }
}

/// All but the cursor, which holds the time at which it was made.
fn shown(answer: &Answer) -> (u16, Value, [Option<String>; 3]) {
    let mut body = answer.json();
    if let Some(cursor) = body.get_mut("cursor") {
        *cursor = Value::Bool(cursor.as_str().is_some_and(|text| !text.is_empty()));
    }
    let header = |name| answer.header(name).map(str::to_owned);
    (answer.status, body, [header("x-indexed-blocks"), header("x-coverage"), header("x-traces")])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]
    #[test]
    fn wallets_are_answered_alike_with_and_without_a_cache(
        seed in 0u64..1_000,
        steps in proptest::collection::vec(step(), 6..12),
    ) {
        let mut servers = Servers::new(seed);
        for step in steps {
            servers.take(step);
            servers.compare();
        }
    }
}

#[test]
fn trades_and_the_lowest_price_follow_every_block_and_reorg() {
    let mut market = NftMarket::new();
    let lowest = |market: &NftMarket| {
        let answer = market.lowest(APES, "");
        (answer.status, answer.json()["price"].as_str().map(str::to_owned))
    };
    assert_eq!(lowest(&market).0, 503);
    market.mine(START, &[ape(1, 500)]);
    for _ in 0..2 {
        assert_eq!(lowest(&market), (200, Some("500".to_owned())));
        assert_eq!(market.ids(APES, ""), [1]);
    }
    market.mine(START + 12, &[ape(2, 300)]);
    assert_eq!(lowest(&market).1.as_deref(), Some("300"));
    assert_eq!(market.ids(APES, ""), [2, 1]);
    market.replace(START + 12, &[ape(3, 400)]);
    assert_eq!(lowest(&market).1.as_deref(), Some("400"));
    assert_eq!(market.ids(APES, ""), [3, 1]);
}
