//! Who ended a transaction with more or less of a token, by its receipt alone; and which part of a
//! wallet's amount the pools moved, and which part others kept.
//!
//! The native coin and its wrapped form are one here. The coin moves without a log, so of it only
//! wraps, unwraps and what came with the transaction are seen.

use std::collections::{BTreeMap, BTreeSet};

use alloy_primitives::{Address, B256, I256, U256, keccak256};
use decode::dex::Swap;
use model::facts::PoolId;
use model::raw::{Log, Receipt};

pub struct Ledger {
    /// By token, then by holder: what the holder has more than before.
    changes: BTreeMap<Address, BTreeMap<Address, I256>>,
    /// By token: what all decoded swaps together took in, and each of their flows by direction.
    pools: BTreeMap<Address, Flows>,
    venues: BTreeSet<Address>,
    pub coin: Address,
}

#[derive(Default)]
struct Flows {
    net: I256,
    into: Vec<U256>,
    out_of: Vec<U256>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Spend,
    Receive,
}

impl Ledger {
    /// `manager` is the contract that holds the v4 pools.
    pub fn new(receipt: &Receipt, swaps: &[Swap], coin: Address, manager: Option<Address>) -> Self {
        let mut ledger = Ledger {
            changes: BTreeMap::new(),
            pools: BTreeMap::new(),
            venues: BTreeSet::new(),
            coin,
        };
        let logs = receipt.logs.as_deref().unwrap_or_default();
        logs.iter().for_each(|log| ledger.read(log));
        for swap in swaps {
            ledger.venues.extend(match swap.pool {
                PoolId::Contract(pool) => Some(pool),
                PoolId::V4(_) => manager,
            });
            let flow = &swap.flow;
            let sides = [(flow.amount0_in, flow.amount0_out), (flow.amount1_in, flow.amount1_out)];
            for (n, (into, out_of)) in sides.into_iter().enumerate() {
                let Some(token) = token_of(swap, n, logs, manager) else { continue };
                let token = if token.is_zero() { coin } else { token };
                let flows = ledger.pools.entry(token).or_default();
                flows.net += signed(into) - signed(out_of);
                flows.into.extend((!into.is_zero()).then_some(into));
                flows.out_of.extend((!out_of.is_zero()).then_some(out_of));
            }
        }
        ledger
    }

    fn read(&mut self, log: &Log) {
        let (Some(token), Some(topics)) = (log.address, log.topics.as_deref()) else { return };
        let Some(amount) = log.data.as_ref().and_then(|it| <[u8; 32]>::try_from(&it[..]).ok())
        else {
            return;
        };
        let amount = I256::from_be_bytes(amount);
        let mut add = |holder: B256, amount: I256| {
            let holders = self.changes.entry(token).or_default();
            *holders.entry(Address::from_word(holder)).or_default() += amount;
        };
        match topics {
            [name, from, to] if *name == keccak256("Transfer(address,address,uint256)") => {
                add(*from, -amount);
                add(*to, amount);
            }
            [name, to] if token == self.coin && *name == keccak256("Deposit(address,uint256)") => {
                add(*to, amount);
            }
            [name, from]
                if token == self.coin && *name == keccak256("Withdrawal(address,uint256)") =>
            {
                add(*from, -amount);
            }
            _ => {}
        }
    }

    /// All that moved.
    pub fn tokens(&self) -> Vec<Address> {
        let all: BTreeSet<Address> =
            self.pools.keys().chain(self.changes.keys()).copied().collect();
        all.into_iter().collect()
    }

    /// The token, and whatever contract tells of the very same movements: a token that moved house
    /// speaks at both addresses.
    pub fn twins(&self, token: Address) -> Vec<Address> {
        let same = |it: &Address| self.changes.get(it) == self.changes.get(&token);
        let twins = self.changes.keys().copied().filter(|it| *it != token && same(it));
        std::iter::once(token).chain(twins).collect()
    }

    /// What single swaps moved to that side, and all swaps together.
    pub fn moved(&self, token: Address, side: Side) -> Vec<U256> {
        let Some(flows) = self.pools.get(&token) else { return Vec::new() };
        let mut all = match side {
            Side::Spend => flows.into.clone(),
            Side::Receive => flows.out_of.clone(),
        };
        let total: U256 = all.iter().sum();
        all.extend([Some(total), self.net(token, side)].into_iter().flatten());
        all
    }

    /// What the pools took (or gave) of it in the end, hops in between left out.
    pub fn net(&self, token: Address, side: Side) -> Option<U256> {
        let net = self.pools.get(&token)?.net;
        let wanted = if side == Side::Spend { net } else { -net };
        (wanted > I256::ZERO).then(|| wanted.unsigned_abs())
    }

