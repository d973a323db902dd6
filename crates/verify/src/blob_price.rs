//! What a unit of blob gas costs, from the header's excess (EIP-4844).

use alloy_primitives::U256;
use model::raw::Header;

use super::header_hash::FORK_FIELDS_WITH_REQUESTS;

/// How slowly the price follows the excess is a setting of the network, which no block names: Cancun's,
/// then Prague's (EIP-7691) and those of the forks that only change it (EIP-7892).
const CANCUN: [u64; 1] = [3_338_477];
const SINCE_PRAGUE: [u64; 3] = [5_007_716, 8_346_193, 11_684_671];
/// More steps than the series takes for any excess that a chain can get to.
const STEPS_MAX: u64 = 10_000;

/// Whether this can be the price in the block with that header.
pub fn is_blob_price(header: &Header, fork_fields: usize, price: U256) -> bool {
    let Some(excess) = header.excess_blob_gas else { return false };
    let fractions: &[u64] =
        if fork_fields < FORK_FIELDS_WITH_REQUESTS { &CANCUN } else { &SINCE_PRAGUE };
    fractions.iter().any(|fraction| blob_price(excess, *fraction) == Some(price))
}

/// e to the power of excess / fraction in integers, by the protocol's own series. `None` where it does not
/// fit a word.
fn blob_price(excess: u64, fraction: u64) -> Option<U256> {
    let (excess, fraction) = (U256::from(excess), U256::from(fraction));
    let (mut sum, mut term) = (U256::ZERO, fraction);
    for step in 1..STEPS_MAX {
        if term.is_zero() {
            return sum.checked_div(fraction);
        }
        sum = sum.checked_add(term)?;
        term = term.checked_mul(excess)?.checked_div(fraction.checked_mul(U256::from(step))?)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_those_that_mainnet_had() {
        let price = |excess, fraction| blob_price(excess, fraction).unwrap();
        assert_eq!(price(0, CANCUN[0]), U256::from(1));
        // The EIP's own reference: below and above the first whole step.
        assert_eq!(price(2_314_057, CANCUN[0]), U256::from(1));
        assert_eq!(price(2_314_058, CANCUN[0]), U256::from(2));
        assert_eq!(price(10 * 1024 * 1024, CANCUN[0]), U256::from(23));
        assert_eq!(blob_price(u64::MAX, 1), None);
    }
}
