//! The words of events and calls, as `model::abi` reads them.

use alloy_primitives::{Address, B256};

pub use model::abi::Words;

/// The address that an indexed value holds.
pub fn address(word: &B256) -> Option<Address> {
    model::abi::word::address(*word)
}
