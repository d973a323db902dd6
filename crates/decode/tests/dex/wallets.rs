//! Real transactions of nine chains, with what wallets gave and got in them, as others recorded it.
//!
//! Every recorded amount is what decoded swaps moved, to the last digit; or that and what others kept
//! on the way; or it went through something that is no pool of ours and is listed in `elsewhere`.

use std::collections::BTreeMap;

use alloy_primitives::{Address, U256};
use decode::dex::Dex;
use model::chain::{Chain, ChainId, ChainTable, ExchangeKind, PrivateChain};
use serde_json::Value;

use crate::elsewhere::ELSEWHERE;
use crate::files;
use crate::ledger::{Ledger, Side};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Found {
    /// One swap moved exactly that, or all swaps together did.
    Exactly,
    /// Pools moved it and what takers of fees kept, by transfers of the same token.
    LessKept,
    /// All of the coin that was sent with the transaction; pools took what fees left of it.
    Value,
    /// What someone kept who gave nothing for it.
    Fee,
    Nowhere,
}

#[test]
fn swaps_of_other_chains_move_what_their_wallets_saw() {
    let Some(fixtures) = files::fixtures("amounts of wallets") else { return };
    let table = ChainTable::builtin().unwrap();
    let (mut counts, mut open) = (BTreeMap::new(), BTreeMap::<String, Vec<String>>::new());
    let (mut rows, mut swaps, mut known) = (0, 0, 0);
    for row in files::lines(&fixtures.join("dex/multichain-swap-txs.jsonl.gz")) {
        let chain = chain_of(&table, row["chainId"].as_u64().unwrap());
        let block = files::block_of(&row["receipt"]);
        let found = Dex::new(&chain).swaps(&block);
        rows += 1;
        swaps += found.len();
        known += found.iter().filter(|it| it.known.is_some()).count();
        let manager = chain.exchanges.iter().find(|it| it.kind == ExchangeKind::V4);
        let manager = manager.map(|it| it.factory);
        let coin = chain.wrapped.as_ref().map_or(Address::ZERO, |it| it.address);
        let ledger = Ledger::new(block.receipts[0].as_ref().unwrap(), &found, coin, manager);
        let value: U256 = row["transaction"]["value"].as_str().unwrap().parse().unwrap();
        for expected in row["expectedSwaps"].as_array().unwrap() {
            let asked = Asked::new(expected, &row, &ledger, value);
            let how = asked.found(&ledger);
            *counts.entry(how).or_insert(0) += 1;
            if how == Found::Nowhere {
                let hash = row["txHash"].as_str().unwrap().to_owned();
                open.entry(hash).or_default().push(expected.to_string());
            }
        }
    }
    println!("{rows} transactions, {swaps} swaps, {known} with known tokens; amounts: {counts:?}");
    assert!(known >= 116, "{known} of {swaps} swaps with known tokens");
    for (hash, left) in &open {
        let listed = ELSEWHERE.iter().find(|it| it.tx == hash).map(|it| it.amounts);
        assert_eq!(listed, Some(left.len()), "{hash}: {left:#?}");
    }
    for listed in &ELSEWHERE {
        assert!(open.contains_key(listed.tx), "found by now: {} {}", listed.tx, listed.venue);
    }
}

/// Of chains that are not in the table nothing is known, and their swaps are read all the same.
fn chain_of(table: &ChainTable, id: u64) -> Chain {
    let known = table.get(ChainId(id)).cloned();
    known.unwrap_or_else(|| {
        let table = ChainTable::builtin().unwrap();
        let table = table.with_private(PrivateChain::new(ChainId(id), "unknown")).unwrap();
        table.get(ChainId(id)).unwrap().clone()
    })
}

/// One recorded amount.
struct Asked {
    digits: String,
    side: Option<Side>,
    tokens: Vec<Address>,
    /// What came with the transaction, if the coin is asked for.
    value: Option<U256>,
    /// Fees that are recorded apart from it.
    fees: Vec<String>,
}

impl Asked {
    fn new(expected: &Value, row: &Value, ledger: &Ledger, value: U256) -> Self {
        let asset = &expected["asset"];
        let is_coin = asset["native"] == true || asset["symbolConstant"] == "A_BSC_BNB";
        let all = row["expectedSwaps"].as_array().unwrap().iter();
        let fees = all.filter(|it| it["side"] == "FEE" && it["asset"] == *asset);
        // Some are named in words only; then any token may be meant, and the digits tell which.
        let tokens = match asset["address"].as_str() {
            Some(address) => ledger.twins(address.parse().unwrap()),
            None if is_coin => vec![ledger.coin],
            None => ledger.tokens(),
        };
        Asked {
            digits: digits(&expected["amount"]),
            side: match expected["side"].as_str().unwrap() {
                "SPEND" => Some(Side::Spend),
                "RECEIVE" => Some(Side::Receive),
                _ => None,
            },
            tokens,
            value: is_coin.then_some(value),
            fees: fees.map(|it| digits(&it["amount"])).collect(),
        }
    }

    fn found(&self, ledger: &Ledger) -> Found {
        let Some(side) = self.side else { return self.fee(ledger) };
        if self.tokens.iter().any(|it| ledger.moved(*it, side).iter().any(|it| self.is(*it))) {
            return Found::Exactly;
        }
        if self.tokens.iter().any(|it| self.less_kept(ledger, *it, side)) {
            return Found::LessKept;
        }
        let sent = self.value.filter(|it| side == Side::Spend && self.is(*it));
        let took = ledger.net(ledger.coin, side);
        match sent.zip(took).is_some_and(|(sent, took)| took <= sent) {
            true => Found::Value,
            false => Found::Nowhere,
        }
    }

    fn less_kept(&self, ledger: &Ledger, token: Address, side: Side) -> bool {
        let Some(net) = ledger.net(token, side) else { return false };
        // Whose amount it is, where a transfer shows it; the coin comes and goes without one.
        let holders = ledger.holders(token, side).into_iter().map(|it| Some(it.0));
        let wallets = holders.chain(self.value.map(|_| None));
        wallets.into_iter().any(|wallet| {
            let Some(kept) = ledger.kept(token, wallet) else { return false };
            let sum: U256 = kept.iter().sum();
            // A fee that is recorded apart is in what was got, and not in what was given.
            let is_apart = |it: &&U256| self.fees.iter().any(|fee| fits(**it, fee));
            let apart: U256 = kept.iter().filter(is_apart).sum();
            let (with, without) = match side {
                Side::Spend => (net.checked_add(sum), net.checked_add(sum - apart)),
                Side::Receive => (net.checked_sub(sum), net.checked_sub(sum - apart)),
            };
            [with, without].into_iter().flatten().any(|it| self.is(it))
        })
    }

    fn fee(&self, ledger: &Ledger) -> Found {
        let takes = |token: &Address| {
            let takers = ledger.holders(*token, Side::Receive);
            takers.iter().any(|(_, kept)| self.is(*kept))
        };
        if self.tokens.iter().any(takes) { Found::Fee } else { Found::Nowhere }
    }

    fn is(&self, amount: U256) -> bool {
        fits(amount, &self.digits)
    }
}

fn fits(amount: U256, digits: &str) -> bool {
    !amount.is_zero() && amount.to_string().trim_end_matches('0') == digits
}

/// The digits that count, whatever the token's decimals are.
fn digits(amount: &Value) -> String {
    let text = amount.as_str().unwrap();
    let text = if text == "ONE" { "1" } else { text }.replace('.', "");
    text.trim_start_matches('0').trim_end_matches('0').to_owned()
}
