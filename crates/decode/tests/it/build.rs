//! Blocks with sales as the tests want them: events and transfers, encoded here.

use std::sync::LazyLock;

use alloy_primitives::{Address, B256, Bytes, U256, b256, keccak256};
use model::chain::{Chain, ChainTable};
use model::facts::Trade;
use model::raw::{Block, Log, Receipt, Tx};

pub const SELLER: Address = Address::repeat_byte(0x51);
pub const BUYER: Address = Address::repeat_byte(0xb1);
pub const ROUTER: Address = Address::repeat_byte(0x40);
pub const FEES: Address = Address::repeat_byte(0xfe);
pub const APES: Address = Address::repeat_byte(0xa9);
pub const CATS: Address = Address::repeat_byte(0xca);
pub const NATIVE: Address = Address::ZERO;

pub fn eth() -> Chain {
    static ETH: LazyLock<Chain> =
        LazyLock::new(|| ChainTable::builtin().unwrap().find("eth").unwrap().clone());
    ETH.clone()
}

pub fn weth() -> Address {
    eth().wrapped.unwrap().address
}

pub fn pool() -> Address {
    eth().native_pools[0].address
}

/// Where the chain's table has that exchange.
pub fn exchange(protocol: &str, version: &str) -> Address {
    let chain = eth();
    let mut contracts = chain.marketplaces.iter().flat_map(|place| &place.contracts);
    contracts.find(|it| it.protocol == protocol && it.version == version).unwrap().address
}

/// One word of encoded data.
pub trait Word: Copy {
    fn word(self) -> B256;
}
impl Word for Address {
    fn word(self) -> B256 {
        self.into_word()
    }
}
impl Word for U256 {
    fn word(self) -> B256 {
        self.into()
    }
}
impl Word for u64 {
    fn word(self) -> B256 {
        U256::from(self).into()
    }
}
impl Word for B256 {
    fn word(self) -> B256 {
        self
    }
}

/// `words![a, b, …]`: values of any kind, one after the other.
#[macro_export]
macro_rules! words {
    ($($value:expr),* $(,)?) => {{
        use $crate::build::Word as _;
        [$($value.word()),*].concat()
    }};
}

/// A list of tuples that are encoded already.
pub fn list(items: &[Vec<u8>]) -> Vec<u8> {
    [words![items.len() as u64], items.concat()].concat()
}

/// Head words, then the dynamic values; a head of `None` is the offset of the next of these.
pub fn tuple(head: &[Option<B256>], tails: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = 32 * head.len();
    let mut next = tails.iter();
    for word in head {
        match word {
            Some(word) => out.extend_from_slice(word.as_slice()),
            None => {
                out.extend(words![at as u64]);
                at += next.next().unwrap().len();
            }
        }
    }
    out.extend(tails.concat());
    out
}

pub fn topic(signature: &str) -> B256 {
    keccak256(signature)
}

#[derive(Clone, Default)]
pub struct Made {
    pub tx: Tx,
    pub logs: Vec<Log>,
    pub status: Option<u64>,
}

impl Made {
    pub fn by(sender: Address) -> Self {
        let tx = Tx { from: Some(sender), hash: Some(B256::repeat_byte(1)), ..Tx::default() };
        Made { tx, status: Some(1), logs: Vec::new() }
    }

    pub fn calling(mut self, to: Address, value: u64, input: Vec<u8>) -> Self {
        self.tx.to = Some(to);
        self.tx.value = Some(U256::from(value));
        self.tx.input = Some(input.into());
        self
    }

    pub fn log(mut self, address: Address, topics: &[B256], data: Vec<u8>) -> Self {
        self.logs.push(Log {
            address: Some(address),
            topics: Some(topics.to_vec()),
            data: Some(Bytes::from(data)),
            ..Log::default()
        });
        self
    }

    pub fn nft(self, contract: Address, from: Address, to: Address, id: u64) -> Self {
        self.log(contract, &[transfer(), from.word(), to.word(), id.word()], vec![])
    }

    pub fn coin(self, token: Address, from: Address, to: Address, amount: u64) -> Self {
        self.log(token, &[transfer(), from.word(), to.word()], words![amount])
    }

    /// ERC1155, moved by a router.
    pub fn multi(
        self,
        contract: Address,
        from: Address,
        to: Address,
        (id, many): (u64, u64),
    ) -> Self {
        let single = topic("TransferSingle(address,address,address,uint256,uint256)");
        let topics = [single, ROUTER.word(), from.word(), to.word()];
        self.log(contract, &topics, words![id, many])
    }

    pub fn failed(mut self) -> Self {
        self.status = Some(0);
        self
    }

    /// The trades of a block with this transaction alone.
    pub fn trades(self) -> Vec<Trade> {
        trades_of(vec![self])
    }

    /// The only trade.
    pub fn trade(self) -> Trade {
        let mut trades = self.trades();
        assert_eq!(trades.len(), 1, "{trades:#?}");
        trades.remove(0)
    }
}

fn transfer() -> B256 {
    b256!("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef")
}

pub fn block(made: Vec<Made>) -> Block {
    let mut block = Block::default();
    let mut count = 0;
    for (index, mut made) in made.into_iter().enumerate() {
        for log in &mut made.logs {
            log.log_index = Some(count);
            count += 1;
        }
        block.receipts.push(Some(Receipt {
            transaction_index: Some(index as u64),
            transaction_hash: made.tx.hash,
            status: made.status,
            logs: Some(made.logs),
            ..Receipt::default()
        }));
        block.txs.push(made.tx);
    }
    block
}

pub fn trades_of(made: Vec<Made>) -> Vec<Trade> {
    decode::Decoder::new(&eth()).decode(&block(made)).trades
}

/// Tokens of a trade as small numbers.
pub fn tokens(trade: &Trade) -> Vec<(u64, u64)> {
    trade.tokens.iter().map(|(id, many)| (id.to(), many.to())).collect()
}

#[track_caller]
pub fn assert_sold(trade: &Trade, seller: Address, buyer: Address, currency: Address, price: u64) {
    let found = (trade.seller, trade.buyer, trade.currency, trade.price);
    assert_eq!(found, (seller, buyer, currency, U256::from(price)), "{trade:#?}");
}
