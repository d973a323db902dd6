//! The bytes of hand-made values, held against those in `bytes.txt`. A store is opened by programs of
//! many versions: where a byte changes here, the format changed and old stores must be upgraded.

mod objects;

use alloy_primitives::{Address, U256, hex};
use model::chain::ChainId;
use model::exchange_families::ExchangeKind;
use model::facts::{Change, Market, Pool, PoolChange, PoolId, PoolState, RangeDelta, Trade};
use model::proof::Proof;
use model::raw::{AccessListItem, Authorization, Header, Log, Receipt, Tx, Withdrawal};
use model::token::{Source, Token};

use super::object::PackedObject;
use super::rows::{
    TxHash, TxPacker, pack_block_ref, pack_frames, pack_header, pack_logs, unpack_block_ref,
    unpack_frames, unpack_header, unpack_logs,
};
use super::trade::{pack_trades, unpack_trades};
use super::{Packed, pack_coverage, pool, pool_change, unpack_coverage};
use crate::block::BlockSummary;
use crate::coverage::Coverage;
use crate::embedded::counts::Count;
use crate::embedded::facts::FactsRow;

const BYTES: &str = include_str!("bytes.txt");

/// Compares with the line of this name: name, space, bytes in hex.
#[track_caller]
fn assert_pinned(name: &str, packed: &[u8]) {
    let line = BYTES.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    assert_eq!(line, Some(hex::encode(packed).as_str()), "{name}");
}

fn packed(pack: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    pack(&mut out);
    out
}

macro_rules! object_is_pinned {
    ($name:literal, $kind:ty, $object:expr, $template:expr) => {
        let (object, template): ($kind, $kind) = ($object, $template);
        let bytes = packed(|out| object.pack_with(&template, out));
        assert_pinned($name, &bytes);
        let mut input = bytes.as_slice();
        assert_eq!(<$kind>::unpack_with(&template, &mut input), Some(object));
        assert!(input.is_empty());
    };
}

#[test]
fn objects_have_the_bytes_they_always_had() {
    let block = objects::block();
    object_is_pinned!("header", Header, block.header.clone(), Header::default());
    object_is_pinned!("withdrawal", Withdrawal, objects::withdrawal(), Withdrawal::default());
    object_is_pinned!("tx.0", Tx, block.txs[0].clone(), Tx::default());
    object_is_pinned!("tx.1", Tx, block.txs[1].clone(), Tx::default());
    object_is_pinned!("tx.1.like.0", Tx, block.txs[1].clone(), block.txs[0].clone());
    object_is_pinned!("tx.nothing", Tx, Tx::default(), block.txs[0].clone());
    let receipt = block.receipts[0].clone().unwrap();
    object_is_pinned!("receipt", Receipt, receipt.clone(), Receipt::default());
    object_is_pinned!("log", Log, receipt.logs.unwrap()[0].clone(), Log::default());
    let item = block.txs[1].access_list.clone().unwrap()[0].clone();
    object_is_pinned!("access_list_item", AccessListItem, item, AccessListItem::default());
    let authorization = block.txs[1].authorization_list.clone().unwrap()[0].clone();
    object_is_pinned!("authorization", Authorization, authorization, Authorization::default());
}

#[test]
fn the_rows_of_a_block_have_the_bytes_they_always_had() {
    let block = objects::block();
    let summary = BlockSummary {
        number: block.number,
        hash: block.hash,
        timestamp: block.timestamp,
        proof: Proof::from_bits(0x1b),
        tx_count: 2,
        has_traces: true,
    };
    let bytes = pack_header(&summary, &block.header);
    assert_pinned("row.header", &bytes);
    assert_eq!(unpack_header(summary.number, &bytes), Some((summary, block.header)));

    let block_ref = summary.block_ref();
    let bytes = packed(|out| pack_block_ref(&block_ref, out));
    assert_pinned("row.anchor", &bytes);
    assert_eq!(unpack_block_ref(block_ref.number, &mut bytes.as_slice()), Some(block_ref));

    let receipt = block.receipts[0].clone().unwrap();
    let mut packer = TxPacker::new(&block_ref, ChainId(1));
    for (name, receipt) in
        [("none", None), ("bloom", Some((&receipt, false))), ("no_bloom", Some((&receipt, true)))]
    {
        let bytes = packed(|out| packer.pack((0, TxHash::Kept), &block.txs[0], receipt, out));
        assert_pinned(&format!("row.tx.{name}"), &bytes);
        let row = packer.unpack(0, &bytes).unwrap();
        assert_eq!((&row.tx, row.receipt.as_ref()), (&block.txs[0], receipt.map(|(it, _)| it)));
        assert_eq!(row.marks.bloom_of_logs, receipt.is_some_and(|(_, of_logs)| of_logs));
    }

    let logs = receipt.logs.unwrap();
    let bytes = packed(|out| pack_logs(&block.txs[0], &logs, out));
    assert_pinned("row.logs", &bytes);
    assert_eq!(unpack_logs(&block.txs[0], &bytes), Some(logs));

    let frames = block.traces.unwrap().remove(0);
    let bytes = packed(|out| pack_frames(None, &frames, out));
    assert_pinned("row.frames", &bytes);
    assert_eq!(unpack_frames(&bytes), Some(frames));
}

