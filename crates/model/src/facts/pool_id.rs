//! How a pool is told from all others of its chain.
//!
//! Must not know what pools are or hold.

use alloy_primitives::{Address, B256};

/// A pool's own contract, or its number inside the one contract that holds all v4 pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PoolId {
    Contract(Address),
    V4(B256),
}

impl PoolId {
    /// 20 or 32 bytes, for keys.
    pub fn as_slice(&self) -> &[u8] {
        match self {
            PoolId::Contract(address) => address.as_slice(),
            PoolId::V4(id) => id.as_slice(),
        }
    }

    pub fn from_slice(bytes: &[u8]) -> Option<PoolId> {
        match bytes.len() {
            20 => Some(PoolId::Contract(Address::from_slice(bytes))),
            32 => Some(PoolId::V4(B256::from_slice(bytes))),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_id_comes_back_from_its_bytes(bytes in proptest::array::uniform32(any::<u8>())) {
            for id in [PoolId::V4(bytes.into()), PoolId::Contract(Address::from_slice(&bytes[..20]))] {
                prop_assert_eq!(PoolId::from_slice(id.as_slice()), Some(id));
            }
        }

        #[test]
        fn bytes_of_any_length_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let id = PoolId::from_slice(&bytes);
            prop_assert_eq!(id.is_some(), [20, 32].contains(&bytes.len()));
        }
    }
}
