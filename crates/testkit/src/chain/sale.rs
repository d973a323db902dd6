//! Sales of NFTs as marketplaces log them: the exchange's event, then the transfers.
//!
//! The exchanges stand where Ethereum has them, so a chain whose table names those contracts has
//! these sales.

use alloy_primitives::{Address, B256, Bytes, Log, U256, address, b256, keccak256};

/// Where a sale is made, and in which of the exchange's events it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Venue {
    /// OpenSea: a listing that was bought; any currency, any number of tokens.
    Seaport,
    /// A packed event: native coin, one token.
    Blur,
    LooksRare,
}

impl Venue {
    /// How a request asks for its market.
    pub fn market(self) -> &'static str {
        match self {
            Self::Seaport => "opensea",
            Self::Blur => "blur",
            Self::LooksRare => "looksrare",
        }
    }

    pub fn exchange(self) -> Address {
        match self {
            Self::Seaport => address!("00000000000000ADc04C56Bf30aC9d3c0aAF14dC"),
            Self::Blur => address!("b2ecfE4E4D61f8790bbb9DE2D1259B9e2410CEA5"),
            Self::LooksRare => address!("0000000000E655fAe4d56241588680F86E3b2377"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sale {
    pub venue: Venue,
    pub contract: Address,
    pub ids: Vec<U256>,
    pub seller: Address,
    pub buyer: Address,
    /// Zero is the native coin.
    pub currency: Address,
    pub price: U256,
}

const TRANSFER: B256 = b256!("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef");
const FULFILLED: &str = "OrderFulfilled(bytes32,address,address,address,(uint8,address,uint256,uint256)[],\
                         (uint8,address,uint256,uint256,address)[])";
const PACKED: &str = "Execution721Packed(bytes32,uint256,uint256)";
const TAKER_BID: &str = "TakerBid((bytes32,uint256,bool),address,address,uint256,address,address,uint256[],\
                         uint256[],address[2],uint256[3])";

impl Sale {
    pub fn logs(&self) -> Vec<Log> {
        let mut logs = vec![self.event()];
        let sides = || vec![TRANSFER, self.seller.into_word(), self.buyer.into_word()];
        for id in &self.ids {
            let mut topics = sides();
            topics.push((*id).into());
            logs.push(Log::new_unchecked(self.contract, topics, Bytes::new()));
        }
        if !self.currency.is_zero() {
            let topics = vec![TRANSFER, self.buyer.into_word(), self.seller.into_word()];
            logs.push(Log::new_unchecked(self.currency, topics, words([self.price]).into()));
        }
        logs
    }

    fn event(&self) -> Log {
        let (topics, data) = match self.venue {
            Venue::Seaport => {
                (vec![keccak256(FULFILLED), self.seller.into_word(), B256::ZERO], self.fulfilled())
            }
            Venue::Blur => (vec![keccak256(PACKED)], self.packed()),
            Venue::LooksRare => (vec![keccak256(TAKER_BID)], self.taker_bid()),
        };
        Log::new_unchecked(self.venue.exchange(), topics, data.into())
    }

    /// Order hash, recipient, the tokens offered, and the one payment asked for.
    fn fulfilled(&self) -> Vec<u8> {
        let (kind, count) = (U256::from(!self.currency.is_zero()), self.ids.len() as u64);
        let offered = 32 * 4;
        let asked = offered + 32 * (1 + 4 * count);
        let mut out = words([
            self.order_hash(),
            word(self.buyer),
            U256::from(offered),
            U256::from(asked),
            U256::from(count),
        ]);
        for id in &self.ids {
            out.extend(words([U256::from(2), word(self.contract), *id, U256::ONE]));
        }
        let payment = [kind, word(self.currency), U256::ZERO, self.price, word(self.seller)];
        out.extend(words([U256::ONE]));
        out.extend(words(payment));
        out
    }

    /// Order hash; token, listing, seller; side, price, collection.
    fn packed(&self) -> Vec<u8> {
        let id = self.ids.first().copied().unwrap_or_default();
        words([
            self.order_hash(),
            (id << 168) | word(self.seller),
            (self.price << 160) | word(self.contract),
        ])
    }

    fn taker_bid(&self) -> Vec<u8> {
        let (zero, count) = (U256::ZERO, self.ids.len() as u64);
        let ids_at = 32 * 15;
        let amounts_at = ids_at + 32 * (1 + count);
        let mut out = words([
            self.order_hash(),
            zero,
            U256::ONE,
            word(self.buyer),
            word(self.buyer),
            zero,
            word(self.currency),
            word(self.contract),
            U256::from(ids_at),
            U256::from(amounts_at),
            word(self.seller),
            zero,
            self.price,
            zero,
            zero,
        ]);
        out.extend(words([U256::from(count)]));
        out.extend(words(self.ids.iter().copied()));
        out.extend(words([U256::from(count)]));
        out.extend(words(self.ids.iter().map(|_| U256::ONE)));
        out
    }

    /// Anything that differs from order to order will do.
    fn order_hash(&self) -> U256 {
        let mut bytes = words(self.ids.iter().copied());
        bytes.extend(words([word(self.contract), word(self.seller), self.price]));
        keccak256(bytes).into()
    }
}

fn word(address: Address) -> U256 {
    address.into_word().into()
}

fn words(values: impl IntoIterator<Item = U256>) -> Vec<u8> {
    values.into_iter().flat_map(|value| value.to_be_bytes::<32>()).collect()
}
