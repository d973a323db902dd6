//! Facts that follow from a block's hash: few contracts and pools, so that they meet again and again.

use alloy_primitives::{Address, B256, U256};
use model::chain::ExchangeKind;
use model::facts::{
    Change, Facts, Market, Pool, PoolChange, PoolFacts, PoolId, PoolState, RangeDelta, Trade,
};

pub fn contract(n: u8) -> Address {
    Address::repeat_byte(0xc0 + n % 3)
}

pub fn pool(n: u8) -> PoolId {
    match n % 4 {
        3 => PoolId::V4(B256::repeat_byte(0xb3)),
        n => PoolId::Contract(Address::repeat_byte(0xb0 + n)),
    }
}

/// Facts of a block with so many transactions.
pub fn facts(hash: B256, txs: usize) -> Facts {
    let bytes = hash.0;
    let trade = |i: u8| trade(u32::from(i), txs as u32, &bytes[usize::from(i) * 4..]);
    // Nothing is sold without a transaction.
    let trades = (0..bytes[0] % 4).filter(|_| txs > 0).map(trade);
    let mut changed: Vec<PoolId> = bytes[20..].iter().take(2).map(|n| pool(*n)).collect();
    changed.sort();
    changed.dedup();
    let changes = changed.iter().enumerate().map(|(i, id)| PoolChange {
        id: *id,
        log_index: i as u32,
        change: change(bytes[24 + i], u128::from(bytes[28])),
    });
    let pools = PoolFacts {
        seen: changed.iter().map(|id| known(*id)).collect(),
        changes: changes.collect(),
    };
    Facts { trades: trades.collect(), pools }
}

fn trade(log_index: u32, txs: u32, bytes: &[u8]) -> Trade {
    Trade {
        tx_index: u32::from(bytes[6]) % txs,
        log_index,
        market: Market::ALL[usize::from(bytes[1]) % Market::ALL.len()],
        marketplace: Address::repeat_byte(1),
        contract: contract(bytes[2]),
        tokens: vec![(U256::from(bytes[3]), U256::ONE)],
        seller: Address::repeat_byte(2),
        buyer: Address::repeat_byte(3),
        currency: Address::ZERO,
        // Few prices, zero among them, so that there are ties.
        price: U256::from(bytes[4] % 8),
        mixed: false,
        in_native: !bytes[5].is_multiple_of(4),
        reconciled: true,
    }
}

fn change(kind: u8, amount: u128) -> Change {
    if kind.is_multiple_of(3) {
        return Change::Liquidity(vec![RangeDelta { lower: -10, upper: 10, delta: 7 }]);
    }
    Change::State(PoolState::Ranged {
        sqrt_price: U256::from(1u128 << 96),
        liquidity: 1000 + amount,
        tick: 0,
    })
}

fn known(id: PoolId) -> Pool {
    Pool {
        id,
        factory: Address::repeat_byte(9),
        kind: ExchangeKind::V3,
        token0: Address::repeat_byte(0xd0),
        token1: Address::repeat_byte(0xd1),
        fee: Some(500),
        tick_spacing: Some(10),
        hooks: Address::ZERO,
        stable: None,
    }
}
