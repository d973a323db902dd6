//! Marketplaces by name and code, protocols by what chain files call them: all from the one list.

use super::MARKETPLACES;
use super::market::Market;
use super::marketplace::Protocol;

impl Market {
    pub const ALL: [Market; MARKETPLACES.len()] = all();

    /// By what stores have for it.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|market| market.code() == code)
    }

    /// Case does not matter, as everywhere in a request.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|market| market.name().eq_ignore_ascii_case(name))
    }
}

#[expect(clippy::indexing_slicing, reason = "runs in the compiler only")]
const fn all() -> [Market; MARKETPLACES.len()] {
    let mut all = [MARKETPLACES[0].market; MARKETPLACES.len()];
    let mut n = 0;
    while n < all.len() {
        all[n] = MARKETPLACES[n].market;
        n += 1;
    }
    all
}

/// In the order in which they claim transfers.
pub fn protocols() -> impl Iterator<Item = &'static Protocol> {
    let all = || MARKETPLACES.iter().flat_map(|it| it.protocols);
    all().filter(|it| !it.claims_last).chain(all().filter(|it| it.claims_last))
}

pub fn find_protocol(protocol: &str, version: &str) -> Option<&'static Protocol> {
    protocols().find(|it| it.protocol == protocol && it.versions.contains(&version))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use alloy_primitives::keccak256;

    use super::*;

    #[test]
    fn every_market_is_found_by_its_code_and_by_its_name_in_any_case() {
        let codes: BTreeSet<u8> = Market::ALL.into_iter().map(Market::code).collect();
        assert_eq!(codes.len(), Market::ALL.len());
        for market in Market::ALL {
            assert_eq!(Market::from_code(market.code()), Some(market));
            assert_eq!(Market::from_name(market.name()), Some(market));
            let upper = Market::from_name(&market.name().to_uppercase()).unwrap();
            assert_eq!(upper.name(), market.name());
        }
        assert_eq!((Market::from_name("cryptopunks"), Market::from_code(254)), (None, None));
    }

    #[test]
    fn codes_that_stores_have_keep_their_meaning() {
        for (code, name) in (0u8..).zip(["opensea", "blur", "looksrare", "x2y2", "0xprotocol"]) {
            assert_eq!(Market::from_code(code).unwrap().name(), name);
        }
    }

    #[test]
    fn every_topic_is_the_hash_of_its_events_signature() {
        for (topic, signature) in protocols().flat_map(|it| it.events) {
            assert_eq!(*topic, keccak256(signature), "{signature}");
        }
    }

    #[test]
    fn protocols_have_names_of_their_own_and_wyvern_claims_last() {
        let names: Vec<&str> = protocols().map(|it| it.name).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        assert_eq!(names.last(), Some(&"wyvern"));
    }

    #[test]
    fn every_contract_of_a_market_that_can_be_asked_for_has_a_decoder() {
        for chain in crate::chain::ChainTable::builtin().unwrap().iter() {
            let asked = |name: &str| Market::from_name(name).is_some();
            for place in chain.marketplaces.iter().filter(|place| asked(&place.name)) {
                for contract in &place.contracts {
                    let found = find_protocol(&contract.protocol, &contract.version);
                    assert!(found.is_some(), "{}: {contract:?}", chain.slug);
                }
            }
        }
    }
}
