//! A request in one canonical form: two requests have the same key exactly if they ask the same.

use std::hash::{Hash, Hasher};

use model::chain::{ChainId, Operation};

use crate::profile::Profile;

/// The whole request, not a digest of it: no two requests can ever be taken for one another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RequestKey(Box<[u8]>);

impl RequestKey {
    /// `params` is everything else in the request that shapes its response. Its `Hash` has to be the
    /// derived one, which feeds every field, so a parameter that is added later is in the key by itself.
    pub fn new(operation: Operation, chain: ChainId, profile: Profile, params: &impl Hash) -> Self {
        let mut bytes = CanonicalBytes(Vec::with_capacity(128));
        (operation, chain, profile).hash(&mut bytes);
        params.hash(&mut bytes);
        RequestKey(bytes.0.into())
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// Keeps what a hasher is fed. Derived implementations feed numbers at their full width, texts and lists
/// with an end or a length, and which variant an enum is: no two values give the same bytes.
struct CanonicalBytes(Vec<u8>);

impl Hasher for CanonicalBytes {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug, Hash, PartialEq)]
    struct Params {
        text: String,
        more: String,
        list: Vec<u16>,
        number: Option<u64>,
        flag: Option<bool>,
    }

    fn params() -> impl Strategy<Value = Params> {
        let list = proptest::collection::vec(0u16..3, 0..3);
        let parts = ("[ab]{0,2}", "[ab]{0,2}", list, any::<Option<bool>>(), any::<Option<bool>>());
        parts.prop_map(|(text, more, list, number, flag)| Params {
            text,
            more,
            list,
            number: number.map(u64::from),
            flag,
        })
    }

    fn key(params: &impl Hash) -> RequestKey {
        RequestKey::new(Operation::TokenPrice, ChainId(1), Profile::Spec, params)
    }

    proptest! {
        #[test]
        fn keys_are_equal_exactly_where_parameters_are(one in params(), other in params()) {
            prop_assert_eq!(key(&one) == key(&other), one == other);
            prop_assert_eq!(key(&one), key(&one.clone()));
        }
    }

    #[test]
    fn operation_chain_and_profile_belong_to_the_key() {
        let plain = key(&7u64);
        for (operation, chain, profile) in [
            (Operation::NftTrades, 1, Profile::Spec),
            (Operation::TokenPrice, 2, Profile::Spec),
            (Operation::TokenPrice, 1, Profile::Live),
        ] {
            assert_ne!(RequestKey::new(operation, ChainId(chain), profile, &7u64), plain);
        }
    }
}
