//! What others send: events from elsewhere, broken ones, and anything at all.

use alloy_primitives::{Address, B256, Bytes};
use model::chain::{MarketplaceContract, MarketplaceSection};
use model::facts::Market;
use model::raw::{Frame, Log};
use proptest::prelude::*;

use crate::build::*;
use crate::seaport::{Seaport, listing};
use crate::wyvern::Wyvern;

fn sale() -> Made {
    Made::by(BUYER).fulfilled(&listing(&[(2, APES, 7, 1)])).nft(APES, SELLER, BUYER, 7)
}

#[test]
fn an_event_counts_only_from_the_exchange_itself() {
    let mut made = sale();
    made.logs[0].address = Some(ROUTER);
    assert!(made.clone().trades().is_empty());
    // Another exchange's address does not make it that exchange's event.
    made.logs[0].address = Some(exchange("x2y2", "1"));
    assert!(made.trades().is_empty());
}

#[test]
fn a_failed_transaction_sold_nothing() {
    assert_eq!(sale().trades().len(), 1);
    assert!(sale().failed().trades().is_empty());
}

#[test]
fn an_event_that_is_cut_off_or_bent_is_no_trade_and_spoils_no_other() {
    let whole = sale().logs[0].data.clone().unwrap();
    for length in 0..whole.len() {
        let mut bent = sale();
        bent.logs[0].data = Some(whole.slice(..length));
        let trades = trades_of(vec![bent, sale()]);
        assert_eq!(trades.len(), 1, "{length}");
        assert_eq!((trades[0].tx_index, trades[0].log_index), (1, 2));
    }
    let mut dirty = sale();
    dirty.logs[0].topics.as_mut().unwrap()[1] = B256::repeat_byte(0x51);
    assert!(dirty.trades().is_empty());
}

#[test]
fn a_private_chain_lists_its_own_exchange() {
    let mut chain = eth();
    let contract =
        MarketplaceContract { protocol: "seaport".into(), version: "1.6".into(), address: ROUTER };
    let asked = MarketplaceSection { name: "OpenSea".into(), contracts: vec![contract.clone()] };
    let unheard = MarketplaceSection { name: "bazaar".into(), contracts: vec![contract] };
    let mut made = sale();
    made.logs[0].address = Some(ROUTER);
    for (place, found) in [(asked, vec![Market::OPENSEA]), (unheard, vec![])] {
        chain.marketplaces = vec![place];
        let trades = decode::Decoder::new(&chain).decode(&block(vec![made.clone()])).trades;
        assert_eq!(trades.iter().map(|trade| trade.market).collect::<Vec<_>>(), found);
    }
}

#[test]
fn logs_without_a_number_are_counted_and_traces_change_nothing() {
    let mut plain = block(vec![Made::by(BUYER).coin(weth(), BUYER, FEES, 1), sale()]);
    let decoder = decode::Decoder::new(&eth());
    let expected = decoder.decode(&plain);
    assert_eq!(expected.trades[0].log_index, 1);
    for log in plain.receipts.iter_mut().flatten().flat_map(|it| it.logs.iter_mut().flatten()) {
        log.log_index = None;
    }
    assert_eq!(decoder.decode(&plain), expected);
    for frames in [vec![Frame::default()], vec![]] {
        plain.traces = Some(vec![frames; 2]);
        assert_eq!(decoder.decode(&plain), expected);
    }
    plain.receipts[1] = None;
    assert!(decoder.decode(&plain).trades.is_empty());
}

#[test]
fn exchanges_of_one_transaction_do_not_take_each_others_transfers() {
    let trades = Made::by(BUYER)
        .fulfilled(&listing(&[(2, APES, 7, 1)]))
        .nft(APES, SELLER, BUYER, 7)
        .nft(APES, SELLER, BUYER, 8)
        .matched_at(SELLER, BUYER, 50)
        .trades();
    assert_eq!(trades.iter().map(tokens).collect::<Vec<_>>(), [[(7, 1)], [(8, 1)]]);
}

/// Every event there is, from every exchange there is, and the transfers.
fn known() -> (Vec<B256>, Vec<Address>) {
    let names = [
        "Transfer(address,address,uint256)",
        "TransferSingle(address,address,address,uint256,uint256)",
        "TransferBatch(address,address,address,uint256[],uint256[])",
        "OrdersMatched(bytes32[])",
        "OrdersMatched(bytes32,bytes32,address,address,uint256,bytes32)",
        "Execution721Packed(bytes32,uint256,uint256)",
        "Execution721MakerFeePacked(bytes32,uint256,uint256,uint256)",
        "ERC721OrderFilled(uint8,address,address,uint256,address,uint256,address,uint256,address)",
    ];
    let written = [
        "9d9af8e38d66c62e2c12f0225249fd9d721c54b83f48d9352c97c6cacdcb6f31",
        "61cbb2a3dee0b6064c2e681aadd61677fb4ef319f0b547508d495626f5a62f64",
        "f2f66294df6fae7ac681cbe2f6d91c6904485929679dce263e8f6539b7d5c559",
        "95fb6205e23ff6bda16a2d1dba56b9ad7c783f67c96fa149785052f47696f2be",
        "3ee3de4684413690dee6fff1a0a4f92916a1b97d1c5a83cdf24671844306b2e3",
        "3cbb63f144840e5b1b0a38a7c19211d2e89de4d7c5faf8b2d3c1776c302d1d33",
        "20cca81b0e269b265b3229d6b537da91ef475ca0ef55caed7dd30731700ba98d",
    ];
    let mut topics: Vec<B256> = names.map(topic).to_vec();
    topics.extend(written.map(|hash| hash.parse::<B256>().unwrap()));
    let places = eth().marketplaces.iter().flat_map(|it| it.contracts.clone()).collect::<Vec<_>>();
    (topics, places.iter().map(|it| it.address).collect())
}

/// Words that often mean something: small numbers, offsets, addresses, and noise.
fn word() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => (0u64..12).prop_map(|n| crate::words![n]),
        4 => (0u64..24).prop_map(|n| crate::words![n * 32]),
        2 => prop_oneof![Just(SELLER), Just(BUYER), Just(NATIVE)].prop_map(|it| crate::words![it]),
        1 => any::<[u8; 32]>().prop_map(|it| it.to_vec()),
        1 => Just(vec![0xff; 32]),
    ]
}

fn data() -> impl Strategy<Value = Vec<u8>> {
    (prop::collection::vec(word(), 0..40), 0usize..33).prop_map(|(words, cut)| {
        let mut bytes = words.concat();
        bytes.truncate(bytes.len().saturating_sub(cut.saturating_sub(24)));
        bytes
    })
}

fn log() -> impl Strategy<Value = Log> {
    let (topics, exchanges) = known();
    let who = prop::sample::select(exchanges);
    (prop::sample::select(topics), who, prop::collection::vec(word(), 0..4), data()).prop_map(
        |(first, address, more, data)| Log {
            address: Some(address),
            topics: Some(
                std::iter::once(first)
                    .chain(more.iter().map(|word| B256::from_slice(word)))
                    .collect(),
            ),
            data: Some(Bytes::from(data)),
            ..Log::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn nothing_that_can_stand_in_logs_stops_the_decoder(
        logs in prop::collection::vec(log(), 1..8),
        input in data(),
        value in any::<u64>(),
    ) {
        let (_, exchanges) = known();
        let mut made = Made::by(BUYER).calling(exchanges[0], value, input);
        made.logs = logs;
        for trade in trades_of(vec![made]) {
            prop_assert!(!trade.tokens.is_empty());
        }
    }
}
