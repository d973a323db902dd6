//! One fulfilled order as its event tells it.

use alloy_primitives::{Address, B256, U256, b256};

use crate::abi::Words;
use crate::marketplaces::tx_context::SaleEvent;

pub const FULFILLED: B256 =
    b256!("9d9af8e38d66c62e2c12f0225249fd9d721c54b83f48d9352c97c6cacdcb6f31");
pub const MATCHED: B256 = b256!("4b9f2d36e1b4c93de62cc077b00b1a91d84b6c31b4a14e012718dcca230689e7");

pub struct Order<'a> {
    pub event: &'a SaleEvent<'a>,
    pub hash: B256,
    pub offerer: Address,
    /// Who filled it; of matched orders: nobody, or who matched them.
    pub recipient: Address,
    /// What the offerer gave.
    pub offer: Vec<Item>,
    /// What the order asked for, and for whom.
    pub consideration: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    kind: u8,
    /// Zero for the native coin.
    pub token: Address,
    pub id: U256,
    pub amount: U256,
    /// Whom it is for; none for what is offered.
    pub recipient: Option<Address>,
}

impl Item {
    /// Native coin and ERC20 come first; ERC721, ERC1155 and both with criteria after them.
    pub fn is_nft(&self) -> bool {
        self.kind > 1
    }

    pub fn is_same_token(&self, other: &Item) -> bool {
        (self.token, self.id) == (other.token, other.id)
    }

    fn read(words: Words, received: bool) -> Option<Item> {
        let kind = words.uint(0)?.try_into().ok().filter(|kind| *kind <= 5)?;
        Some(Item {
            kind,
            token: if kind == 0 { Address::ZERO } else { words.address(1)? },
            id: words.uint(2)?,
            amount: words.uint(3)?,
            recipient: if received { Some(words.address(4)?) } else { None },
        })
    }
}

impl<'a> Order<'a> {
    pub fn read(event: &'a SaleEvent<'a>) -> Option<Self> {
        let data = event.data();
        Some(Order {
            event,
            hash: data.hash(0)?,
            offerer: event.indexed(1)?,
            recipient: data.address(1)?,
            offer: data.list(2, 4)?.map(|item| Item::read(item, false)).collect::<Option<_>>()?,
            consideration: data
                .list(3, 5)?
                .map(|item| Item::read(item, true))
                .collect::<Option<_>>()?,
        })
    }

    pub fn nfts_given(&self) -> Vec<&Item> {
        self.offer.iter().filter(|item| item.is_nft()).collect()
    }

    /// Without those that the order itself offers: a private listing asks for its own token, for
    /// the buyer.
    pub fn nfts_asked(&self) -> Vec<&Item> {
        let own = |item: &Item| self.offer.iter().any(|given| given.is_same_token(item));
        self.consideration.iter().filter(|item| item.is_nft() && !own(item)).collect()
    }

    /// For whom a private listing is.
    pub fn meant_for(&self) -> Option<Address> {
        let nft = self.offer.iter().find(|item| item.is_nft())?;
        self.consideration.iter().find(|item| item.is_same_token(nft))?.recipient
    }
}