    /// What those kept who gave nothing for it: takers of fees, and routers their dust. Nobody else
    /// may have gained or lost of the token but pools and `wallet`, or there was another venue.
    pub fn kept(&self, token: Address, wallet: Option<Address>) -> Option<Vec<U256>> {
        let mut kept = Vec::new();
        for (holder, change) in self.changes.get(&token)? {
            if self.venues.contains(holder) || Some(*holder) == wallet || change.is_zero() {
                continue;
            }
            let gives =
                |of: &BTreeMap<Address, I256>| of.get(holder).is_some_and(|it| it.is_negative());
            if self.changes.values().any(gives) {
                return None;
            }
            kept.push(change.unsigned_abs());
        }
        Some(kept)
    }

    /// Those who have that much more (or less) of the token than before.
    pub fn holders(&self, token: Address, side: Side) -> Vec<(Address, U256)> {
        let gained = |change: &I256| (*change > I256::ZERO) == (side == Side::Receive);
        let holders = self.changes.get(&token).into_iter().flatten();
        let holders = holders.filter(|(holder, change)| {
            gained(change) && !change.is_zero() && !self.venues.contains(*holder)
        });
        holders.map(|(holder, change)| (*holder, change.unsigned_abs())).collect()
    }
}

fn signed(amount: U256) -> I256 {
    I256::try_from(amount).expect("no token has as many")
}

/// The pool's own token if that is proven; else the one that was transferred by exactly the amount
/// which the swap tells.
fn token_of(swap: &Swap, n: usize, logs: &[Log], manager: Option<Address>) -> Option<Address> {
    if let Some(pool) = &swap.known {
        return Some(if n == 0 { pool.token0 } else { pool.token1 });
    }
    let pool = match swap.pool {
        PoolId::Contract(pool) => pool,
        PoolId::V4(_) => manager?,
    };
    let flow = &swap.flow;
    let (into, out_of) = match n {
        0 => (flow.amount0_in, flow.amount0_out),
        _ => (flow.amount1_in, flow.amount1_out),
    };
    let name = keccak256("Transfer(address,address,uint256)");
    let fits = |log: &&Log| {
        let (Some([first, from, to]), Some(data)) = (log.topics.as_deref(), log.data.as_deref())
        else {
            return false;
        };
        let is = |amount: U256, end: &B256| {
            !amount.is_zero()
                && *end == pool.into_word()
                && data == amount.to_be_bytes::<32>().as_slice()
        };
        *first == name && (is(into, to) || is(out_of, from))
    };
    logs.iter().find(fits)?.address
}

#[test]
fn keepers_are_told_from_venues_by_what_they_gave() {
    use crate::encode::{addr, block, chain, log, swap_v2, word};
    let (token, other, pair) = (addr(1).min(addr(2)), addr(1).max(addr(2)), addr(3));
    let [wallet, router, keeper, venue] = [11, 12, 13, 14].map(addr);
    let moved = |token: Address, from: Address, to: Address, amount: u64| {
        let ends = [from.into_word(), to.into_word()];
        log(token, "Transfer(address,address,uint256)", &ends, &[word(amount)])
    };
    let ledger = |more: Vec<Log>| {
        let mut logs = vec![
            moved(token, wallet, router, 105),
            moved(token, router, pair, 100),
            moved(token, router, keeper, 5),
            moved(other, pair, wallet, 90),
            swap_v2(pair, [100, 0, 0, 90]),
        ];
        logs.extend(more);
        let eth = chain("eth");
        let block = block(vec![logs]);
        let swaps = decode::dex::Dex::new(&eth).swaps(&block);
        Ledger::new(block.receipts[0].as_ref().unwrap(), &swaps, addr(99), None)
    };
    let plain = ledger(Vec::new());
    assert_eq!(plain.net(token, Side::Spend), Some(U256::from(100)));
    assert_eq!(plain.net(token, Side::Receive), None);
    assert_eq!(plain.kept(token, Some(wallet)), Some(vec![U256::from(5)]));
    assert_eq!(plain.holders(token, Side::Spend), [(wallet, U256::from(105))]);
    assert_eq!(plain.moved(other, Side::Receive), [U256::from(90); 3]);
    // Whoever gave something in return may be a venue that we do not read.
    let another = ledger(vec![moved(token, wallet, venue, 7), moved(other, venue, wallet, 6)]);
    assert_eq!(another.kept(token, Some(wallet)), None);
}
