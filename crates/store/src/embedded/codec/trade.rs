//! Sales of a block.

use alloy_primitives::{Address, U256};
use model::facts::{Market, Trade};

use super::bytes::take_byte;
use super::value::{Packed, unpack_list};
use super::varint::{put_varint, take_varint};

const RECONCILED: u8 = 1;
const MIXED: u8 = 2;
const NATIVE: u8 = 4;
/// By far the most: a single token of which one was sold.
const SINGLE: u8 = 8;
const MARKET_SHIFT: u8 = 4;
const MARKET_MASK: u8 = 7;
/// Codes from here on do not fit the flags and stand in the byte after them.
const MARKET_APART: u8 = 7;
const IN_NATIVE: u8 = 0x80;

impl Packed for Trade {
    fn pack(&self, out: &mut Vec<u8>) {
        let single = matches!(self.tokens.as_slice(), [(_, many)] if *many == U256::ONE);
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        out.push(
            flag(self.reconciled, RECONCILED)
                | flag(self.mixed, MIXED)
                | flag(self.currency.is_zero(), NATIVE)
                | flag(single, SINGLE)
                | flag(self.in_native, IN_NATIVE)
                | self.market.code().min(MARKET_APART) << MARKET_SHIFT,
        );
        if self.market.code() >= MARKET_APART {
            out.push(self.market.code());
        }
        put_varint(out, u64::from(self.tx_index));
        put_varint(out, u64::from(self.log_index));
        for address in [&self.marketplace, &self.contract, &self.seller, &self.buyer] {
            address.pack(out);
        }
        if !self.currency.is_zero() {
            self.currency.pack(out);
        }
        self.price.pack(out);
        match self.tokens.as_slice() {
            [(id, _)] if single => id.pack(out),
            tokens => {
                put_varint(out, tokens.len() as u64);
                for (id, many) in tokens {
                    id.pack(out);
                    many.pack(out);
                }
            }
        }
    }

    fn unpack(input: &mut &[u8]) -> Option<Self> {
        let flags = take_byte(input)?;
        let index = |input: &mut &[u8]| u32::try_from(take_varint(input)?).ok();
        Some(Trade {
            market: Market::from_code(take_market(flags, input)?)?,
            reconciled: flags & RECONCILED != 0,
            mixed: flags & MIXED != 0,
            in_native: flags & IN_NATIVE != 0,
            tx_index: index(input)?,
            log_index: index(input)?,
            marketplace: Address::unpack(input)?,
            contract: Address::unpack(input)?,
            seller: Address::unpack(input)?,
            buyer: Address::unpack(input)?,
            currency: match flags & NATIVE {
                0 => Address::unpack(input)?,
                _ => Address::ZERO,
            },
            price: U256::unpack(input)?,
            tokens: match flags & SINGLE {
                0 => {
                    unpack_list(input, |input| Some((U256::unpack(input)?, U256::unpack(input)?)))?
                }
                _ => vec![(U256::unpack(input)?, U256::ONE)],
            },
        })
    }
}

fn take_market(flags: u8, input: &mut &[u8]) -> Option<u8> {
    match (flags >> MARKET_SHIFT) & MARKET_MASK {
        MARKET_APART => take_byte(input).filter(|code| *code >= MARKET_APART),
        code => Some(code),
    }
}

/// All trades of a block, in the order of their logs.
pub fn pack_trades(trades: &[Trade], out: &mut Vec<u8>) {
    put_varint(out, trades.len() as u64);
    trades.iter().for_each(|trade| trade.pack(out));
}

pub fn unpack_trades(input: &mut &[u8]) -> Option<Vec<Trade>> {
    unpack_list(input, Trade::unpack)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn address() -> impl Strategy<Value = Address> {
        prop_oneof![Just(Address::ZERO), any::<[u8; 20]>().prop_map(Address::from)]
    }

    fn number() -> impl Strategy<Value = U256> {
        prop_oneof![
            Just(U256::ONE),
            any::<u64>().prop_map(U256::from),
            any::<[u8; 32]>().prop_map(U256::from_be_bytes)
        ]
    }

    fn a_trade() -> Trade {
        Trade {
            tx_index: 1,
            log_index: 2,
            market: Market::OPENSEA,
            marketplace: Address::ZERO,
            contract: Address::ZERO,
            tokens: vec![(U256::ONE, U256::ONE)],
            seller: Address::ZERO,
            buyer: Address::ZERO,
            currency: Address::ZERO,
            price: U256::ONE,
            mixed: true,
            in_native: false,
            reconciled: true,
        }
    }

    prop_compose! {
        fn trade()(
            (tx_index, log_index) in any::<(u32, u32)>(),
            market in 0..Market::ALL.len(),
            (marketplace, contract, seller) in (address(), address(), address()),
            (buyer, currency, price) in (address(), address(), number()),
            tokens in prop::collection::vec((number(), number()), 0..4),
            (mixed, in_native, reconciled) in any::<(bool, bool, bool)>(),
        ) -> Trade {
            Trade {
                tx_index, log_index, market: Market::ALL[market], marketplace, contract, tokens,
                seller, buyer, currency, price, mixed, in_native, reconciled,
            }
        }
    }

    /// There are not yet as many marketplaces as codes, so one is made up for the writer.
    #[test]
    fn a_market_code_of_any_size_is_found_again_and_small_ones_cost_no_byte() {
        for code in 0..u8::MAX {
            let market = Market::new(code, "made up");
            let trade = Trade { market, ..a_trade() };
            let mut bytes = Vec::new();
            trade.pack(&mut bytes);
            let (flags, mut rest) = bytes.split_first().unwrap();
            let length = rest.len();
            assert_eq!(take_market(*flags, &mut rest), Some(code));
            assert_eq!(length - rest.len(), usize::from(code >= 7), "{code}");
            let read = Trade::unpack(&mut bytes.as_slice());
            assert_eq!(read, Market::from_code(code).map(|_| trade));
        }
    }

    proptest! {
        #[test]
        fn what_is_packed_comes_back_whole(trades in prop::collection::vec(trade(), 0..4)) {
            let mut bytes = Vec::new();
            pack_trades(&trades, &mut bytes);
            let mut input = bytes.as_slice();
            prop_assert_eq!(unpack_trades(&mut input), Some(trades));
            prop_assert!(input.is_empty());
        }

        #[test]
        fn bytes_of_any_kind_never_stop_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = unpack_trades(&mut bytes.as_slice());
            let _ = Trade::unpack(&mut bytes.as_slice());
        }

        #[test]
        fn a_cut_off_trade_is_none(trade in trade(), keep in 0.0..1.0f64) {
            let mut bytes = Vec::new();
            trade.pack(&mut bytes);
            bytes.truncate((bytes.len() as f64 * keep) as usize);
            prop_assert_eq!(Trade::unpack(&mut bytes.as_slice()), None);
        }
    }
}
