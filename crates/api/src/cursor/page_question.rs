//! The question that a cursor of a page of blocks carries: all that decides which rows are answered and in what
//! order. So the next page needs nothing beside the cursor, and nothing beside it can turn it to other rows.

use alloy_primitives::Address;
use model::chain::ChainId;
use model::facts::Market;

use super::bytes::take;
use crate::date::UnixMillis;
use crate::params::{BlockRange, RangeEnd};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageQuestion {
    pub chain: ChainId,
    /// A wallet or a contract.
    pub address: Address,
    /// As it was asked for, not what it means today: a cursor stays good while new blocks arrive.
    pub range: BlockRange,
    pub rows: Rows,
}

/// Which operation's, with what it alone can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rows {
    WalletTransactions { with_internal: bool, oldest_first: bool },
    NftTrades { market: Option<Market> },
}

/// Chain 8 ‖ address 20 ‖ both ends 9 each ‖ operation 1 ‖ its filters 1.
pub const QUESTION_BYTES: usize = 48;

const WALLET_TRANSACTIONS: u8 = 1;
const NFT_TRADES: u8 = 2;
const WITH_INTERNAL: u8 = 1;
const OLDEST_FIRST: u8 = 2;
/// No marketplace has this code.
const ANY_MARKET: u8 = u8::MAX;

pub fn encode(question: &PageQuestion, bytes: &mut Vec<u8>) {
    bytes.extend(question.chain.0.to_be_bytes());
    bytes.extend(question.address.0);
    for end in [question.range.from, question.range.to] {
        let (kind, number) = match end {
            RangeEnd::Open => (0, [0; 8]),
            RangeEnd::Block(number) => (1, number.to_be_bytes()),
            RangeEnd::Date(date) => (2, date.0.to_be_bytes()),
        };
        bytes.push(kind);
        bytes.extend(number);
    }
    bytes.extend(match question.rows {
        Rows::WalletTransactions { with_internal, oldest_first } => {
            let internal = if with_internal { WITH_INTERNAL } else { 0 };
            let order = if oldest_first { OLDEST_FIRST } else { 0 };
            [WALLET_TRANSACTIONS, internal | order]
        }
        Rows::NftTrades { market } => [NFT_TRADES, market.map_or(ANY_MARKET, Market::code)],
    });
}

/// Nothing for what we never write.
pub fn decode(rest: &mut &[u8]) -> Option<PageQuestion> {
    let chain = ChainId(u64::from_be_bytes(take(rest)?));
    let address = Address::from(take::<20>(rest)?);
    let range = BlockRange { from: end(rest)?, to: end(rest)? };
    let rows = match take(rest)? {
        [WALLET_TRANSACTIONS, flags] if flags <= WITH_INTERNAL | OLDEST_FIRST => {
            let has = |flag| flags & flag != 0;
            let (with_internal, oldest_first) = (has(WITH_INTERNAL), has(OLDEST_FIRST));
            Rows::WalletTransactions { with_internal, oldest_first }
        }
        [NFT_TRADES, ANY_MARKET] => Rows::NftTrades { market: None },
        [NFT_TRADES, code] => Rows::NftTrades { market: Some(Market::from_code(code)?) },
        _ => return None,
    };
    Some(PageQuestion { chain, address, range, rows })
}

fn end(rest: &mut &[u8]) -> Option<RangeEnd> {
    let [kind] = take(rest)?;
    let number: [u8; 8] = take(rest)?;
    match kind {
        0 => Some(RangeEnd::Open),
        1 => Some(RangeEnd::Block(u64::from_be_bytes(number))),
        2 => Some(RangeEnd::Date(UnixMillis(i64::from_be_bytes(number)))),
        _ => None,
    }
}
