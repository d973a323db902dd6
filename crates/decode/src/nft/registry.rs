//! Every decoder there is. A new one is a file and a line here.

use alloy_primitives::B256;

use super::sale::Sale;
use super::scene::Scene;
use super::{blur_v1, blur_v2, looksrare_v1, looksrare_v2, seaport, wyvern, x2y2, zerox};

/// How one kind of exchange contract tells of sales.
pub struct Protocol {
    /// Unlike all others in the list.
    pub name: &'static str,
    /// How chains/*.toml calls it.
    pub protocol: &'static str,
    pub versions: &'static [&'static str],
    /// The events that it reads.
    pub topics: &'static [B256],
    pub read: fn(&Scene, &mut Vec<Sale>),
}

/// In the order in which they claim transfers. Wyvern's event does not name the token, so it takes
/// what the others leave.
pub const PROTOCOLS: &[Protocol] = &[
    seaport::PROTOCOL,
    blur_v1::PROTOCOL,
    blur_v2::PROTOCOL,
    looksrare_v1::PROTOCOL,
    looksrare_v2::PROTOCOL,
    x2y2::PROTOCOL,
    zerox::PROTOCOL,
    wyvern::PROTOCOL,
];

pub fn find(protocol: &str, version: &str) -> Option<&'static Protocol> {
    PROTOCOLS.iter().find(|it| it.protocol == protocol && it.versions.contains(&version))
}

#[cfg(test)]
mod tests {
    use alloy_primitives::keccak256;

    use super::*;

    #[test]
    fn every_topic_is_the_hash_of_its_events_signature() {
        const ORDER: &str = "(address,uint8,address,address,uint256,uint256,address,uint256,uint256,\
                             uint256,(uint16,address)[],uint256,bytes)";
        const LOOKS_1: &str =
            "(bytes32,uint256,address,address,address,address,address,uint256,uint256,uint256)";
        const LOOKS_2: &str = "((bytes32,uint256,bool),address,address,uint256,address,address,\
                               uint256[],uint256[],address[2],uint256[3])";
        let known = [
            (wyvern::MATCHED, "OrdersMatched(bytes32,bytes32,address,address,uint256,bytes32)".into()),
            (
                seaport::FULFILLED,
                "OrderFulfilled(bytes32,address,address,address,(uint8,address,uint256,uint256)[],\
                 (uint8,address,uint256,uint256,address)[])"
                    .into(),
            ),
            (seaport::MATCHED, "OrdersMatched(bytes32[])".into()),
            (blur_v1::MATCHED, format!("OrdersMatched(address,address,{ORDER},bytes32,{ORDER},bytes32)")),
            (
                blur_v2::EXECUTION,
                "Execution((address,uint256,uint256,address,uint8),bytes32,uint256,uint256,\
                 (address,uint16),((address,uint16),(address,uint16)),uint8)"
                    .into(),
            ),
            (blur_v2::PACKED, "Execution721Packed(bytes32,uint256,uint256)".into()),
            (
                blur_v2::PACKED_TAKER_FEE,
                "Execution721TakerFeePacked(bytes32,uint256,uint256,uint256)".into(),
            ),
            (
                blur_v2::PACKED_MAKER_FEE,
                "Execution721MakerFeePacked(bytes32,uint256,uint256,uint256)".into(),
            ),
            (looksrare_v1::TAKER_BID, format!("TakerBid{LOOKS_1}")),
            (looksrare_v1::TAKER_ASK, format!("TakerAsk{LOOKS_1}")),
            (looksrare_v2::TAKER_BID, format!("TakerBid{LOOKS_2}")),
            (looksrare_v2::TAKER_ASK, format!("TakerAsk{LOOKS_2}")),
            (
                x2y2::INVENTORY,
                "EvInventory(bytes32,address,address,uint256,uint256,uint256,uint256,uint256,address,\
                 bytes,(uint256,bytes),(uint8,uint256,uint256,uint256,bytes32,address,bytes,uint256,\
                 uint256,uint256,(uint256,address)[]))"
                    .into(),
            ),
            (
                zerox::ERC721_FILLED,
                "ERC721OrderFilled(uint8,address,address,uint256,address,uint256,address,uint256,address)"
                    .into(),
            ),
            (
                zerox::ERC1155_FILLED,
                "ERC1155OrderFilled(uint8,address,address,uint256,address,uint256,address,uint256,\
                 uint128,address)"
                    .into(),
            ),
        ];
        for (topic, signature) in &known {
            let signature: &String = signature;
            assert_eq!(*topic, keccak256(signature.as_bytes()), "{signature}");
        }
        let listed = PROTOCOLS.iter().flat_map(|protocol| protocol.topics);
        assert!(listed.into_iter().all(|topic| known.iter().any(|(one, _)| one == topic)));
    }

    #[test]
    fn every_contract_of_a_market_that_can_be_asked_for_has_a_decoder() {
        use model::facts::Market;
        for chain in model::chain::ChainTable::builtin().unwrap().iter() {
            let asked = |name: &str| Market::from_name(name).is_some();
            for place in chain.marketplaces.iter().filter(|place| asked(&place.name)) {
                for contract in &place.contracts {
                    let found = find(&contract.protocol, &contract.version);
                    assert!(found.is_some(), "{}: {contract:?}", chain.slug);
                }
            }
        }
    }
}