fn address(byte: u8) -> Address {
    Address::repeat_byte(byte)
}

fn trade(market: Market, tokens: Vec<(U256, U256)>, currency: Address) -> Trade {
    Trade {
        tx_index: 3,
        log_index: 300,
        market,
        marketplace: address(0x11),
        contract: address(0x12),
        seller: address(0x13),
        buyer: address(0x14),
        mixed: tokens.len() > 1,
        in_native: currency.is_zero(),
        reconciled: true,
        price: U256::from(10).pow(U256::from(18)),
        tokens,
        currency,
    }
}

#[test]
fn facts_have_the_bytes_they_always_had() {
    let one = vec![(U256::from(77), U256::ONE)];
    let bundle = vec![(U256::MAX, U256::ONE), (U256::ZERO, U256::from(500))];
    let mut trades: Vec<Trade> =
        Market::ALL.into_iter().map(|it| trade(it, one.clone(), Address::ZERO)).collect();
    trades.push(trade(Market::BLUR, bundle, address(0x15)));
    let bytes = packed(|out| pack_trades(&trades, out));
    assert_pinned("trades", &bytes);
    assert_eq!(unpack_trades(&mut bytes.as_slice()).as_ref(), Some(&trades));

    let changed_pools = vec![PoolId::Contract(address(0x21)), PoolId::V4([0x22; 32].into())];
    let row = FactsRow { trades, changed_pools };
    assert_pinned("row.facts", &row.pack());
    assert_eq!(FactsRow::unpack(&row.pack()), Some(row));
}

#[test]
fn pools_have_the_bytes_they_always_had() {
    let id = PoolId::V4([0x31; 32].into());
    // V2, V3, V4, Camelot, Solidly, Algebra, Slipstream.
    let (v4, camelot, solidly) = (2, 3, 4);
    for code in 0..7 {
        let kind = ExchangeKind::from_code(code).unwrap();
        let pool = Pool {
            id,
            factory: address(0x32),
            kind,
            token0: address(0x33),
            token1: address(0x34),
            fee: (code % 2 == 1).then_some(3_000),
            tick_spacing: (code % 3 == 1).then_some(-60),
            hooks: if code == v4 { address(0x35) } else { Address::ZERO },
            stable: (code == solidly || code == camelot).then_some(code == solidly),
        };
        let bytes = packed(|out| pool::pack(&pool, out));
        assert_pinned(&format!("pool.{code}"), &bytes);
        assert_eq!(pool::unpack(id, &mut bytes.as_slice()), Some(pool));
    }
    let (reserve0, reserve1) = (U256::from(1_000_000), U256::MAX);
    let sqrt_price = U256::ONE << 96;
    let ranges = vec![
        RangeDelta { lower: -887_220, upper: 887_220, delta: i128::MAX },
        RangeDelta { lower: 0, upper: 60, delta: -1 },
    ];
    for (name, change) in [
        ("reserves", Change::State(PoolState::Reserves { reserve0, reserve1 })),
        ("ranged", Change::State(PoolState::Ranged { sqrt_price, liquidity: u128::MAX, tick: -1 })),
        ("liquidity", Change::Liquidity(ranges)),
    ] {
        let change = PoolChange { id, log_index: 130, change };
        let bytes = packed(|out| pool_change::pack(&change, out));
        assert_pinned(&format!("pool_change.{name}"), &bytes);
        assert_eq!(pool_change::unpack(id, &mut bytes.as_slice()), Some(change));
    }
}

#[test]
fn tokens_counts_and_coverage_have_the_bytes_they_always_had() {
    for (name, source) in
        [("contract", Source::Contract), ("list", Source::List), ("table", Source::Table)]
    {
        let token = Token {
            name: Some("Wrapped Ether".into()),
            symbol: (source != Source::List).then(|| "WΞTH".into()),
            decimals: (source != Source::Table).then_some(18),
            source,
        };
        let bytes = packed(|out| token.pack(out));
        assert_pinned(&format!("token.{name}"), &bytes);
        assert_eq!(Token::unpack(&mut bytes.as_slice()), Some(token));
    }
    let count = Count { direct: 5, internal: 70_000 };
    assert_pinned("count", &count.pack());
    assert_eq!(Count::unpack(&count.pack()), Some(count));
    let before_format_6 =
        [5, 0xf0, 0xa2, 4, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
    assert_eq!(Count::unpack(&before_format_6), Some(count));

    let mut coverage = Coverage::default();
    [0, 1, 2, 900, 901, 20_000_000].into_iter().for_each(|number| coverage.insert(number));
    assert_pinned("coverage", &pack_coverage(&coverage));
    assert_eq!(unpack_coverage(&pack_coverage(&coverage)), Some(coverage));
}
