//! What gas and blobs cost in the block after a parent, as the protocol has it since Prague.
//!
//! In: the parent's header. Out: base fee (EIP-1559), blob market (EIP-4844, EIP-7691).

use super::header::Header;

/// Blob gas above which blocks hold fewer blobs than the target, so that their price comes down.
pub(super) const EXCESS_BLOB_GAS_HIGH: u64 = 20_000_000;

const BASE_FEE_CHANGE_MAX: u128 = 8;
const BLOB_GAS_TARGET: u64 = 6 * 131_072;
const BLOBS_MAX: usize = 9;
/// How slowly the blob price follows the excess.
const BLOB_PRICE_FRACTION: u128 = 5_007_716;

/// Fees and limits of a block.
pub(super) struct BlockFees {
    pub base_fee: u64,
    pub excess_blob_gas: u64,
    pub blob_price: u128,
    pub blobs_max: usize,
}

pub(super) fn next_fees(parent: &Header) -> BlockFees {
    let blob_gas = parent.excess_blob_gas + parent.blob_gas_used;
    let excess_blob_gas = blob_gas.saturating_sub(BLOB_GAS_TARGET);
    let is_dear = excess_blob_gas > EXCESS_BLOB_GAS_HIGH;
    BlockFees {
        base_fee: next_base_fee(parent),
        excess_blob_gas,
        blob_price: blob_price(excess_blob_gas),
        blobs_max: if is_dear { 3 } else { BLOBS_MAX },
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
fn blob_price(excess_blob_gas: u64) -> u128 {
    let excess = u128::from(excess_blob_gas);
    let (mut sum, mut term, mut step) = (0, BLOB_PRICE_FRACTION, 1);
    while term > 0 {
        sum += term;
        term = term * excess / (BLOB_PRICE_FRACTION * step);
        step += 1;
    }
    sum / BLOB_PRICE_FRACTION
}
