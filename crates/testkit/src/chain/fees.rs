//! What gas and blobs cost in the block after a parent, as the protocol has it since Cancun and Prague.
//!
//! In: the parent's header. Out: base fee (EIP-1559; before London the lowest price anybody offers), blob
//! market (EIP-4844, EIP-7691).

use super::{fork::Fork, header::Header};

/// Blob gas above which blocks hold fewer blobs than the target, so that their price comes down.
pub(super) const EXCESS_BLOB_GAS_HIGH: u64 = 20_000_000;

const BASE_FEE_CHANGE_MAX: u128 = 8;
const BLOB_GAS: u64 = 131_072;

/// How many blobs a block has at most and is meant to have, and how slowly their price follows the excess.
struct BlobMarket {
    target: u64,
    max: usize,
    fraction: u128,
}

const CANCUN: BlobMarket = BlobMarket { target: 3, max: 6, fraction: 3_338_477 };
const PRAGUE: BlobMarket = BlobMarket { target: 6, max: 9, fraction: 5_007_716 };

/// Fees and limits of a block.
pub(super) struct BlockFees {
    pub base_fee: u64,
    pub excess_blob_gas: u64,
    pub blob_price: u128,
    pub blobs_max: usize,
}

pub(super) fn next_fees(parent: &Header) -> BlockFees {
    let market = if parent.fork < Fork::Prague { CANCUN } else { PRAGUE };
    let blob_gas = parent.excess_blob_gas + parent.blob_gas_used;
    let excess_blob_gas = blob_gas.saturating_sub(market.target * BLOB_GAS);
    let is_dear = excess_blob_gas > EXCESS_BLOB_GAS_HIGH;
    BlockFees {
        base_fee: next_base_fee(parent),
        excess_blob_gas,
        blob_price: blob_price(excess_blob_gas, market.fraction),
        blobs_max: if is_dear { 3 } else { market.max },
    }
}

/// Up by at most an eighth when the parent was more than half full, down by as much when it was less.
fn next_base_fee(parent: &Header) -> u64 {
    let (fee, target) = (parent.base_fee_per_gas, parent.gas_limit / 2);
    let change = |gas: u64| {
        let change = u128::from(fee) * u128::from(gas) / u128::from(target) / BASE_FEE_CHANGE_MAX;
        u64::try_from(change).unwrap_or(u64::MAX)
    };
    if parent.gas_used > target {
        fee.saturating_add(change(parent.gas_used - target).max(1))
    } else {
        fee.saturating_sub(change(target - parent.gas_used))
    }
}

/// e to the power of excess / fraction, in integers; the series is the protocol's own.
fn blob_price(excess_blob_gas: u64, fraction: u128) -> u128 {
    let excess = u128::from(excess_blob_gas);
    let (mut sum, mut term, mut step) = (0, fraction, 1);
    while term > 0 {
        sum += term;
        term = term * excess / (fraction * step);
        step += 1;
    }
    sum / fraction
}
