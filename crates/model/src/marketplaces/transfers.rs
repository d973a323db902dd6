//! All transfers of one transaction: NFTs in whatever form they are told, and coins.
//!
//! In: the transaction's logs. Out: who gave what to whom, in the order it happened, and which of
//! it belongs to a sale. Contracts are believed about their own tokens only.

use alloy_primitives::{Address, B256, U256, b256};

use crate::abi::{TRANSFER, Words, address};
use crate::raw::Log;

const SINGLE: B256 = b256!("c3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62");
const BATCH: B256 = b256!("4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenForm {
    /// ERC721: the token's number is indexed.
    Erc721,
    /// ERC1155, with a quantity.
    Erc1155,
    /// Nothing indexed, as before the standard: an NFT or a coin, only the sale can tell.
    Unindexed,
    /// As an ERC20 tells it; some NFTs do, too.
    Erc20,
}

/// One token, or a quantity of it, from one owner to another.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// Place of the log within the transaction.
    pub at: usize,
    pub form: TokenForm,
    pub contract: Address,
    /// Who moved it; known for ERC1155 only.
    pub operator: Address,
    pub from: Address,
    pub to: Address,
    pub id: U256,
    /// What no sale has claimed yet.
    pub left: U256,
    /// A sale has claimed it: whoever gave it up sold it, and did not just pass it on.
    pub sold: bool,
}

#[derive(Clone, Debug)]
pub struct CoinTransfer {
    pub at: usize,
    pub token: Address,
    pub from: Address,
    pub to: Address,
    pub amount: U256,
}

#[derive(Debug, Default)]
pub struct Transfers {
    /// In the order of their logs.
    pub list: Vec<Transfer>,
    pub coins: Vec<CoinTransfer>,
    /// Places in `list`, sorted by contract, token and time.
    by_token: Vec<usize>,
}

impl Transfers {
    pub fn read(logs: &[Log]) -> Self {
        let mut transfers = Transfers::default();
        for (at, log) in logs.iter().enumerate() {
            // What cannot be read is some contract's own event of that name.
            let _ = transfers.add(at, log);
        }
        let mut by_token: Vec<usize> = (0..transfers.list.len()).collect();
        by_token.sort_by_key(|place| transfers.list.get(*place).map(|m| (m.contract, m.id, m.at)));
        transfers.by_token = by_token;
        transfers
    }

    fn add(&mut self, at: usize, log: &Log) -> Option<()> {
        let (topics, data) = (log.topics.as_deref()?, Words(log.data.as_deref()?));
        let contract = log.address?;
        let kind = *topics.first()?;
        let mut push = |form, operator, from, to, id, left| {
            self.list.push(Transfer {
                at,
                form,
                contract,
                operator,
                from,
                to,
                id,
                left,
                sold: false,
            });
        };
        match topics {
            [_, from, to, id] if kind == TRANSFER => {
                let id = U256::from_be_bytes(id.0);
                push(
                    TokenForm::Erc721,
                    Address::ZERO,
                    address(*from)?,
                    address(*to)?,
                    id,
                    U256::ONE,
                );
            }
            [_, from, to] if kind == TRANSFER => {
                let (from, to, amount) = (address(*from)?, address(*to)?, data.uint(0)?);
                push(TokenForm::Erc20, Address::ZERO, from, to, amount, U256::ONE);
                self.coins.push(CoinTransfer { at, token: contract, from, to, amount });
            }
            [_] if kind == TRANSFER => {
                let (from, to, id) = (data.address(0)?, data.address(1)?, data.uint(2)?);
                push(TokenForm::Unindexed, Address::ZERO, from, to, id, U256::ONE);
                self.coins.push(CoinTransfer { at, token: contract, from, to, amount: id });
            }
            [_, operator, from, to] if kind == SINGLE => {
                let (operator, from, to) = (address(*operator)?, address(*from)?, address(*to)?);
                push(TokenForm::Erc1155, operator, from, to, data.uint(0)?, data.uint(1)?);
            }
            [_, operator, from, to] if kind == BATCH => {
                let (operator, from, to) = (address(*operator)?, address(*from)?, address(*to)?);
                for (id, many) in data.uints(0)?.into_iter().zip(data.uints(1)?) {
                    push(TokenForm::Erc1155, operator, from, to, id, many);
                }
            }
            _ => {}
        }
        Some(())
    }

    /// Places in `list` of the transfers of one token, oldest first.
    pub fn of(&self, contract: Address, id: U256) -> &[usize] {
        let key = |place: &usize| self.list.get(*place).map(|m| (m.contract, m.id));
        let start = self.by_token.partition_point(|place| key(place) < Some((contract, id)));
        let rest = self.by_token.get(start..).unwrap_or_default();
        let length = rest.partition_point(|place| key(place) == Some((contract, id)));
        rest.get(..length).unwrap_or_default()
    }

    /// The transfer with which `seller` gave up `many` of a token, now claimed by a sale.
    ///
    /// A token that is made for the sale comes from nobody instead. And what the event names may be
    /// an adapter that moves the tokens of another contract: then it is the transfer's operator.
    pub fn claim(&mut self, wanted: &SoldToken) -> Option<usize> {
        let fits = |m: &Transfer| m.form != TokenForm::Erc1155 || m.left >= wanted.many;
        let free = |m: &Transfer| !m.left.is_zero() && fits(m);
        let own = self.of(wanted.contract, wanted.id);
        let find = |test: &dyn Fn(&Transfer) -> bool| {
            own.iter()
                .copied()
                .find(|place| self.list.get(*place).is_some_and(|m| free(m) && test(m)))
        };
        let place = find(&|m| m.from == wanted.seller && m.left == wanted.many)
            .or_else(|| find(&|m| m.from == wanted.seller))
            .or_else(|| find(&|m| m.from.is_zero() && m.to == wanted.buyer))
            .or_else(|| find(&|m| m.from.is_zero()))
            .or_else(|| {
                let adapted = |m: &Transfer| m.operator == wanted.contract && m.id == wanted.id;
                self.list.iter().position(|m| {
                    m.form == TokenForm::Erc1155 && adapted(m) && m.from == wanted.seller && free(m)
                })
            })?;
        let claimed = self.list.get_mut(place)?;
        claimed.sold = true;
        claimed.left = match claimed.form {
            TokenForm::Erc1155 => claimed.left.saturating_sub(wanted.many),
            _ => U256::ZERO,
        };
        Some(place)
    }

    /// Who has the token in the end: routers and aggregators pass on what they bought. It stops
    /// where the holder sells it again, burns it, or is the one who sent the transaction.
    pub fn holder(&self, place: usize, sender: Address) -> Option<Address> {
        let bought = self.list.get(place)?;
        let mut holder = bought.to;
        for next in self.of(bought.contract, bought.id) {
            let next = self.list.get(*next)?;
            if next.at <= bought.at || next.from != holder {
                continue;
            }
            if next.sold || next.to.is_zero() || holder == sender {
                break;
            }
            holder = next.to;
        }
        Some(holder)
    }

    /// Whether the buyer's side gave or the seller got something in that currency.
    pub fn paid(&self, currency: Address, payer: Address, seller: Address) -> bool {
        let mut coins = self.coins.iter().filter(|coin| coin.token == currency);
        coins.any(|coin| coin.from == payer || coin.to == seller)
    }
}

/// What a sale says has moved.
pub struct SoldToken {
    pub contract: Address,
    pub id: U256,
    pub many: U256,
    pub seller: Address,
    pub buyer: Address,
}
